# pictures by the ending of the name, pruned nodes and their reason, invalid options
strobe callgraph data/blog.folded --seconds 60 -o a.svg
strobe callgraph data/blog.folded --seconds 60 -q -o a.svgz
strobe callgraph data/blog.folded --seconds 60 -q -o a.png
strobe callgraph data/blog.folded --seconds 60 -q -o a.pdf
strobe callgraph data/blog.folded --seconds 60 >b.svg
cmp a.svg b.svg && gzip -dc a.svgz | cmp - a.svg
head -c 4 a.png | tail -c 3; echo
head -c 4 a.pdf; echo
grep -c '<title>' a.svg
grep -o '<svg width="100%" height="100%"' a.svg
try() {
	strobe callgraph "$@" >out
	echo "exit $?, $(wc -c <out) bytes"
}
try data/blog.folded -o a.gif
try data/blog.folded --nodes 0
try data/blog.folded --threshold 101
try data/blog.folded --seconds 0
try data/blog.folded --seconds 50ms
strobe callgraph data/blog.folded --seconds 90500ms -q >/dev/null && echo drawn
try data/blog.folded --by nothing
try data/blog.folded --function nothing
try data/blog.folded --function render
try data/blog.folded --focus '('
try data/blog.folded --column wall_ns
try data/blog.folded --focus nothing
printf 'a;b 0\n' | try -

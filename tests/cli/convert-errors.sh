# wrong options and inputs of convert
try() {
	strobe convert "$@" >out
	echo "exit $?, $(wc -c <out) bytes"
}
try data/blog.folded
try data/blog.folded -o x.json
try data/blog.folded -f foldet
try data/blog.folded -f zip
try data/blog.folded -f perf
try data/blog.folded -f folded --from foldet
try missing -f folded
try data/blog.folded -f folded --column bytes
try data/blog.folded -f folded -o missing/x
: >empty
try empty -f strobe
printf 'a;b 0\n' >zero
try zero -f folded

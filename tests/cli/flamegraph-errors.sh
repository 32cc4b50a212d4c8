# wrong options and inputs have one sentence each
try() {
	strobe flamegraph "$@" >out
	echo "exit $?, $(wc -c <out) bytes"
}
try --collors hot data/blog.folded
try --colors hto data/blog.folded
try --colors nonsense data/blog.folded
try --minwidth wide data/blog.folded
try --minwidth=-1 data/blog.folded
try --width ten data/blog.folded
try --width 5 data/blog.folded
try --width nan data/blog.folded
try --height 0 data/blog.folded
try --fontsize 1e9 data/blog.folded
try --fontwidth 0 data/blog.folded
try missing.folded
try data
try --title
printf '\211PNG\r\n\032\n' >a.png
try a.png

# wrong options and inputs of collapse
try() {
	strobe collapse "$@" >out
	echo "exit $?, $(wc -c <out) bytes"
}
try missing
try --outptu x data/blog.folded
try data/blog.folded --column bytes
try data/blog.folded -o missing/x
: >empty
try empty
printf 'a;b 0\n' >zero
try zero

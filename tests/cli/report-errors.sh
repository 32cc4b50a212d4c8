# wrong options and inputs of report
try() {
	strobe report "$@" >out
	echo "exit $?, $(wc -c <out) bytes"
}
try missing
try sqlite:/var/lib/strobe
try clickhouse://db1:8123/strobe
try --by time data/blog.folded
try -n -1 data/blog.folded
try -n many data/blog.folded
try --jsno data/blog.folded
try data/blog.folded --column wall_ns
: >empty
try empty

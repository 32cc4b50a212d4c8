# files without a common column: one sentence names those that add nothing
try() {
	echo "\$ $*" >&2
	"$@" >out
	echo "exit $?, $(wc -l <out) lines" >&2
}
for i in 1 2 3 4 5; do cp data/cart.xhprof cart$i.xhprof; done
try strobe report data/shop.strobe data/cart.xhprof
try strobe report data/cart.xhprof data/shop.strobe --column samples
try strobe flamegraph data/cart.xhprof data/blog.folded --column wall_ns
try strobe flamegraph data/blog.folded cart1.xhprof cart2.xhprof
try strobe collapse data/blog.folded cart[12345].xhprof --column samples
try strobe callgraph data/blog.folded data/cart.xhprof -o a.dot
try strobe flamegraph data/cart.xhprof data/shop.xt --column cpu_ns
echo '# time is made of samples, so who has those has it; what holds all columns leaves nothing out' >&2
try strobe report data/shop.strobe data/shop.strobe
try strobe report data/blog.folded data/blog.folded
try strobe convert data/blog.folded data/cart.xhprof -f strobe
try strobe convert data/blog.folded data/cart.xhprof -f folded
try strobe flamegraph data/blog.folded data/cart.xhprof --column samples --also reverse:reversed.svg

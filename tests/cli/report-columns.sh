# a trace with all its columns, sorted by any of them
strobe report data/cart.json -n 3
strobe report data/cart.json --all-columns -n 3
strobe report data/cart.json --sort memory_bytes -n 3
strobe report data/cart.json --sort cpu_ns:total -n 3
strobe report data/cart.json --column cpu_ns --sort total -n 3
strobe report data/shop.strobe --all-columns -n 2
for sort in nothing cpu_ns:most; do
	strobe report data/cart.json --sort $sort
	echo "exit $?"
done

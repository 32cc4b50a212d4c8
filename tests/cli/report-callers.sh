# callers and callees of one function: sums, recursion, calls of a trace, and ambiguous names
strobe report data/blog.folded --callers Markdown::block --callees Markdown::block
strobe report data/cart.json --callers PDO::query --callees main
strobe report data/cart.json --callees 'main()' --column cpu_ns -n 1
strobe report data/cart.json --callers PDO::query -a
strobe report data/cart.json --callers PDO::query --column calls
strobe report data/cart.json --callers PDO::query --callees PDO::query --json | python3 -m json.tool
strobe report data/cart.json --callers main --callees 'main()' --csv | cat -A
try() {
	strobe report data/blog.folded "$@"
	echo "exit $?"
}
try --callers render
try --callers 'Markdown::blok'
try --callees nothing-like-it
try --callers '^curl_|^PDO' -n 1
try --callers ''

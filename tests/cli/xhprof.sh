# pairs of caller and callee, serialized or as JSON, are read like any profile; a trace shows time unless another column is requested
strobe report data/cart.xhprof
strobe report data/cart.json | cmp - - && strobe report data/cart.json > json.txt && strobe report data/cart.xhprof | diff - json.txt && echo same
strobe report --metric calls --by total data/cart.xhprof
strobe report --column memory_bytes data/cart.xhprof
strobe collapse data/cart.xhprof
strobe collapse --metric memory_bytes data/cart.xhprof
strobe collapse --metric cycles data/cart.xhprof; echo "exit $?"
strobe flamegraph --metric memory_bytes data/cart.xhprof | grep -o 'id="details"[^<]*'
strobe flamegraph data/cart.xhprof | grep -o '<title>[^<]*' | head -3

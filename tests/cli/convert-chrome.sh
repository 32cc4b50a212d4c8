# chrome: a time line that was made of one column, and traces of others
strobe convert data/blog.folded -o blog.trace.json && head -5 blog.trace.json && tail -3 blog.trace.json
LC_ALL=C sort data/blog.folded >want; strobe collapse blog.trace.json | LC_ALL=C sort | cmp - want && echo same
strobe convert data/cart.xhprof --column calls -f chrome | head -3
printf '[{"ph":"B","name":"a","ts":10,"pid":1,"tid":1},\n{"ph":"X","name":"b","ts":12.5,"dur":3.25,"pid":1,"tid":1},\n{"ph":"E","ts":20,"pid":1,"tid":1},\n{"ph":"E","ts":21,"pid":1,"tid":1},' | strobe collapse
echo '{"traceEvents":[{"ph":"i","ts":1}]}' | strobe collapse; echo "exit $?"

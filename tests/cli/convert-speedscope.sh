# speedscope: one profile per column; values survive the round trip, except negative ones
strobe convert data/cart.xhprof -o cart.speedscope.json && sed "s/strobe@[0-9.]*/strobe@VERSION/" cart.speedscope.json
for column in calls wall_ns cpu_ns memory_bytes; do
	strobe collapse --column $column data/cart.xhprof >want 2>/dev/null
	strobe collapse --column $column cart.speedscope.json | cmp - want && echo "same $column"
done
strobe convert -f speedscope --column calls data/cart.xhprof | tail -n +3 | head -4
printf '{"exporter":"x","profiles":[{"type":"evented","name":"t","unit":"milliseconds","startValue":0,"endValue":9,"events":[{"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":2.5},{"type":"C","frame":1,"at":4},{"type":"C","frame":0,"at":9}]}],"shared":{"frames":[{"name":"a"},{"name":"b"}]}}' | strobe collapse
printf '{"$schema":"https://www.speedscope.app/file-format-schema.json"}' | strobe collapse; echo "exit $?"

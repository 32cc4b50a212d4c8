# functions with invisible names are displayed as [unknown], and converted unchanged
printf ';a;b 3\na;;b 1\na; 2\nc;[unknown] 1\nd; ;e 2\nd;\302\240 1\n' >blank
strobe report blank
strobe report blank --callers '[unknown]' --callees '[unknown]'
strobe grep --lowercase --no-skip blank -n 4
strobe diff blank blank --all --rows 2
strobe flamegraph blank | grep -o '<title>[^<]*unknown[^<]*'
strobe flamegraph blank -o page.html && grep -o '"name":\[[^]]*\]' page.html | grep -c '""\|" "'
strobe callgraph blank --threshold 0 -o graph.dot && grep -o 'label="[^"]*unknown[^"]*"' graph.dot
strobe collapse blank
strobe convert blank -f folded
strobe diff --folded blank blank
mkdir -p logs/daily && cp blank logs/daily/2026-11-20.all.log && strobe export svgs --logs logs -q
gzip -dc svgs/daily/2026-11-20.all.svgz | grep -o '<title>[^<]*unknown[^<]*'

# pairs of caller and callee are exact: they make tables, foo@1 is foo, and undetermined values are marked
strobe report -a data/recursion.xhprof
strobe report --callers usleep --callees a data/recursion.xhprof
strobe report --by class data/recursion.xhprof
strobe report --focus '^b$' data/recursion.xhprof
strobe report -n 0 --csv data/recursion.xhprof >want
for f in xhprof xhprof-json callgrind strobe; do strobe convert -f $f data/recursion.xhprof -o back.$f && strobe report -n 0 --csv back.$f | diff want - && echo "$f gives it back"; done
strobe convert data/recursion.xhprof -f xhprof | cmp - data/recursion.xhprof && echo 'byte for byte'
strobe report --weights 1,3 data/recursion.xhprof back.strobe -n 0 --csv | diff want - && echo 'the average of two of it is it'
strobe report data/recursion.xhprof data/recursion.xhprof
strobe diff --all --by total data/recursion.xhprof back.callgrind
echo 'circles:'
# main;a;b;a and main;b;a;b: a is in 90 of 115, b in 85
printf 'events: Ir\nfn=main\n1 10\ncfn=a\ncalls=1 1\n1 60\ncfn=b\ncalls=1 1\n1 45\nfn=a\n1 35\ncfn=b\ncalls=2 1\n1 65\nfn=b\n1 70\ncfn=a\ncalls=2 1\n1 40\n' >circle
strobe report --column Ir circle
strobe report --callers b --callees b circle
strobe report --json -n 2 --column Ir circle
strobe report --csv --column Ir circle | tr -d '\r'
sed 's/^1 35$/1 135/; s/^1 60$/1 160/' circle >circle2 && strobe diff --by total circle circle2; strobe diff --fail-over 10 --json circle circle2 | grep -o '"at_most":true' | wc -l
for f in callgrind strobe; do strobe convert -f $f --column Ir circle -o circle.$f 2>&1 && strobe report circle.$f; done
echo 'pictures:'
strobe flamegraph data/recursion.xhprof | grep -o 'id="subtitle"[^/]*'
strobe flamegraph --subtitle shop data/recursion.xhprof -o picture.html 2>&1; grep -o '<p>[^<]*</p></header>' picture.html
strobe flamegraph data/recursion.xhprof | grep -o '<title>\(all\|main\|a\|b\|usleep\)[( ][^<]*estimated\|<title>all[^<]*' | sort | uniq
strobe flamegraph --column calls data/recursion.xhprof | grep -o -m 1 '<title>usleep [^<]*'
strobe flamegraph --column Ir circle | grep -o '<title>[^<]*'
strobe diff --normalize none circle circle2 -f svg | grep -o '<title>\(all\|a\) ([^<]*' | sort -u | head -n 2
for f in data/recursion.xhprof circle; do strobe callgraph -q $f -o graph.dot && grep -o 'label="[^"]*"\|^.n[0-9] -> n[0-9]' graph.dot; done
strobe callgraph -q --function b circle -o graph.dot && grep -c 'estimated stacks' graph.dot
strobe flamegraph back.strobe | grep -c "estimated stacks"
strobe flamegraph data/blog.folded | grep -c estimated

# fractional counts survive every command: tables, data, differences, pictures, and conversions there and back
printf 'a;b 0.4\na;c 0.4\na;d 0.2\n' >a.folded
printf 'a;b 0.5\na;c 1\n' >b.folded
printf 'a;b 5\na;c 1\n' >whole.folded
strobe report a.folded
strobe report --json a.folded
strobe report --csv a.folded | cat -A
strobe report --callees a a.folded
strobe report a.folded whole.folded
strobe report whole.folded a.folded
strobe collapse a.folded whole.folded
for f in folded strobe pprof speedscope callgrind chrome; do
	strobe convert -q -f $f a.folded -o "out.$f"
	echo "$f:"
	strobe report "out.$f"
done
strobe convert -q -f xhprof-json a.folded -o -
strobe diff --folded a.folded b.folded
strobe diff --folded whole.folded b.folded
strobe diff -a a.folded whole.folded
strobe diff --json -a --normalize none a.folded b.folded
strobe diff --csv -a --normalize none a.folded b.folded | cat -A
strobe diff --folded a.folded b.folded >two.folded
strobe diff --folded two.folded
strobe flamegraph -q --factor 10 a.folded -o a.svg
grep -o '<title>[^<]*' a.svg
strobe callgraph -q a.folded -o a.dot
grep -o 'label="[^"]*' a.dot

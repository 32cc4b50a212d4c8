# a range of time: from the first event, from its full second, or as it stands in the text
sum() {
	strobe collapse --column samples "$@" data/words.perf | awk '{ n += $NF } END { print n + 0 }'
}
sum --time 0,0.05
sum --time 0.05,
sum --time ,0.0500001
sum --time 0.783208,0.8 --timezerosecs
sum --time 3523.78,3523.80 --timeraw
sum --time 50,60 || echo "exit $?"
strobe collapse --time 0,1 data/blog.folded || echo "exit $?"
for wrong in 5 a,b 1,2,3 2,1 "1, 2" nan,1; do
	strobe collapse --time "$wrong" data/words.perf || echo "exit $?"
done
strobe collapse --timeraw data/words.perf || echo "exit $?"
printf 'php 12 cycles: \n\t7f01 main (/usr/bin/php)\n\n' | strobe collapse --from perf --time 0,1 || echo "exit $?"

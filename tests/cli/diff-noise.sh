# two recordings of one program show no change; a slower function is found, and --fail-over exits with 3
sampled() {
	awk -v seed="$1" -v slower="$2" 'BEGIN {
		x = seed
		for (i = 1; i <= 40; i++)
			all += weight[i] = (i == 7 ? slower : 1) / i
		for (k = 0; k < 20000; k++) {
			x = (x * 16807) % 2147483647
			at = all * x / 2147483647
			for (i = 1; i < 40 && at > weight[i]; i++)
				at -= weight[i]
			count[i]++
		}
		for (i = 1; i <= 40; i++)
			print "main;f" i " " count[i]
	}'
}
sampled 11 1 >first.folded
sampled 29 1 >second.folded
sampled 31 2 >slower.folded
strobe diff first.folded second.folded --fail-over 0; echo "exit $?"
strobe diff first.folded second.folded --all --rows 2 --sigma 1
strobe diff first.folded slower.folded; echo "exit $?"
for limit in 0 2 5; do
	strobe diff first.folded slower.folded --fail-over $limit >/dev/null; echo "exit $?"
done
# Shrinking is no failure; growth of everything is one where totals are compared.
strobe diff slower.folded first.folded --rows 1 --fail-over 1; echo "exit $?"
sed 's/\([0-9]*\)$/\10/' first.folded >ten.folded
strobe diff first.folded ten.folded --fail-over 1; echo "exit $?"
strobe diff first.folded ten.folded --fail-over 1 --normalize none --rows 1; echo "exit $?"

# text of perf script: every option of it
strobe collapse data/words.perf >plain
cat plain
for option in --pid --tid --kernel --jit --all --addrs; do
	echo "== $option"
	strobe collapse $option data/words.perf | diff plain - | sed -n 's/^> //p' | tail -2
done
echo == samples instead of periods
strobe collapse --column samples data/words.perf | awk '{ n += $NF } END { print n }'
echo == source lines
strobe collapse --srcline data/words-lines.perf | head -5
echo == compiled while it ran
printf 'node 7 1.5: cycles:\n\t7f01 L:add /srv/a.js:3 (/tmp/perf-7.map)\n\n' | strobe collapse --jit

# parts of counts in logs: the leaderboard, its data, and pictures
mkdir -p logs/daily
printf 'index.php;Cart::add 0.4\nindex.php;Tax::of 0.4\nindex.php;Page::get 0.2\n' >logs/daily/2026-11-18.all.log
printf 'index.php;Cart::add 2\nindex.php;main 0.5\n' >logs/daily/2026-11-19.all.log
printf 'only.php;lower 0.25\n' >logs/daily/2026-11-20.all.log
for log in logs/daily/*; do touch -d "$(basename $log | cut -c -10)" $log; done
strobe grep --logs logs --slice 0:1
strobe grep --logs logs --slice : --json; echo
strobe grep --logs logs --slice=-1:
strobe grep logs/daily/*.log data/cart.xhprof --json; echo
strobe export svgs --logs logs -j1
for day in 18 19; do
	gzip -dc svgs/daily/2026-11-$day.all.svgz | grep -o '<title>[^<]*'
done

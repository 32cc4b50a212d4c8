# the pictures of a tree of logs: names, titles, redrawn, kept and removed pictures
tree() { (cd "$1" && find . -type f | LC_ALL=C sort); }
mkdir -p logs/daily logs/hourly
cp data/blog.folded logs/daily/2026-11-20.all.log
gzip -nc data/blog.folded >logs/daily/2026-11-19.excimer.index.log.gz
printf 'Cart::add;Tax::of 2\nindex.php;Cart::add;strlen 1\nindex.php;Page::get 4\n' >logs/hourly/2026-11-20_07.all.log
: >logs/hourly/2026-11-20_07.api.log
echo 'not a log' >logs/hourly/README
touch -d 2026-11-20T08:00 logs/*/*
s='--logs logs -j1 --fn Cart=Cart::add --fn None=None::such'
strobe export svgs $s; tree svgs
for f in svgs/hourly/*; do
	gzip -dc $f >a.svg
	svg-outline a.svg | grep title
	svg-frames a.svg | cut -f 5- | tail -n 2
done
# the same frames as one call of flamegraph
gzip -dc svgs/daily/2026-11-20.all.svgz >a.svg
strobe flamegraph logs/daily/2026-11-20.all.log --fonttype ui-monospace,monospace --fontsize 11 --minwidth 1 \
	--title 'MediaWiki - daily - 2026-11-20.all' | cmp - a.svg && echo equal
gzip -dc svgs/daily/2026-11-19.excimer.index.reversed.svgz >a.svg
strobe flamegraph logs/daily/2026-11-19.excimer.index.log.gz --fonttype ui-monospace,monospace --fontsize 11 --minwidth 1 \
	--title 'MediaWiki - daily - 2026-11-19.excimer.index - reversed' --reverse --colors blue | cmp - a.svg && echo equal
echo '--- nothing has changed, also where a function is in no stack' >&2
strobe export svgs $s
echo '--- one log has changed' >&2
echo 'index.php;Page::get 4' >>logs/hourly/2026-11-20_07.all.log
touch -d '+1 hour' logs/hourly/2026-11-20_07.all.log
strobe export svgs $s
touch -d 2026-11-20T08:00 logs/hourly/2026-11-20_07.all.log
echo '--- one picture is what a crash left, and one was being written' >&2
: | gzip -n >svgs/daily/2026-11-20.all.reversed.svgz
echo half >svgs/daily/2026-11-20.all.svgz.tmp
strobe export svgs $s; tree svgs | grep -c tmp
echo '--- one was cut off' >&2
head -c 5000 svgs/daily/2026-11-20.all.svgz >a && cp a svgs/daily/2026-11-20.all.svgz
strobe export svgs $s
echo '--- other functions' >&2
strobe export svgs --logs logs -j1 --fn Page=Page::get
echo '--- a log has gone, and one is compressed' >&2
rm logs/hourly/2026-11-20_07.all.log
strobe export compress --logs logs --older-than 0.1
strobe export svgs $s; tree svgs
echo '--- no log at all' >&2
rm logs/*/*
strobe export svgs $s; tree svgs | wc -l

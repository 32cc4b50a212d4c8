# hostile source paths in a profile: only regular files are read, and their bytes reach a terminal escaped
mkdir -p srv
printf 'a\033]0;title\007b\r\n\tx\tyy\tz\n\342\200\256right to left\n\377latin\n\n' >srv/odd.php
touch -d 2026-06-01 srv/odd.php
mkfifo srv/pipe.php
mkdir srv/directory.php
ln -s /etc/hostname srv/link.php
profile() {
	printf '{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"f","file":"%s","line":%s},{"name":"f","file":"%s","line":2},{"name":"strlen"}]},' "$1" "$2" "$1"
	printf '"profiles":[{"type":"sampled","name":"samples","unit":"none","startValue":0,"endValue":3,"samples":[[0],[1,2],[2]],"weights":[1,2,1]}],'
	printf '"exporter":"strobe@0","strobe":{"start_ns":1780000000000000000,"end_ns":1780000010000000000},"strobe_starts":[1,1,0]}'
}
profile /srv/odd.php 9 >odd.json
strobe annotate --root . odd.json --all
strobe annotate --root . odd.json --json
for file in pipe directory link none; do
	profile /srv/$file.php 7 >bad.json
	strobe annotate --root . bad.json
done
profile "php shell code" 1 >bad.json
strobe annotate bad.json
profile '/srv/\u001b[31m.php' 1 >bad.json
strobe annotate bad.json
try() { strobe annotate "$@"; echo "= $?" >&2; }
try --root ./nowhere odd.json
try odd.json nothing
try odd.json strlen
try data/shop.strobe
try odd.json a.php b.php
try odd.json -C -1

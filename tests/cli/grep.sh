# the leaderboard in the format of arclamp-grep: for logs by entry point, channel and time; for files; as JSON
mkdir -p logs/daily logs/hourly
printf 'index.php;Cart::add;strlen 3\nindex.php;main 2\nindex.php;Cart::add;Database::query 1\n' >logs/daily/2026-11-18.all.log
printf 'index.php;Page::get 4\n/srv/x/php-1.45.0-wmf.3/Foo.php 2\n' | gzip -n >logs/daily/2026-11-19.all.log.gz
printf 'Zoo::zig 8\n' >logs/daily/2026-11-20.all.log
zstd -qc logs/daily/2026-11-18.all.log >logs/hourly/2026-11-18_07.excimer-wall.index.log.zst
touch -d 2026-11-18T08:00 logs/daily/*18* logs/hourly/*18*
touch -d 2026-11-19T08:00 logs/daily/*19*
touch -d 2026-11-20T08:00 logs/daily/*20*
strobe grep --logs logs
strobe grep --logs logs --slice :2 --count 1
strobe grep --logs logs --slice 0:-1 --grep 'Cart::add'
strobe grep --logs logs --slice : --no-skip --lowercase --json; echo
strobe grep --logs logs --slice : --skip 'Zoo*' --skip 'Page::*'
strobe grep --logs logs --resolution hourly --channel excimer-wall --entrypoint index.php
strobe grep logs/daily/2026-11-19.all.log.gz data/blog.folded -n 3
strobe grep data/cart.xhprof -n 2
printf 'Zoo::a 9223372036854775807\nZoo::a;Zoo::b 1\nZoo::a 7\nZoo::c 9223372036854775807\n' >large
strobe grep large

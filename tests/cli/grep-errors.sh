# an empty result reports what was searched; invalid options get an error
try() { strobe grep "$@"; echo "exit $?"; }
mkdir -p logs/daily
printf 'index.php;Cart::add;strlen 3\nindex.php;main 2\n' >logs/daily/2026-11-18.all.log
printf 'index.php;Cart::add;strlen 3\n' >logs/daily/2026-11-18.wall.api.log
printf 'garbage\nindex.php;A 1\n' >half
: >empty
try --logs logs --entrypoint nobody
try --logs logs --entrypoint api
try --logs logs --slice 5:
try --logs logs --resolution yearly
try --logs logs --grep nothing
try --logs logs --grep main
try --logs logs --grep main --json
try --logs nowhere
try empty
try half
try half nowhere
try sqlite:/var/lib/strobe
try --slice a
try --slice 1:2:3
try --count 0
try --store sqlite:state half
try --store sqlite:state
try --url http://127.0.0.1:1
try --from -1h
try --skip a --no-skip
try --store sqlite:state --from soon
try -n 0

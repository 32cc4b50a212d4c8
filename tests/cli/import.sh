# a run is stored from any format under its source and id, once, and each failure has its sentence and exit code
s='--store sqlite:state'
try() { strobe import $s "$@"; echo "exit $?"; }
try --source shop --id one data/cart.xhprof
try --source shop --id one data/cart.xhprof
try --source shop --id two --url /cart --label host=web1 data/cart.json
try --source shop --id one data/blog.folded
gzip -c data/cart.xhprof | try --source piped --id 1 --name 'a name' -q -
try
try --id x data/cart.xhprof data/cart.json
try --source a/b data/cart.xhprof
try --id .. data/cart.xhprof
try --label 'a b=c' data/cart.xhprof
try --id none data/missing.xhprof
: > empty
try --id empty empty
printf 'f 0\n' > zero
try --source zero zero data/missing.xhprof
strobe import --store sqlite:/proc/nowhere data/cart.xhprof | sed 's/[0-9a-f]\{32\}$/ID/'
try --source many data/cart.xhprof data/cart.json 2>/dev/null | sed 's/[0-9a-f]\{32\}$/ID/'

# wrong options of diff, and profiles that cannot be compared or say little
try() {
	strobe diff "$@" >out
	echo "exit $?, $(wc -c <out) bytes"
}
printf 'main;f 90000\n' >many.folded
printf 'main;f 5\nmain;g 7\n' >few.folded
: >empty
try
try a b c
try - -
try many.folded
try many.folded missing
try many.folded empty
try empty many.folded
try --by time many.folded few.folded
try --rows -1 many.folded few.folded
try --sigma -1 many.folded few.folded
try --fail-over -1 many.folded few.folded
try --json --csv many.folded few.folded
try -f tabel many.folded few.folded
try --normalize totals many.folded few.folded
try -n --normalize rate many.folded few.folded
try --normalize rate many.folded few.folded
try --normalize requests many.folded few.folded
try --column wall_ns many.folded few.folded
printf 'main;f 5 7\n' >two.folded
try --column nonsense two.folded
try many.folded few.folded
try many.folded data/cart.json
try many.folded data/cart.json --force
try data/shop.strobe many.folded --column wall_ns

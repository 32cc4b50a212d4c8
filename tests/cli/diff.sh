# two profiles compared: a table of functions by change, with new and removed ones
cat >before.folded <<'END'
main;load;read 400
main;load;parse 300
main;old 200
main 100
END
cat >after.folded <<'END'
main;load;read 410
main;load;parse 900
main;new 250
main 90
END
strobe diff before.folded after.folded
echo
strobe diff before.folded after.folded --sort total --all
echo
strobe diff before.folded after.folded --normalize none --all --rows 3
echo
strobe diff before.folded - <after.folded | head -2
echo
strobe diff before.folded before.folded
echo
# A trace is measured, not sampled: what differs is a change.
strobe diff data/cart.xhprof data/cart.json
sed 's/main()==>Tax::of/main()==>Tax::none/; s/"wt": *\([0-9]*\)/"wt":\10/g' data/cart.json >slow.json
strobe diff data/cart.json slow.json
strobe diff data/cart.json slow.json --metric calls
strobe diff data/cart.json slow.json --normalize requests --rows 1
strobe diff data/shop.strobe data/shop.strobe --column wall_ns
echo
strobe diff before.folded after.folded --sort total --all >sorted
strobe diff before.folded after.folded --by total --all | cmp - sorted && echo "--by is --sort"

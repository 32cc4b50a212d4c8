# --csv: RFC 4180, plain numbers, no cell is a formula
strobe report --csv data/shop.strobe | cat -A
strobe report --csv -n 2 data/cart.json | cat -A
printf '=cmd|A1;a,b 3\n+1;"q" 4\n-1;@x 5\n' | strobe report --csv - | cat -A
strobe report --csv --json data/shop.strobe
echo "exit $?"

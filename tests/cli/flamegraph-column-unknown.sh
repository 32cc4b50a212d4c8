# an unknown column is refused, and the known ones are named
strobe flamegraph data/shop.strobe --column cpu -o a.svg
echo "exit $?"
ls

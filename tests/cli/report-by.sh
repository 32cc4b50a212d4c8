# rows by class, namespace, file, line and package; sorted, and with the older --by self and total
cat >app.folded <<'END'
index.php;App\Http\Kernel::handle;App\Http\Kernel::route 4
index.php;App\Http\Kernel::handle;App\Cart\Cart::total;{closure:App\Cart\Cart::total():88};array_sum 30
index.php;App\Http\Kernel::handle;App\Cart\Cart::total;App\Cart\Tax::of 12
index.php;App\Http\Kernel::handle;App\Http\Kernel::send;vfs_write_[k] 2
index.php;App\boot 1
END
for by in class namespace package file function; do
	strobe report app.folded --by $by
done
strobe report data/shop.strobe --by line --sort total
strobe report data/shop.strobe --by file --json -n 1 | python3 -m json.tool
strobe report app.folded --by total --by class -n 1
strobe report app.folded --by class --callees 'App\Http\Kernel'
strobe report data/shop.strobe --by own
strobe report app.folded --by klass
echo "exit $?"
# Calls have neither totals nor limits of them; other columns keep theirs when rows are sorted by calls.
strobe report --by class --column calls data/cart.json
strobe report --by class --sort calls data/cart.json

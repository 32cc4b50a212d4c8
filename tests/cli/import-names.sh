# xhprof's and uprofiler's files are runs by their names; the same one, with an id or without, is stored once
s='--store sqlite:state'
try() { strobe import $s "$@"; echo "exit $?"; }
for name in 4d5a7c2e8b1f3.shop.xhprof 4d5a7c2e8b1f4.shop.v2.uprofiler; do
	cp data/cart.xhprof $name
	try $name
	touch -d '2020-01-02 03:04:05' $name
	try -q $name
done
mv 4d5a7c2e8b1f3.shop.xhprof moved.cart.xhprof.gz.xhprof
try -q moved.cart.xhprof.gz.xhprof
cp data/cart.json 7.api.xhprof.json
try -q 7.api.xhprof.json
gzip -c data/cart.xhprof > 8.api.xhprof.gz
try -q --source mine 8.api.xhprof.gz
try -q --id other 8.api.xhprof.gz
# These are no such names.
cp data/cart.xhprof 'my run.shop.xhprof'
cp data/blog.folded 9.shop.folded
for name in cart.xhprof 'my run.shop.xhprof' 9.shop.folded; do
	[ -e "$name" ] || cp data/cart.xhprof $name
	try "$name" > first
	try "$name" > second
	cmp first second && sed 's/[0-9a-f]\{32\}/HASH/' first
done
# A label makes another run of it.
strobe import -q $s --label try=2 cart.xhprof | cmp -s - first || echo different

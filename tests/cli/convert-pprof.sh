# profile.proto: the bytes of a small one; all values survive the round trip, as do labels and a profile's time
printf 'main;a 1\nmain;b 2\n' | strobe convert -f pprof | gzip -dc | od -An -tx1
strobe convert data/cart.xhprof -o cart.pb.gz
for column in calls wall_ns cpu_ns memory_bytes; do
	strobe collapse --column $column data/cart.xhprof >want 2>/dev/null
	strobe collapse --column $column cart.pb.gz 2>/dev/null | cmp - want && echo "same $column"
done
strobe convert data/shop.strobe -o shop.pb.gz
strobe convert shop.pb.gz -o back.strobe && strobe convert back.strobe -f speedscope | tail -n 1
strobe convert data/shop.strobe -o shop.pb && gzip -dc shop.pb.gz | cmp - shop.pb && echo "plain is the same"
printf 'main;b\377d 2\n' | strobe convert -o bad.pb.gz && strobe collapse bad.pb.gz
head -c 60 shop.pb.gz >cut.pb.gz; strobe collapse cut.pb.gz; echo "exit $?"
gzip -dc shop.pb.gz | head -c 300 >cut.pb; strobe collapse --from pprof cut.pb; echo "exit $?"

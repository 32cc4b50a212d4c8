# pairs of caller and callee are written by serialize() and as JSON, and keep their values
strobe convert data/cart.xhprof -f xhprof -o cart.xhprof && cat cart.xhprof && echo
strobe convert data/cart.json -o cart.xhprof.json && cat cart.xhprof.json
strobe convert -f xhprof data/cart.xhprof -o cart.json && cmp cart.json cart.xhprof.json && echo 'JSON by its suffix'
strobe report data/cart.xhprof >want && strobe report cart.xhprof | diff want - && strobe report cart.json | diff want - && echo same
strobe convert -f xhprof-json --column memory_bytes data/cart.xhprof | head -3
echo 'samples:'
strobe convert -f xhprof-json data/shop.strobe | head -4
printf 'a:2:{s:17:"1380818838.100000";s:14:"main()==>foo\\a";s:17:"1380818838.300000";s:14:"main()==>foo\\a";}' | strobe collapse

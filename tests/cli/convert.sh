# several files of any format become one of another; values derived on reading are not written to strobe files
strobe convert data/shop.strobe data/blog.folded -f folded
strobe convert data/shop.strobe -o shop.strobe && strobe collapse shop.strobe | head -2
strobe collapse --column calls shop.strobe
strobe convert data/shop.strobe -o shop.folded.gz && gzip -dc shop.folded.gz | head -1
strobe convert data/shop.strobe -o shop.folded.zst && strobe collapse shop.folded.zst | head -1
strobe convert -f strobe shop.strobe | cmp - shop.strobe && echo stable

# stacks once, sorted, whatever the order of the input; several files add up
sort -r data/blog.folded | strobe collapse >a.folded
LC_ALL=C sort data/blog.folded >sorted
LC_ALL=C sort a.folded | cmp - sorted && echo equal
cat a.folded
strobe collapse data/shop.strobe data/shop.strobe -o shop.folded
cat shop.folded
strobe collapse data/shop.strobe --column wall_ns
strobe collapse a.folded | cmp - a.folded && echo stable

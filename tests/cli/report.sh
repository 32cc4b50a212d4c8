# the table by self, by total, cut to rows; recursion counts once
strobe report data/blog.folded
strobe report data/blog.folded --by total -n 5
strobe report data/shop.strobe --column wall_ns -n 0
strobe report data/shop.strobe data/shop.strobe --by total -n3

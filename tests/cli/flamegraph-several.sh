# several files are one picture
strobe flamegraph data/blog.folded data/blog.folded data/shop.strobe --minwidth 10% | svg-frames | cut -f 6

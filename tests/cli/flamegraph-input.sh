# without a file: piped input, else profile.strobe; - is standard input; also compressed
strobe flamegraph <data/blog.folded >a.svg
strobe flamegraph - <data/blog.folded | cmp - a.svg && echo equal
gzip -c data/blog.folded | strobe flamegraph - | cmp - a.svg && echo equal
cp data/shop.strobe profile.strobe
strobe flamegraph | svg-frames | wc -l
cat data/blog.folded | strobe flamegraph | svg-frames | wc -l

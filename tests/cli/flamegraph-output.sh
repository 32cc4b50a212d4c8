# the picture goes to .svg, .svgz or -, and to no other name; equal input gives equal bytes
strobe flamegraph data/blog.folded -o a.svg
strobe flamegraph data/blog.folded -oa.svgz
strobe flamegraph data/blog.folded -o - >b.svg
strobe flamegraph data/blog.folded --output=c.svg.gz --quiet
gzip -dc <a.svgz | cmp - a.svg && gzip -dc c.svg.gz | cmp - a.svg && cmp a.svg b.svg && echo equal
strobe flamegraph data/blog.folded -o a.png
echo "exit $?"
strobe flamegraph data/blog.folded -o missing/a.svg
echo "exit $?"

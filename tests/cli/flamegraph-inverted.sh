# --inverted puts the root on top and changes the heading
strobe flamegraph data/blog.folded --inverted --subtitle s --minwidth 3% -o a.svg -q
svg-frames a.svg
svg-outline a.svg | grep title

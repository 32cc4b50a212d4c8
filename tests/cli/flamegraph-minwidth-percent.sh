# --minwidth in percent, and what it hides is said
strobe flamegraph data/blog.folded --minwidth 5% -o a.svg
svg-frames a.svg
svg-outline a.svg | grep details

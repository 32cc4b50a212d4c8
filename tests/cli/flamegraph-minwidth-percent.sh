# --minwidth in percent, and the note about hidden frames
strobe flamegraph data/blog.folded --minwidth 5% -o a.svg
svg-frames a.svg
svg-outline a.svg | grep details

# --hash colors by the first characters of a name
strobe flamegraph data/blog.folded --hash --minwidth 8% | svg-frames

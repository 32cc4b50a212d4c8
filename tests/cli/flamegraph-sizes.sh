# --width, --height, --fontsize, --fontwidth, --fonttype and --minwidth in px
strobe flamegraph data/blog.folded --width 600 --height=20 --fontsize 10 --fontwidth 0.5 --minwidth 5 >a.svg
svg-frames a.svg
strobe flamegraph data/blog.folded --fonttype 'ui-monospace,"x"' --minwidth 100 | svg-outline

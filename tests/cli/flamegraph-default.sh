# the frames of a small profile, with flamegraph.pl's geometry and colors
strobe flamegraph data/blog.folded | svg-frames

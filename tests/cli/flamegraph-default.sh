# the frames of a small profile, with flamegraph.pl's geometry and colours
strobe flamegraph data/blog.folded | svg-frames

# --reverse merges stacks from their leaves
strobe flamegraph data/blog.folded --reverse --minwidth 4% | svg-frames

# one frame is one box, also where lines of another function sort between its own
printf '%s\n' 'foo 3' 'foo.bar;x 300' 'foo;y 4' >a.folded
strobe flamegraph a.folded | svg-frames | cut -f 2,3,6

# correction 1: a function is one box under its caller, where flamegraph.pl splits it when another sorts between
printf '%s\n' 'foo 3' 'foo.bar;x 300' 'foo;y 4' >a.folded
echo 'as flamegraph.pl'
strobe flamegraph --compat a.folded | svg-frames | cut -f 2,3,6
echo 'corrected'
strobe flamegraph a.folded | svg-frames | cut -f 2,3,6

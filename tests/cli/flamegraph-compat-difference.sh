# --compat of two counts: the change of a frame itself, red for more, blue for less; --negate the other way round
cat >two.folded <<'END'
p;a 10 30
p;b 30 10
p;c 4 0
p;c.d 0 7
p 5 5
END
strobe flamegraph --compat two.folded | svg-frames | cut -f 2,3,5,6
strobe flamegraph --compat --negate two.folded | svg-frames | cut -f 2,3,5,6

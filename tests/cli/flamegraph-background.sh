# --bgcolors by name and by number
for color in yellow blue green grey '#abc' '#102030'; do
	strobe flamegraph data/blog.folded --bgcolors "$color" | svg-outline | grep stop
done
strobe flamegraph data/blog.folded --bgcolors pink

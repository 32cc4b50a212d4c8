# every palette, with the suffixes and name forms that some of them know
printf '%s\n' 'main;java/lang/Foo:.bar_[j] 4' 'main;[unknown]_[k] 3' 'main;std::foo 5' 'main;Perl_run 2' 'main;/a/b.js:1 6' \
	'main;x_[i] 2' 'main;y_[w] 2' 'main;--;z 3' 'main;-;z 3' 'main;mod`sub 2' 'main; 2' >names.folded
for palette in hot mem io wakeup chain java js perl red green blue aqua yellow purple orange; do
	echo "$palette"
	strobe flamegraph names.folded --colors $palette | svg-frames | cut -f 5,6
	strobe flamegraph names.folded --colors $palette | svg-outline | grep stop
done

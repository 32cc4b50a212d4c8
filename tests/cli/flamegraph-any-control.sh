# corrections 5 to 7: NUL, control characters and bytes that are not UTF-8 in names, also with --compat
printf 'class@anonymous\000/srv/a.php;b\001c;d\377e\303 5\nf\002 1\n' >a.folded
for option in '' --compat --flamechart; do
	strobe flamegraph $option a.folded >a.svg
	xmllint --noout a.svg && svg-frames a.svg | cut -f 6
done

# correction 8: --title and the other texts are escaped, and run nothing; --notes may hold < and >
for option in '' --compat; do
	strobe flamegraph $option data/blog.folded --title '</text><script>alert(1)</script>' --subtitle '&amp; <b>' \
		--notes 'a --> b <c>' --fonttype '"><x>' --nametype ']]></script>' --countname '<i>' -o a.svg -q
	xmllint --noout a.svg
	svg-outline a.svg | grep -E 'title|notes|font-family'
	svg-frames a.svg | tail -n 1 | cut -f 6
done

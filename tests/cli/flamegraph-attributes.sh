# --nameattr: links, classes and titles of functions, in both layouts
printf 'Autoloader::load\thref=https://example.org/?q=a&amp;b=1&c=2\ttitle=Loads <files>\ninclude\tid=i\tclass=slow\tg_extra=data-team="blue"\n' >attributes
for option in '' --compat; do
	strobe flamegraph data/blog.folded $option --minwidth 5% --nameattr attributes >a.svg
	xmllint --noout a.svg
	grep -oE '<(g|a) (id="i|class|xlink)[^>]*>(<title>[^<]*)?' a.svg
done
printf 'a\tid=1\nb\n' >attributes
strobe flamegraph data/blog.folded --nameattr attributes
echo "exit $?"
strobe flamegraph data/blog.folded --nameattr missing
echo "exit $?"

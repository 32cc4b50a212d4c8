# a difference as a picture: it shows both sides, text has both values; folded stacks with two counts give the same
printf 'p;a 10\np;b 10\ngone 20\nsame 20\n' >before.folded
printf 'p;a 30\np;b 30\nnew 20\nsame 20\n' >after.folded
diff() {
	strobe diff --normalize none before.folded after.folded "$@"
}
diff -o d.svg && svg-frames <d.svg
grep -o 'id="details"[^<]*' d.svg
echo
diff -f svg --width-of difference --delta self --reverse --title "What changed" 2>/dev/null | svg-frames
echo
diff -o z.svgz && gzip -dc <z.svgz >z.svg && cmp d.svg z.svg && echo same
diff --folded -o d.folded
# Whether the counts of folded stacks were measured is unknown, so nothing is said of chance.
measured() {
	sed 's/"chance":\[[^]]*\],//' "$@"
}
measured d.svg >d-counts.svg
strobe flamegraph --title Difference d.folded | cmp - d-counts.svg && echo same
strobe flamegraph --column after d.folded | svg-frames | head -2
diff -f svg --width-of before --delta self 2>/dev/null | measured >e.svg
strobe flamegraph --title Difference --width-of before --delta self d.folded | cmp - e.svg && echo same
diff --width-of afer -o x.svg; echo "exit $?"
diff --delta total -o x.svg; echo "exit $?"
diff --width 1 -o x.svg; echo "exit $?"
strobe diff data/cart.json data/cart.xhprof -f svg | grep -o '<title>main[^<]*'
# The scripts in both kinds of pictures get both values, and which change the colors are of.
diff -o d.html --width-of after --delta self && grep -o '"self":[a-z]*,"widthOf":"[a-z]*"' d.html
diff -f svg --delta self 2>/dev/null | svg-boxes

# --also: several pictures from one reading of the input; each equals the output of a separate call
strobe flamegraph data/blog.folded -o all.svg --also reverse,colors=blue:reversed.svgz \
	--also 'title=Parsers,focus=^(Config|Template)::parse$:parse.svg' --also 'inverted,minwidth=10%:inverted.svg'
strobe flamegraph data/blog.folded | cmp - all.svg && echo equal
gzip -dc reversed.svgz >a.svg
strobe flamegraph data/blog.folded --reverse --colors blue | cmp - a.svg && echo equal
strobe flamegraph data/blog.folded --title Parsers --focus '^(Config|Template)::parse$' | cmp - parse.svg && echo equal
strobe flamegraph data/blog.folded --inverted --minwidth 10% | cmp - inverted.svg && echo equal
svg-frames parse.svg | cut -f 6
# also with flamegraph.pl's frames
strobe flamegraph --compat data/blog.folded -o all.svg --also reverse:reversed.svg --also function=parse:parse.svg -q
strobe flamegraph --compat --reverse data/blog.folded | cmp - reversed.svg && echo equal
svg-frames parse.svg | cut -f 6
try() {
	strobe flamegraph data/blog.folded "$@" >out
	echo "exit $?, $(wc -c <out) bytes"
}
try --also reverse
try --also reverse:a.png
try --also revers:a.svg
try --also reverse:a.svg --also hash:a.svg
try --also blue:a.svg
try --also 'focus=(:a.svg'
try --also colors=hto:a.svg
try --focus '['
try --function nobody -o a.svg
svg-outline a.svg | grep details

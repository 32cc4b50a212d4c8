# options with one dash, shortened, and --color: as Getopt::Long takes them for flamegraph.pl
strobe flamegraph --title Week --reverse --colors blue --width 700 data/blog.folded >a.svg
strobe flamegraph -title=Week -rev --color blue -w 700 data/blog.folded | cmp - a.svg && echo equal
strobe flamegraph -q -ob.svg --titl Week -reverse -colors blue --wid=700 data/blog.folded && cmp a.svg b.svg && echo equal
strobe flamegraph -titel Week data/blog.folded || echo exit $?
strobe flamegraph -colo blue data/blog.folded || echo exit $?

# --from names the input format; an unknown name gets a suggestion
strobe collapse --from folded data/blog.folded >a; strobe collapse data/blog.folded | cmp - a && echo equal
strobe collapse --from xhprof data/blog.folded || echo "exit $?"
strobe collapse --from foldde data/blog.folded || echo "exit $?"
strobe collapse --from nonsense data/blog.folded 2>error || echo "exit $?"
cut -d';' -f1 error | head -1

# the graph in Graphviz's language: sums, shares, pruning, the critical path, one function, groups
strobe callgraph data/blog.folded -o all.dot --title 'Blog'
cat all.dot
strobe callgraph data/blog.folded -q --nodes 4 --threshold 10 -o few.dot
cat few.dot
strobe callgraph data/cart.json -q -o trace.gv --threshold 0
grep 'PDO::query' trace.gv
strobe callgraph data/blog.folded -q --function Markdown::block -o one.dot
grep 'label="M\|peripheries' one.dot
strobe callgraph data/shop.strobe -q --by file -o files.dot
grep 'label=' files.dot
strobe callgraph data/blog.folded -q --ignore 'Kernel' --metric samples -o rest.dot
grep -c '\[label=' rest.dot
# both sides of a difference
printf 'main;old 30 0\nmain;slow;sql 5 45\nmain;new 0 8\nmain;same 10 10\n' >two.folded
strobe callgraph two.folded -q -o two.dot
cat two.dot

# --color-by layer and package: colors by the layer or package of frames, from names and files
cat > a.folded <<'END'
{main};Wiki\Parser\Lexer::next;strlen 2
{main};Wiki\Parser\Tree::grow;malloc [libc.so.6];do_brk_[k] 3
{main};PDO::query 5
END
for by in function layer package; do
	echo "$by"
	strobe flamegraph a.folded --color-by $by | svg-frames | sort
done
strobe flamegraph a.folded --color-by shape -o a.svg
echo "exit $?"

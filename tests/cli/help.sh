# the help of these commands, and no line of it above 80 columns
for command in flamegraph collapse convert report callgraph import collect doctor dump top; do
	strobe $command --help
	strobe help $command | awk 'length > 80 { print "too long: " $0 }'
done
strobe help help | head -n 1
strobe help run extra
echo "exit code $?"

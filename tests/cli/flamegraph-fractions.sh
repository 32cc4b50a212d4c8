# parts of a count are as wide as in flamegraph.pl, also beside whole ones of another file
printf 'a;b 0.1\na;c 0.2\n' >parts
echo 'd 0.7' >more
echo 'e 1' >whole
shapes() {
	echo "== $*"
	strobe flamegraph "$@" | svg-frames | cut -f 2,3,6
}
shapes parts more
shapes --compat parts more
shapes whole parts more
shapes --factor 10 --total 2 parts more
shapes --reverse --minwidth 15% parts more
printf 'a;b 0.25 1.5\na;c 1 0.5\n' >difference
shapes --factor 100 difference
strobe flamegraph -o page.html parts more
grep -o '"unit":"millionths","total":[0-9]*' page.html
printf 'a;b -0.5\na;c 1.5\na;d -1.25\n' >below
strobe flamegraph below | grep -o '[^>"]*below zero[^<"]*' | sort -u
strobe collapse below

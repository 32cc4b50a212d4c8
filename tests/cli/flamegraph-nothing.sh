# nothing sampled: a picture with a note, a sentence, and exit code 4
: >empty.folded
strobe flamegraph empty.folded -o a.svg
echo "exit $?"
svg-outline a.svg
printf 'a;b 0\na;c 0\n' >zero.folded
strobe flamegraph zero.folded -o b.svg
echo "exit $?"
svg-outline b.svg | grep details
strobe flamegraph empty.folded empty.folded >c.svg
echo "exit $?"

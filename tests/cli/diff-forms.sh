# a difference as JSON, as CSV that no spreadsheet takes for formulas, and as folded stacks with two counts
printf '=cmd();a,"b" 300\nmain;0xdead;0xbeefg 200\nmain;0xdeac;0xbeefg 100\nzero;old 7\n' >before.folded
printf '=cmd();a,"b" 900\nmain;0xfade;0xbeefg 150\nzero 3\n' >after.folded
strobe diff --json --rows 2 before.folded after.folded | tr '{' '\n'
strobe diff --csv --all before.folded after.folded | sed 's/\r$/ CR/'
echo
strobe diff --folded before.folded after.folded
echo
strobe diff --folded -s before.folded after.folded
echo
strobe diff --folded -n before.folded after.folded
strobe diff --folded -n before.folded after.folded | awk '{ a += $(NF-1); b += $NF } END { print a, b }'
echo
strobe diff --folded -n --compat before.folded after.folded
echo
strobe diff before.folded after.folded -o out.json && head -c 20 out.json && echo
strobe diff before.folded after.folded -o out.csv && head -c 20 out.csv && echo
strobe diff before.folded after.folded -o out.folded && cat out.folded
# Its own output is a difference again.
strobe diff out.folded --normalize none --all
strobe diff --folded - --normalize none <out.folded | cmp - out.folded && echo same
# An empty side gives zeros, as with the script.
: >empty
strobe diff --folded empty after.folded; echo "exit $?"

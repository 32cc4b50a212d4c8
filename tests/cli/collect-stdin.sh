# folded lines on standard input go to sinks and are counted; with nothing in them the exit code is 4
try() {
	strobe collect --from - --to "sqlite:$PWD/store" --listen none 2>errors
	echo "exit $?"
	sed "s|$PWD|DIR|g" errors
}
printf 'main;a 1\nmain;b 2\n\nno count\nmain;c 0\nmain;d 3' | try
try </dev/null
echo nothing | try
strobe collect --from '-?tint=red' --to "sqlite:$PWD/store" </dev/null
# nor does anything have to be remembered when the source has parameters
printf 'main;a 1\n' | XDG_STATE_HOME=$PWD/state strobe collect --from '-?channel=excimer' --to "sqlite:$PWD/store" --listen none -q; echo "exit $?"
ls -d state 2>/dev/null

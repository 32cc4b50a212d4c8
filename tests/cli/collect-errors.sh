# what cannot be collected from or sent to, said in one sentence
try() {
	XDG_STATE_HOME=$PWD/state XDG_RUNTIME_DIR=$PWD strobe collect --listen none "$@"
	echo "exit $?"
}
try
try --form unix:/x
try --from gopher:x --to sqlite:$PWD/a --state st
try --to blub:x
try --to sqlite:
try --to sqlite:a --queue-bytes 1K
try --to sqlite:a --label-values 0
try --to sqlite:a extra

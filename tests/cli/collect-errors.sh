# invalid sources and sinks: one-sentence errors
try() {
	XDG_STATE_HOME=$PWD/state XDG_RUNTIME_DIR=$PWD strobe collect --listen none "$@"
	echo "exit $?"
}
try
try --form unix:/x
try --from gopher:x --to sqlite:$PWD/a --state st
try --to blub:x
try --to 'redis://u:secret@host/?stream=x&ca-file=/x'
try --to sqlite:$PWD/a --state st --from 'rediss://u:secret@host/?channel=x&verify=maybe'
try --to resp://127.0.0.1:6379
try --to sqlite:
try --to sqlite:a --queue-bytes 1K
try --to sqlite:a --label-values 0
try --to sqlite:a extra
try --from "file:$PWD/x" --from "file:$PWD/x?channel=excimer" --to sqlite:a --state st 2>&1 | sed "s|$PWD|DIR|"
try --from - --to otlp://127.0.0.1:1 --to otlp://127.0.0.1:1 --state st
try --to sqlite:a --max-bytes G
try --to sqlite:a --max-bytes 63M
strobe serve --store foo:
strobe serve --listen 127.0.0.1:99999
strobe serve --runs-count=-1 --retain 1
strobe serve --retain=-1

# options from a YAML file, the environment and the command line; errors name file and line
try() {
	strobe collect --listen none "$@" 2>errors </dev/null
	echo "exit $?"
	sed "s|$PWD|DIR|g" errors
}
cat >fine.yaml <<'END'
# three lines of folded stacks in, a store out
from: "-"
to:
  - sqlite:file-store
retain: 90
quiet: no
END
printf 'main;a 1\nmain;b 2\n' >in
strobe collect -c fine.yaml --listen none <in 2>&1
echo "exit $?"
echo '# the environment wins over the file, a whole list over a whole list'
STROBE_TO='sqlite:one sqlite:two' STROBE_QUIET=yes strobe collect -c fine.yaml --listen none <in
STROBE_TO='sqlite:one sqlite:two' strobe collect -c fine.yaml --listen none <in 2>&1
echo '# and the command line over both; a file that may be missing'
STROBE_CONFIG=fine.yaml STROBE_TO=sqlite:one strobe collect --to sqlite:three --listen none <in 2>&1
STROBE_CONFIG=-missing.yaml STROBE_FROM=- strobe collect --to sqlite:three --listen none <in 2>&1
ls -d *store one two three

bad() {
	printf "$1" >bad.yaml
	try -c bad.yaml
}
bad 'to: sqlite:x\nform: y\n'
bad 'to: sqlite:x\nfrom:\n  - -\n'
bad 'to: sqlite:x\nfrom:\n  - url: unix:/x\n'
bad 'to:\n  - sqlite:x\n  - otlp://\nfrom: "-"\n'
bad 'to: sqlite:x\ntint: red\n'
bad 'to: sqlite:x\nretain: soon\n'
bad 'to: sqlite:x\n\nmax-bytes: much\n'
bad 'to: sqlite:x\nlabel-values: 0\n'
bad 'to: {a: b}\n'
bad 'retain: [1]\n'
bad 'quiet: perhaps\n'
bad '[to, from]\n'
bad 'to: [x\n'
bad 'from: "-"\nto: []\n'
bad 'to: sqlite:x\nread-token-file: missing\n'
bad 'to: sqlite:x\narclamp: missing.yaml\n'
for lines in 'trusted-proxy:\n  - 127.0.0.1\n  - 10.0.0.0/99' 'writer:\n\n  - ann'; do
	printf "listen: 127.0.0.1:0\nstore: sqlite:x\nfrom: []\n$lines\n" >bad.yaml
	strobe serve -c bad.yaml 2>&1; echo "exit $?"
done
bad ''
STROBE_SERIES=many try
try -c missing.yaml
echo '# a variable with a slip in its name'
slip() {
	printf 'main;a 1\n' | env "$@" strobe collect --from - --to sqlite:four --listen none --quiet 2>&1
}
slip STROBE_LISTN=127.0.0.1:1 STROBE_MAX_BITES=1G STROBE_TINT=a-secret STROBE_SOKET=/x STROBE_LISTEN_=x STROBE_retain=3
echo '# those of tests, of the extension, of other commands, of other software, and empty ones are fine'
slip STROBE_CONFIG= STROBE_SOCKET=/x STROBE_EXTENSION=/x STROBE_TRACE=x STROBE_STORE=sqlite:/x STROBE_TEST_KILLS=3 STROBE_ROOT=/ \
	STROBE_BENCH_SECONDS=1 STROBE_SERVICE_HOST=10.0.0.1 STROBE_PORT=tcp://10.0.0.1:8787 STROBE_PORT_8787_TCP=x STROBE_LISTN= \
	STROBELIGHT_X=y STROBE=/x

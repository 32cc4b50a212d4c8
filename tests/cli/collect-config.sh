# options from a YAML file, the environment and the command line; what is wrong is said with file and line
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
bad 'to: sqlite:x\ncolour: red\n'
bad 'to: sqlite:x\nretain: soon\n'
bad 'to: sqlite:x\n\nmax-bytes: much\n'
bad 'to: sqlite:x\nlabel-values: 0\n'
bad 'to: {a: b}\n'
bad 'retain: [1]\n'
bad 'quiet: perhaps\n'
bad '[to, from]\n'
bad 'to: [x\n'
bad ''
STROBE_SERIES=many try
try -c missing.yaml

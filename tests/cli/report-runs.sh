# several files are added up, or averaged by weight; and only some stacks
printf 'main;a 10\nmain;b 30\n' >one
printf 'main;a 40\nmain;c 2\n' >two
strobe report one two
strobe report one two --weights 1,1
strobe report one two --weights 3,0.5
strobe report one two --focus '^A$'
strobe report one two --ignore '^a$'
try() {
	strobe report one two "$@"
	echo "exit $?"
}
try --weights 1
try --weights 1,x
try --weights 0,0
try --weights 1,-1
try --focus nowhere
try --focus '('
try --ignore main
try --focus main --ignore A

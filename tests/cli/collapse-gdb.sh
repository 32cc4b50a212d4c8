# backtraces of gdb, recorded three times of a program with three threads
strobe collapse data/ledger.gdb
printf '#0  crash (n=11) at a.c:3\n#1  <signal handler called>\n#2  0x1 in main ()\nThread 2 (LWP 9):\n#0  0x2 in poll () from libc.so\n' |
	strobe collapse --from gdb

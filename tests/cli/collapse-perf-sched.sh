# sleep times of threads from scheduler events, with wakers on request
strobe collapse --from perf-sched data/sched.perf
echo == sched_stat_sleep says it itself, and is all that counts then
switch='php 12 7.5: sched:sched_switch: prev_comm=php-fpm: pool a prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=cat next_pid=0'
stack='\t7f02 poll(int)+0x2f (/usr/lib/libc.so.6)\n\t7f01 main (/usr/bin/php)\n\n'
wake='cat 7/8 7.9: sched:sched_stat_sleep: comm=php-fpm: pool a pid=12 delay=1500999 [ns]'
printf "$switch\n$stack$wake\n\t8f02 write (/usr/lib/libc.so.6)\n\t8f01 main (/usr/bin/cat)\n\n$wake\n\n" >stat
strobe collapse --from perf-sched stat
strobe collapse --from perf-sched --record-tid stat
strobe collapse --from perf-sched --record_tid --record_wake_stack stat
echo == and so on
again='php 12 9.5: sched:sched_switch: prev_comm=cat prev_pid=8 prev_prio=120 prev_state=S ==> next_comm=php next_pid=12'
back='php 12 9.9: sched:sched_stat_blocked: comm=cat pid=8 delay=2000000 [ns]'
{
	cat stat
	printf "$again\n\t8f03 read (/usr/lib/libc.so.6)\n\t8f01 main (/usr/bin/cat)\n\n$back\n\t7f03 fwrite (/usr/bin/php)\n\n"
} >chain
strobe collapse --from perf-sched --recurse chain
strobe collapse --from perf-sched data/words.perf || echo "exit $?"

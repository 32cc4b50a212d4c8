/* test_samples.h: inputs of each format, for tests of detection and of the cost of reading.
 *
 * Add a line here for each new format: its shortest usual input, and odd ones that look like another format. */
#ifndef FORMATS_TEST_SAMPLES_H
#define FORMATS_TEST_SAMPLES_H

static const struct {
	const char *format, *text;
} samples[] = {
	{ "folded", "main;a 1\nmain;b 2\n" },
	{ "folded", "main 12\n" },
	{ "folded", "main;#0 0x12 5\nmain;TID=5;f 2\n" },
	{ "folded", "@x;a 5\n@y[1];b 3\n" },
	{ "xhprof", "a:1:{s:6:\"main()\";a:2:{s:2:\"ct\";i:1;s:2:\"wt\";i:12;}}" },
	{ "xhprof", "{\"main()\": {\"ct\": 1, \"wt\": 12}}" },
	{ "xhprof", "a:1:{s:17:\"1380818838.100000\";s:11:\"main()==>foo\";}" },
	{ "xhprof", "{\"1380818838.100000\": \"main()==>foo\"}" },
	{ "speedscope", "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":[]}}" },
	{ "speedscope", "{\"exporter\":\"x\",\"profiles\":[{\"type\":\"evented\"}],\"shared\":{}}" },
	{ "callgrind", "# callgrind format\nevents: Ir\nfn=main\n1 2\n" },
	{ "callgrind", "version: 1\ncreator: callgrind-3.19.0\npid: 1\ncmd:  ./a 12\npositions: line\nevents: Ir\n\n"
	  "fl=(1) a.c\n" },
	{ "chrome", "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"main()\",\"ts\":1,\"dur\":2,\"args\":{\"ct\":1}}]}" },
	{ "chrome", "[{\"name\":\"a\",\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":3},\n" },
	{ "chrome", "{\"traceEvents\":[{\"name\":\"https://www.speedscope.app/file-format-schema.json\",\"ph\":\"X\"}]}" },
	{ "perf", "php 4152 12.345678:     250000 cpu-clock: \n"
	  "\t    55d1534c0bdb zend_hash_find+0x11 (/usr/bin/php8.2)\n"
	  "\t    55d1534c0a00 main+0x5 (/usr/bin/php8.2)\n\n" },
	/* Events of the scheduler are perf script, too: perf-sched, which reads their times, must be selected by name. */
	{ "perf", "php  4152 [000]   7.500000: sched:sched_switch: prev_comm=php prev_pid=4152 prev_prio=120 "
	  "prev_state=S ==> next_comm=cat next_pid=8 next_prio=120\n"
	  "\t    7f0855d10bdb poll+0x2f (/lib/libc.so.6)\n\n" },
	{ "perf", "php  4152 [000]   7.9: sched:sched_stat_sleep: comm=a b pid=12 delay=1500999 [ns]\n"
	  "\t 8f02 w (/b)\n\n" },
	{ "speedscope", "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":[{\"name\":\"m\"}]},"
	  "\"profiles\":[{\"type\":\"sampled\",\"name\":\"a\",\"unit\":\"none\",\"startValue\":0,\"endValue\":1,\"samples\":[[0]],"
	  "\"weights\":[1]}]}" },
	{ "callgrind", "# callgrind format\nversion: 1\nevents: Ir\n\nfl=a.c\nfn=main\n1 12\n" },
	{ "chrome", "{\"traceEvents\": [{\"name\": \"m\", \"ph\": \"X\", \"ts\": 0, \"dur\": 5, \"pid\": 1, \"tid\": 1}]}" },
	{ "xhprof", "{\"main()\": {\"ct\": 1, \"wt\": 12}, \"main()==>f\": {\"ct\": 1, \"wt\": 2}}" },
	{ "stap", " 0xffffffff8103ce3b : native_safe_halt+0xb/0x10 [kernel]\n"
	  " 0xffffffff81013236 : cpu_idle+0xd6/0x120 [kernel]\n\t24\n" },
	{ "stap", "\nparse\nmain\n\t12\n\nmain\n\t3\n" },
	{ "dtrace", "CPU     ID                    FUNCTION:NAME\n  0  64091                        :tick-60s\n\n\n"
	  "              unix`i86_mwait+0xd\n              unix`thread_start+0x8\n             1641\n" },
	{ "dtrace", "\n\n              unix`i86_mwait+0xd\n              unix`thread_start+0x8\n             1641\n" },
	{ "bpftrace", "Attaching 1 probe...\n^C\n\n@[\n    vfs_read+142\n    do_syscall_64+115\n]: 3\n" },
	{ "bpftrace", "@[, swapper/0]: 3\n" },
	{ "bpftrace", "@on[php, \n    vfs_read+142\n]: 3\n" },
	{ "bpftrace", "{\"type\": \"attached_probes\", \"data\": {\"probes\": 1}}\n"
	  "{\"type\": \"map\", \"data\": {\"@\": {\"\\n a\\n\": 3}}}\n" },
	{ "gdb", "[New LWP 12]\n\nThread 1 (LWP 5):\n#0  0x00007f08f1d2b4d9 in poll () from /lib/libc.so.6\n"
	  "#1  0x01 in main ()\n" },
	{ "gdb", "#0  work (n=3) at worker.c:12\n#1  main () at worker.c:30\n" },
	{ "eu-stack", "PID 5 - process\nTID 5:\n#0  0x00007f3e5c1d04d9 poll\n"
	  "#1  0x000055e01b2c0a10 (anonymous namespace)::f(int)\n" },
	{ "go", "PeriodType: cpu nanoseconds\nPeriod: 10000000\nSamples:\nsamples/count cpu/nanoseconds\n"
	  "  19  190000000: 1 2\n"
	  "Locations\n     1: 0x1 M=1 main.f /a.go:3 s=0\n     2: 0x2 M=1 main.main /a.go:9 s=0\nMappings\n" },
	{ "phpspy", "0 usleep <internal>:-1\n1 <main> /srv/index.php:25\n\n0 <main> /srv/index.php:25\n\n" },
	{ "phpspy", "0 f /srv/index.php:25\n# - - -\n" },
	{ "xdebug", "Version: 3.2.0\nFile format: 4\nTRACE START [2024-05-06 18:29:01.123456]\n"
	  "1\t0\t0\t0.1\t5\t{main}\t1\t\t/a.php\t0\t0\n" "1\t0\t1\t0.2\t5\nTRACE END\n" },
	{ "spx", "[events]\n0 1 0.0 0.0\n0 0 5.0 0.0\n[functions]\nm\n" },
	{ "spx", "{\n  \"key\": \"spx-full-1\",\n  \"recorded_call_count\": 1,\n  \"enabled_metrics\": [\n    \"wt\"\n"
	  "  ]\n}\n" },
};

#endif

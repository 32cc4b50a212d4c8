/* test_perf.c: tests reading of perf script, line by line and as a whole. */
#include "format.h"
#include "perf_line.h"
#include "perf_name.h"
#include "test.h"

static struct err err;
static struct format_options options;
static char written[1 << 16];

/* Reads `text` with `options`, returns it folded, and resets the options. */
static const char *folded(const char *text)
{
	struct profile *p = profile_new();
	struct input in;
	struct buf out;
	int r;

	err = (struct err){ 0 };
	buf_init(&out);
	CHECK_INT(input_memory(&in, "memory", text, strlen(text), UINT64_MAX, &err), 0);
	r = format_perf.read(p, &in, &options, &err);
	CHECK(r >= 0 || err.code == r);
	if (r >= 0 && p->column_count)
		format_folded.write(p, UINT32_MAX, &out, NULL);
	snprintf(written, sizeof(written), "%s", out.data);
	input_close(&in);
	profile_free(p);
	buf_done(&out);
	options = (struct format_options){ 0 };
	return written;
}

/* Returns the frame of this line in a process called `comm`. */
static const char *frame(const char *comm, const char *line)
{
	char text[512];

	snprintf(text, sizeof(text), "%s 12 1.5: cycles:\n%s\n\n", comm, line);
	folded(text);
	return strchr(written, ';') ? strchr(written, ';') + 1 : written;
}

static const char *event(const char *line)
{
	static char text[512];
	struct perf_event e;

	if (!perf_event_parse((struct str){ line, strlen(line) }, &e))
		return "none";
	snprintf(text, sizeof(text), "%.*s|%.*s|%.*s|%.*s|%llu|%.*s", (int)e.comm.n, e.comm.p, (int)e.pid.n, e.pid.p,
		 (int)e.tid.n, e.tid.p, (int)e.time.n, e.time.p, (unsigned long long)e.period, (int)e.name.n, e.name.p);
	return text;
}

TEST(events_have_a_process_a_time_a_period_and_a_name)
{
	CHECK_STR(event("php 25607 4794564.109216: cycles:"), "php|25607||4794564.109216|0|cycles");
	CHECK_STR(event("php 12688 [002] 654.708352: cpu-clock: "), "php|12688||654.708352|0|cpu-clock");
	CHECK_STR(event("php 24636/25607 [000] 94564.10:     250000 cycles:u: "),
		  "php|24636|25607|94564.10|250000|cycles:u");
	CHECK_STR(event("V8 WorkerThread 25607 47.1: cycles:"), "V8 WorkerThread|25607||47.1|0|cycles");
	CHECK_STR(event("php-fpm: pool a 7 47.1: cycles:"), "php-fpm: pool a|7||47.1|0|cycles");
	CHECK_STR(event("php 31912 cpu-clock: "), "php|31912|||0|");
	CHECK_STR(event("php 1 2.5: sched:sched_switch: prev_comm=php"), "php|1||2.5|0|");
	CHECK_STR(event("php 1 2.5: 99999999999999999999 cycles:"), "php|1||2.5|18446744073709551615|cycles");
	CHECK_STR(event("\t7f01 main (/usr/bin/php)"), "none");
	CHECK_STR(event("what is this"), "none");
	CHECK_STR(event(""), "none");
}

TEST(a_one_letter_comm_is_accepted)
{
	CHECK_STR(event("c 12 1.5: cycles:"), "c|12||1.5|0|cycles");
	CHECK_STR(event("c  1680 1.5: cycles:"), "c|1680||1.5|0|cycles");
}

TEST(offsets_and_arguments_are_removed_from_names)
{
	CHECK_STR(frame("php", "\t7f01 zend_call+0x2c (/usr/bin/php)"), "zend_call 1\n");
	CHECK_STR(frame("php", "\t7f01 std::x<int>::y(char const*)+0x1 (/srv/a)"), "std::x<int>::y 1\n");
	CHECK_STR(frame("php", "\t7f01 (anonymous namespace)::f(int) (/srv/a)"), "(anonymous namespace)::f 1\n");
	CHECK_STR(frame("php", "\t7f01 a::operator()+0x1 (/srv/a)"), "a::operator() 1\n");
	CHECK_STR(frame("php", "\t7f01 cooperator()+0x1 (/srv/a)"), "cooperator 1\n");
	CHECK_STR(frame("php", "\t7f01 a::(anonymous namespace)::f(int) (/srv/a)"), "a::(anonymous namespace)::f 1\n");
	CHECK_STR(frame("php", "\t7f01 std::function<void (int)>::operator()(int) const+0x1 (/srv/a)"),
		  "std::function<void (int)>::operator() 1\n");
	CHECK_STR(frame("php", "\t7f01 a::operator()<int>(int) const+0x1 (/srv/a)"), "a::operator()<int> 1\n");
	/* Lambdas, as written by perf and by c++filt, are distinct from the enclosing function. */
	CHECK_STR(frame("php", "\t7f01 main::{lambda(double)#1}::operator()+0x33 (/srv/a)"),
		  "main::{lambda(double)#1}::operator() 1\n");
	CHECK_STR(frame("php", "\t7f01 f(std::function<void ()>)::{lambda()#2}::operator()() const+0x1 (/srv/a)"),
		  "f(std::function<void ()>)::{lambda()#2}::operator() 1\n");
	CHECK_STR(frame("php", "\t7f01 a::f(int) const::{lambda(auto:1)#1}::operator()<int>(int) const+0x1 (/srv/a)"),
		  "a::f(int) const::{lambda(auto:1)#1}::operator()<int> 1\n");
	CHECK_STR(frame("php", "\t7f01 f({lambda(int)#1}&&)+0x1 (/srv/a)"), "f 1\n");
	CHECK_STR(frame("php", "\t7f01 {lambda(int)#1}::_FUN+0x1 (/srv/a)"), "{lambda(int)#1}::_FUN 1\n");
	CHECK_STR(frame("php", "\t7f01 decltype(auto) a::f<char (*)(int)>(char (*)(int))+0x1 (/srv/a)"),
		  "decltype(auto) a::f<char (*)(int)> 1\n");
	CHECK_STR(frame("php", "\t7f01 std::operator<< <std::char_traits<char> >(std::ostream&) (/srv/a)"),
		  "std::operator<< <std::char_traits<char> > 1\n");
	CHECK_STR(frame("php", "\t7f01 f<(E)1>(int) (/srv/a)"), "f<(E)1> 1\n");
	CHECK_STR(frame("php", "\t7f01 a<b(c (/srv/a)"), "a<b 1\n");
	CHECK_STR(frame("php", "\t7f01 net/http.(*Client).Do (/srv/a)"), "net/http.(*Client).Do 1\n");
	CHECK_STR(frame("php", "\t7f01 RegExp:[&<>\"'];x (/srv/a)"), "RegExp:[&<>]:x 1\n");
	CHECK_STR(frame("php", "\t7f01 (php) (/usr/bin/php)"), "php 1\n");
	CHECK_STR(frame("php", "\t7f01 f (/usr/lib/a b (deleted))"), "f 1\n");
	CHECK_STR(frame("php", "\t7f01 f(int)+0x1 (/usr/lib/a (deleted))"), "f 1\n");
}

TEST(frames_without_a_symbol_are_named_after_their_module)
{
	CHECK_STR(frame("php", "\t7f01 [unknown] (/usr/lib/libc.so.6)"), "[libc.so.6] 1\n");
	CHECK_STR(frame("php", "\t7f01 [unknown] ([unknown])"), "[unknown] 1\n");
	options.addresses = true;
	CHECK_STR(frame("php", "\t7f01 [unknown] (/usr/lib/libc.so.6)"), "[libc.so.6 <7f01>] 1\n");
}

TEST(java_names_lose_their_type_prefix)
{
	CHECK_STR(frame("java", "\t7f01 Lorg/a/B;.call(Lorg/a/C;)V (/tmp/perf-1.map)"), "org/a/B:.call 1\n");
	CHECK_STR(frame("php", "\t7f01 Lorg/a/B;.call(Lorg/a/C;)V (/tmp/perf-1.map)"), "Lorg/a/B:.call 1\n");
	CHECK_STR(frame("java", "\t7f01 a->b->c (/tmp/perf-1.map)"), "a;b_[i];c_[i] 1\n");
}

TEST(kernel_and_jit_frames_are_marked_on_request)
{
	const char *text = "php 12 1.5: cycles:\n\t1 a ([kernel.kallsyms])\n\t2 b (/usr/lib/debug/vmlinux)\n"
			   "\t3 c ([nf_tables])\n\t4 d ([unknown])\n\t5 e (/tmp/perf-12.map)\n\t6 f (/bin/php)\n\n";

	options.kernel = true;
	CHECK_STR(folded(text), "php;f;e;d;c_[k];b_[k];a_[k] 1\n");
	options.jit = true;
	CHECK_STR(folded(text), "php;f;e_[j];d;c;b;a 1\n");

	text = "php 12 1.5: cycles:\n\t1 a (/usr/lib/debug/boot/vmlinux-6.1.0-25-amd64)\n\t2 b (/lib/modules/6.1/kernel/fs/xfs.ko)\n"
	       "\t3 c (/lib/modules/6.1/kernel/net/tls.ko.xz)\n\t4 d (/var/tmp/jit/jitted-4711-12.so)\n\t5 e (/srv/my.kontor)\n"
	       "\t6 f (/srv/vmlinux-tools/bin/x)\n\t7 g (/usr/lib/jitted-code.so)\n\n";
	options.kernel = true;
	CHECK_STR(folded(text), "php;g;f;e;d;c_[k];b_[k];a_[k] 1\n");
	options.jit = true;
	CHECK_STR(folded(text), "php;g;f;e;d_[j];c;b;a 1\n");
}

TEST(periods_are_added_up_and_samples_counted)
{
	struct profile *p = profile_new();
	const char *text = "php 1 1.5:  250 cycles:\n\t7 f (/a)\n\nphp 1 1.6:  50 cycles:\n\t7 f (/a)\n\n";

	CHECK_INT(format_read_bytes(&format_perf, p, text, strlen(text), &err), 0);
	CHECK_INT(p->column_count, 2);
	CHECK_STR(p->columns[0].name, "cycles");
	CHECK_STR(p->columns[0].unit, "count");
	CHECK_INT(profile_sum(p, 0), 300);
	CHECK_STR(p->columns[1].name, "samples");
	CHECK_INT(profile_sum(p, 1), 2);
	CHECK_INT(p->frame_count, 2);
	CHECK_STR(profile_file(p, 1).p, "/a");
	profile_free(p);
}

TEST(clocks_count_nanoseconds)
{
	struct profile *p = profile_new();
	const char *text = "php 1 1.5:  250 cpu-clock:u:\n\t7 f (/a)\n\n";

	CHECK_INT(format_read_bytes(&format_perf, p, text, strlen(text), &err), 0);
	CHECK_STR(p->columns[0].unit, "nanoseconds");
	profile_free(p);
}

TEST(chains_with_a_common_root_are_merged)
{
	CHECK_STR(folded("php 1 1.5: cycles:\n\t1 leaf (/a)\n\t2 middle (/a)\n\t3 root (/a)\n\n"
			 "php 1 1.5: cycles:\n\t2 middle (/a)\n\t3 root (/a)\n\n"
			 "php 1 1.5: cycles:\n\t12 middle (/a)\n\t3 root (/a)\n\n"
			 "php 1 1.5: cycles:\n\t1 other (/a)\n\t2 middle (/a)\n\t3 root (/a)\n\n"
			 "sh 1 1.5: cycles:\n\t2 middle (/a)\n\t3 root (/a)\n\n"),
		  "php;root;middle 2\nphp;root;middle;leaf 1\nphp;root;middle;other 1\nsh;root;middle 1\n");
}

TEST(a_sample_may_end_with_the_text_or_with_the_next_event)
{
	CHECK_STR(folded("php 1 1.5: cycles:\n\t1 f (/a)\nphp 1 1.6: cycles:\n\t1 g (/a)"), "php;f 1\nphp;g 1\n");
	CHECK_STR(folded("php 1 1.5: cycles:\n\nphp 1 1.5: cycles:\n"), "php 2\n");
	CHECK_STR(folded("php 1 1.5: PERF_RECORD_COMM: php\nphp 1 1.5: cycles:\n\n"), "php 1\n");
}

TEST(lines_of_another_format_are_counted_and_the_first_is_shown)
{
	CHECK_STR(folded("php 1 1.5: cycles:\n\t1 f (/a)\n  what\n\n"), "php;f 1\n");
	CHECK_STR(err.text, "line 3 is not a line of perf script: '  what'");
	folded("nothing\nat all\n");
	CHECK_INT(err.code, -EINVAL);
}

TEST(output_of_perf_script_is_recognized)
{
	const char *chain = "# captured on: Sat\n#\n\nphp 1 1.5: cycles:\n\t7f01 f (/a)\n\n";
	const char *flat = "     php 1 1.5:  250 cycles:  7f01 f+0x1 (/a)\n", *old = "node 31912 cpu-clock: \n"
		"\t7f01 f (/a)\n";

	CHECK(format_perf.sniff(chain, strlen(chain)) > 80);
	CHECK(format_perf.sniff(flat, strlen(flat)) > 80);
	CHECK(format_perf.sniff(old, strlen(old)) > 80);
	CHECK_INT(format_perf.sniff("main;a 12\nmain;b 12 3\n", 22), 0);
	CHECK_INT(format_perf.sniff("", 0), 0);
}

TEST_MAIN()

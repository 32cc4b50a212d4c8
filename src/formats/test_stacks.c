/* test_stacks.c: tests stacks printed by other tools, and the differences from the scripts that collapse them. */
#include "format.h"
#include "mem.h"
#include "stacks.h"
#include "test.h"

static struct err err;
static char written[1 << 16];
static int skipped;		/* result of reading */

/* Reads `text` and returns it as folded stacks, "" after an error. */
static const char *with(const struct format *f, const struct format_options *o, const char *text)
{
	struct profile *p = profile_new();
	struct input in;
	struct buf out;

	err = (struct err){ 0 };
	buf_init(&out);
	CHECK_INT(input_memory(&in, "memory", text, strlen(text), UINT64_MAX, &err), 0);
	skipped = f->read(p, &in, o, &err);
	if (skipped >= 0)
		CHECK_INT(format_folded.write(p, UINT32_MAX, &out, NULL), 0);
	CHECK(out.size < sizeof(written));
	snprintf(written, sizeof(written), "%s", out.data);
	input_close(&in);
	profile_free(p);
	buf_done(&out);
	return written;
}

static const char *collapse(const struct format *f, const char *text)
{
	static const struct format_options none;

	return with(f, &none, text);
}

/* --- Common to all formats --- */

TEST(decimals_are_rounded_at_the_last_significant_digit)
{
	static const struct {
		const char *text;
		int decimals;
		int64_t value;
		char next;
	} cases[] = {
		{ "0.25", 3, 250, 0 }, { "12", 2, 1200, 0 }, { "-1.5 x", 0, -2, ' ' }, { "1.2345|", 3, 1235, '|' },
		{ "0.000001\t", 9, 1000, '\t' }, { "3.", 1, 30, 0 }, { "0.0004", 3, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct str line = { cases[i].text, strlen(cases[i].text) };
		int64_t value;

		CHECK(line_take_decimal(&line, cases[i].decimals, &value));
		CHECK_INT(value, cases[i].value);
		CHECK_INT(line.n ? *line.p : 0, cases[i].next);
	}
	for (const char *bad = "x\0-\0.5\0" "99999999999\0" "99999999999999999999\0"; *bad; bad += strlen(bad) + 1) {
		struct str line = { bad, strlen(bad) };
		int64_t value;

		CHECK(!line_take_decimal(&line, 9, &value));
	}
}

TEST(a_stack_above_the_limit_of_frames_is_cut_at_the_root)
{
	struct buf text;
	struct profile *p = profile_new();

	buf_init(&text);
	buf_puts(&text, "leaf\n");
	for (size_t i = 0; i < STACKS_DEPTH_MAX; i++)
		buf_puts(&text, "f\n");
	buf_puts(&text, "7\n");
	CHECK_INT(format_read_bytes(&format_stap, p, text.data, text.size, &err), 0);
	CHECK_INT(profile_depth(p), STACKS_DEPTH_MAX);
	CHECK_INT(profile_sum(p, 0), 7);
	profile_free(p);
	buf_done(&text);
}

/* --- stap, dtrace --- */

static const char *as_stap(const char *folded)
{
	static char text[1000];
	_cleanup_(buf_done) struct buf b = { 0 };
	struct profile *p = profile_new();

	buf_init(&b);
	CHECK_INT(format_read_bytes(&format_folded, p, folded, strlen(folded), &err), 0);
	CHECK_INT(format_stap.write(p, UINT32_MAX, &b, &err), 0);
	snprintf(text, sizeof(text), "%.*s", (int)b.size, b.data);
	profile_free(p);
	return text;
}

TEST(stap_output_is_sorted_by_count_and_survives_a_round_trip)
{
	CHECK_STR(as_stap("a;b 2\na;c 7\na 1\n"), " c\n a\n\t7\n b\n a\n\t2\n a\n\t1\n");
	CHECK_STR(collapse(&format_stap, as_stap("a::operator+;x;17 3\n")), "a::operator+;x;17 3\n");
	CHECK_STR(collapse(&format_stap, as_stap("main;App\\f;{closure:/srv/a+b.php(7)} 5\n")),
		  "main;App\\f;{closure:/srv/a+b.php(7)} 5\n");
}

TEST(a_frame_of_systemtap_is_reduced_to_its_name)
{
	CHECK_STR(collapse(&format_stap, " 0x1 : b+0x1/0x2 [k]\n 0x2 : a+0x9/0x10 [k]\n\t3\n 0x7 : b+0x2/0x2 [k]\n"
			   " 0x2 : a\n 4\n"),
		  "a;b 7\n");
	CHECK_STR(collapse(&format_stap, "x : y : z+1\n plain name \n+0x10\n2\n"), "-;plain name ;z 2\n");
	CHECK_INT(skipped, 0);
}

TEST(carriage_returns_are_removed_from_frames_and_counts)
{
	CHECK_STR(collapse(&format_stap, "b\r\na\r\n5\r\n\r\n"), "a;b 5\n");
	CHECK_STR(collapse(&format_dtrace, "\r\n\r\n\r\nm`b+0x1\r\nm`a+0x2\r\n5\r\n"), "m`a;m`b 5\n");
	CHECK_STR(collapse(&format_gdb, "#0  a (x=1) at a.c:1\r\n#1  main () at a.c:2\r\n\r\n"), "main;a 1\n");
	CHECK_STR(collapse(&format_eu_stack, "TID 1:\r\n#0  0x1 a\r\n#1  0x2\r\n"), "[unknown];a 1\n");
	CHECK_STR(collapse(&format_bpftrace, "@[\r\n  a+1\r\n]: 4\r\n"), "a+1 4\n");
}

TEST(a_count_without_frames_is_attributed_to_unknown)
{
	CHECK_STR(collapse(&format_stap, "a\n1\n\n5\n6\n"), "[unknown] 11\na 1\n");
}

TEST(a_stack_without_a_count_is_skipped_and_reported)
{
	CHECK_STR(collapse(&format_stap, "a\n1\n\nb\nc\n"), "a 1\n");
	CHECK_INT(skipped, 1);
	CHECK_STR(err.text, "line 4 begins a stack that has no count after it");
	CHECK_STR(collapse(&format_stap, "a\n99999999999999999999\nb\n2\n"), "b 2\n");
	CHECK_STR(err.text, "line 2 has a count above 9223372036854775807: '99999999999999999999'");
	CHECK_STR(collapse(&format_stap, "a\nb\n"), "");
	CHECK_INT(skipped, -EINVAL);
	CHECK_STR(collapse(&format_stap, "\n \n"), "");
	CHECK_INT(skipped, -ENODATA);
}

TEST(the_first_three_lines_of_dtrace_are_a_header)
{
	CHECK_STR(collapse(&format_dtrace, "CPU ID FUNCTION:NAME\n 0 1 :tick\n\n m`f+0x1\n 2\n"), "m`f 2\n");
	CHECK_STR(collapse(&format_dtrace, "a\nb\nc\nd\n1\n"), "d 1\n");
}

/* stackcollapse.pl mistakes the leaves of the first stack for the header. */
TEST(dtrace_without_a_header_loses_no_frame)
{
	CHECK_STR(collapse(&format_dtrace, "\n m`leaf+0x1\n m`mid+0x2\n m`root+0x1\n 2\n"), "m`root;m`mid;m`leaf 2\n");
}

TEST(arguments_of_cpp_names_are_removed_as_by_the_perl_script)
{
	CHECK_STR(collapse(&format_dtrace, "\n\n\nm`N::f(int)+0x1\n1\nm`f(int)+0x1\n2\nm`v<N::a>::g(b<c>)::h+0x1\n3\n"
			   "+0x5\n4\n"),
		  "- 4\nm`N::f 1\nm`f(int) 2\nm`v<N::a>::g(b 3\n");
}

/* --- bpftrace --- */

TEST(other_parts_of_a_map_key_become_the_root)
{
	CHECK_STR(collapse(&format_bpftrace, "Attaching 1 probe...\n\n@[\n    b+1\n    a+2\n]: 3\n@[\n    b+1\n"
			   ", php, 12]: 4\n"),
		  "a+2;b+1 3\nphp, 12;b+1 4\n");
	CHECK_STR(collapse(&format_bpftrace, "@[, php]: 4\n"), "php 4\n");
}

/* stackcollapse-bpftrace.pl supports neither. */
TEST(maps_may_be_named_and_stacks_may_be_last_in_the_key)
{
	CHECK_STR(collapse(&format_bpftrace, "@on_cpu[\n b\n a\n]: 3\n@[php, \n c\n]: 2\n"), "a;b 3\nphp;c 2\n");
	CHECK_STR(collapse(&format_bpftrace, "@n[1]: 5\n@[x, y]: 5\n@[\n a\n]: 1\n@total: 12\n"), "a 1\n");
	CHECK_INT(skipped, 0);
}

TEST(values_that_are_not_numbers_are_skipped)
{
	CHECK_STR(collapse(&format_bpftrace, "@[\n a\n]: \n[1, 2)   3 |@@@ |\n[2, 4)   1 |@ |\n\n@[\n b\n]: 2\n"),
		  "b 2\n");
	CHECK_INT(skipped, 1);
	CHECK_STR(err.text, "line 3 has no number as its value: ']: '");
	CHECK_STR(collapse(&format_bpftrace, "@[\n a\n]: 1\n@[\n b\n"), "a 1\n");
	CHECK_STR(err.text, "line 4 begins an entry that does not end");
}

TEST(json_of_bpftrace_gives_the_same_stacks)
{
	CHECK_STR(collapse(&format_bpftrace, "{\"type\": \"attached_probes\", \"data\": {\"probes\": 1}}\n"
			   "{\"type\": \"map\", \"data\": {\"@\": {\"\\n b+1\\n a+2\\n\": 3, \"\\n b+1\\n,php,12\": 4}, \"@n\": {\"x\": 1}}}\n"),
		  "a+2;b+1 3\nphp,12;b+1 4\n");
	CHECK_STR(collapse(&format_bpftrace, "{\"type\": \"map\", \"data\": {\"@\": {\"\\n b\\n,\\n a\\n\": 3}}}\n{\n"),
		  "a;, ;b 3\n");
	CHECK_INT(skipped, 1);
	CHECK_STR(err.text, "line 2 is not a JSON object of bpftrace: '{'");
}

/* --- gdb --- */

TEST(each_backtrace_of_gdb_counts_one)
{
	static const char text[] =
		"Thread 2 (LWP 5):\n#0  0x01 in poll () from /lib/libc.so.6\n#1  0x02 in main () at a.c:1\n\n"
		"Thread 1 (LWP 4):\n#0  work (n=3, s=\"a b\") at a.c:5\n#1  0x02 in main () at a.c:1\n";

	CHECK_STR(collapse(&format_gdb, text), "main;poll 1\nmain;work 1\n");
	CHECK_STR(collapse(&format_gdb, "#0  0x1 in poll () from x\n[New LWP 1]\n#0  0x1 in poll () from x\n"),
		  "poll 2\n");
}

/* stackcollapse-gdb.pl loses or merges some stacks of each of these inputs. */
TEST(backtraces_of_gdb_need_no_empty_line_between_them)
{
	CHECK_STR(collapse(&format_gdb, "#0  0x1 in a () from x\n#1  0x2 in main () from x\nThread 2 (LWP 5):\n"
			   "#0  0x1 in b () from x\n"),
		  "b 1\nmain;a 1\n");
	CHECK_STR(collapse(&format_gdb, "#0  0x1 in a () from x\n#0  0x1 in b () from x\n"), "a 1\nb 1\n");
}

TEST(frames_without_addresses_and_signal_handlers_are_read)
{
	CHECK_STR(collapse(&format_gdb, "#0  handler (n=11) at a.c:3\n#1  <signal handler called>\n#2  0x1 in f ()\n"
			   "#3  main ()\n"),
		  "main;f;<signal handler called>;handler 1\n");
}

TEST(locals_and_wrapped_lines_do_not_end_a_backtrace)
{
	CHECK_STR(collapse(&format_gdb, "#0  a (x=1) at a.c:1\n        y = 5\nNo locals.\n#1  main (n=1,\n"
			   "    m=2) at a.c:2\n"),
		  "main;a 1\n");
}

/* --- eu-stack --- */

TEST(processes_and_threads_of_eu_stack_are_frames_on_request)
{
	static const char text[] = "PID 7 - process\nTID 7:\n#0  0x00ab f\n#1  0x00cd main\nTID 8:\n#0  0x00ab f\n";
	const struct format_options tid = { .tid = true }, both = { .pid = true, .tid = true };

	CHECK_STR(collapse(&format_eu_stack, text), "f 1\nmain;f 1\n");
	CHECK_STR(with(&format_eu_stack, &tid, text), "TID=7;main;f 1\nTID=8;f 1\n");
	CHECK_STR(with(&format_eu_stack, &both, text), "PID=7;TID=7;main;f 1\nPID=7;TID=8;f 1\n");
}

TEST(an_invalid_frame_of_eu_stack_is_named)
{
	CHECK_STR(collapse(&format_eu_stack, "TID 7:\n#0  0x00ab f\n#1  nothing\n"), "f 1\n");
	CHECK_INT(skipped, 1);
	CHECK_STR(err.text, "line 3 begins with # and is no frame: '#1  nothing'");
}

/* --- go --- */

static const char go[] =
	"PeriodType: cpu nanoseconds\nPeriod: 10\nSamples:\nsamples/count cpu/nanoseconds\n"
	"    3   30: 1 2 \n   12  120: 2\n    1   10: 9 2\nLocations\n"
	"     1: 0x49 M=1 job.next /job.go:3 s=0\n             job.skip /job.go:1 s=0\n"
	"     2: 0x48 M=1 main.main /m.go:1 s=0\n" "Mappings\n1: 0x4/0x5/0x0 /bin/x\n";

TEST(samples_of_go_are_counted_by_location)
{
	const struct format_options script = { .script_values = true }, inlined = { .script_values = true, .inlined = true };
	static const char whole[] = "main.main 12\nmain.main;9 1\nmain.main;job.skip;job.next 3\n";

	CHECK_STR(collapse(&format_go, go), "main.main 120\nmain.main;9 10\nmain.main;job.skip;job.next 30\n");
	CHECK_STR(with(&format_go, &script, go), "main.main 12\nmain.main;9 1\nmain.main;job.next 3\n");
	CHECK_STR(with(&format_go, &inlined, go), whole);
}

TEST(names_of_other_languages_are_kept_whole_in_text_of_pprof)
{
	CHECK_STR(collapse(&format_go, "Samples:\nsamples/count\n 1: 1 2 3 4 5\nLocations\n"
			   " 1: 0x1 M=1 std::map<int, std::less<int> >::at(int const&) /src/a b.cc:12:3 s=10\n"
			   " 2: 0x2 M=1 [F] operator new(unsigned long) :0 s=0\n"
			   " 3: 0x3 M=1 go.shape.struct { Name string } a.go:3 s=1(mangled)\n"
			   " 4: 0x4 M=1 \n 5: 0x5 M=1 main /m.c:1 s=0\n"),
		  "main;0x4;go.shape.struct { Name string };operator new(unsigned long);"
		  "std::map<int, std::less<int> >::at(int const&) 1\n");
}

TEST(cpp_names_are_kept_whole_in_backtraces_of_gdb)
{
	CHECK_STR(collapse(&format_gdb,
			   "#0  0x00007f08 in std::function<void (int)>::operator()(int) const (this=0x7ffd, n=5) at /usr/x.h:590\n"
			   "#1  work (n=3) at worker.c:12\n#2  std::string::append(char const*) () from /usr/lib/libstdc++.so.6\n"
			   "#3  operator<< <char> (a=1) at b.cc:3\n#4  0x1 in (anonymous namespace)::f (x=1) at c.cc:1\n#5  main\n"),
		  "main;(anonymous namespace)::f;operator<< <char>;std::string::append(char const*);work;"
		  "std::function<void (int)>::operator()(int) const 1\n");
}

TEST(each_value_of_a_go_profile_is_a_column)
{
	struct profile *p = profile_new();

	CHECK_INT(format_read_bytes(&format_go, p, go, strlen(go), &err), 0);
	CHECK_INT(p->column_count, 2);
	CHECK_STR(p->columns[1].name, "samples");
	CHECK_STR(p->columns[0].name, "cpu_ns");
	CHECK_STR(p->columns[0].unit, "nanoseconds");
	CHECK_INT(profile_sum(p, 0), 160);
	profile_free(p);
}

/* stackcollapse-go.pl only reads samples with exactly two values, and treats "12: 1" as a count of 1. */
TEST(samples_of_go_may_have_any_number_of_values)
{
	CHECK_STR(collapse(&format_go, "Samples:\ngoroutine/count[dflt]\n 12: 1\nLocations\n 1: 0x1 M=1 f a:1 s=0\n"),
		  "f 12\n");
	CHECK_STR(collapse(&format_go, "Samples:\na/count b/bytes c/count d/bytes\n 1 2 3 4: 1\n     bytes:[2]\n"
			   "Locations\n 1: 0x1 M=1 \n"),
		  "0x1 4\n");
	CHECK_INT(skipped, 0);
}

TEST(go_profiles_default_to_the_value_that_pprof_shows)
{
	static const struct { const char *values, *numbers, *shown; } cases[] = {
		{ "samples/count cpu/nanoseconds", "1 2", "f 2\n" },
		{ "alloc_objects/count alloc_space/bytes[dflt] inuse_objects/count inuse_space/bytes", "1 2 3 4", "f 2\n" },
		{ "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes", "1 2 3 4", "f 4\n" },
	};
	const struct format_options script = { .script_values = true };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[300];

		snprintf(text, sizeof(text), "Samples:\n%s\n %s: 1\nLocations\n 1: 0x1 M=1 f a:1 s=0\n", cases[i].values,
			 cases[i].numbers);
		CHECK_STR(collapse(&format_go, text), cases[i].shown);
		CHECK_STR(with(&format_go, &script, text), "f 1\n");
	}
}

TEST(malformed_lines_of_go_profiles_are_named)
{
	CHECK_STR(collapse(&format_go, "Samples:\na/count\n 1: 1\n x: 1\nLocations\n 1: 0x1 f a:1\nno\n"), "f 1\n");
	CHECK_INT(skipped, 2);
	CHECK_STR(err.text, "line 4 is not a sample (numbers, a colon and locations): ' x: 1'");
	CHECK_STR(collapse(&format_go, "PeriodType: cpu\n"), "");
	CHECK_STR(err.text, "it has no line 'Samples:'");
}

/* --- phpspy --- */

TEST(traces_of_phpspy_end_with_an_empty_line_or_the_next_leaf)
{
	static const char text[] =
		"0 usleep <internal>:-1\n1 Cart::total /srv/Cart.php:12\n2 <main> /srv/index.php:25\n# uri = /cart\n\n"
		"0 Cart::total /srv/Cart.php:12\n1 <main> /srv/other.php:5\n0 f /a b.php:1\n# - - -\n";

	CHECK_STR(collapse(&format_phpspy, text), "<main>;Cart::total 1\n<main>;Cart::total;usleep 1\nf 1\n");
}

TEST(file_names_of_phpspy_are_kept)
{
	static const char text[] = "0 f /a b.php:1\n1 strlen <internal>:-1\n";
	struct profile *p = profile_new();

	CHECK_INT(format_read_bytes(&format_phpspy, p, text, strlen(text), &err), 0);
	CHECK_STR(profile_file(p, p->node_frames[2]).p, "/a b.php");
	CHECK_STR(profile_file(p, p->node_frames[1]).p, "");
	profile_free(p);
}

TEST(an_invalid_frame_of_phpspy_is_named)
{
	CHECK_STR(collapse(&format_phpspy, "0 f /a.php:1\nFailed to copy zfunc; Bad address\n"), "f 1\n");
	CHECK_INT(skipped, 1);
	CHECK_STR(err.text, "line 2 is not a frame (depth, function and file): 'Failed to copy zfunc; "
		  "Bad address'");
}

TEST_MAIN()

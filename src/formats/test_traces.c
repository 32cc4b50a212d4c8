/* test_traces.c: tests traces of every call: Xdebug's and SPX's. */
#include "format.h"
#include "mem.h"
#include "test.h"
#include <stdio.h>
#include <unistd.h>

static struct err err;
static char written[1 << 14];
static int skipped;

/* Returns one column of `text` as folded stacks, including negative values; "" after an error. */
static const char *column(const struct format *f, const struct format_options *o, const char *text, const char *name)
{
	struct profile *p = profile_new();
	struct input in;
	struct buf out;
	uint32_t c;

	err = (struct err){ 0 };
	buf_init(&out);
	CHECK_INT(input_memory(&in, "memory", text, strlen(text), UINT64_MAX, &err), 0);
	skipped = f->read(p, &in, o, &err);
	c = name ? profile_find_column(p, name) : profile_pick_column(p, NULL);
	if (skipped >= 0 && c != UINT32_MAX)
		format_folded.write(p, c, &out, NULL);
	snprintf(written, sizeof(written), "%s", out.data);
	input_close(&in);
	profile_free(p);
	buf_done(&out);
	return written;
}

static const struct format_options none;

/* --- Xdebug --- */

static const char xt[] =
	"Version: 3.2.0\nFile format: 4\nTRACE START [2024-05-06 18:29:01.123456]\n"
	"1\t0\t0\t0.000400\t1000\t{main}\t1\t\t/a.php\t0\t0\n"
	"2\t1\t0\t0.001000\t1100\tf\t1\t\t/a.php\t3\t0\n"
	"3\t2\t0\t0.001500\t1100\tstrlen\t0\t\t/a.php\t4\t1\t'x'\n"
	"3\t2\t1\t0.001510\t1100\n"
	"3\t3\t0\t0.001600\t1100\tstrlen\t0\t\t/a.php\t5\t1\t'y'\n"
	"3\t3\t1\t0.001620\t1400\n"
	"2\t1\tR\t\t\t5\n"
	"2\t1\t1\t0.002000\t1200\n"
	"1\t0\t1\t0.003000\t900\n"
	"\t\t\t0.003100\t800\n"
	"TRACE END   [2024-05-06 18:29:01.126556]\n\n";

TEST(time_between_two_lines_belongs_to_the_running_function)
{
	CHECK_STR(column(&format_xdebug, &none, xt, NULL), "{main} 1600000\n{main};f 970000\n{main};f;strlen 30000\n");
	CHECK_STR(column(&format_xdebug, &none, xt, "memory_bytes"), "{main};f;strlen 300\n");
	CHECK_STR(column(&format_xdebug, &none, xt, "calls"), "{main} 1\n{main};f 1\n{main};f;strlen 2\n");
	CHECK_INT(skipped, 0);
}

TEST(values_like_those_of_the_perl_script_are_microseconds_or_calls_of_leaves)
{
	const struct format_options time = { .script_values = true }, calls = { .script_values = true, .calls = true };

	CHECK_STR(column(&format_xdebug, &time, xt, NULL), "{main} 1600\n{main};f 970\n{main};f;strlen 30\n");
	CHECK_STR(column(&format_xdebug, &calls, xt, NULL), "{main};f;strlen 2\n");
}

TEST(calls_without_an_end_finish_with_their_caller)
{
	CHECK_STR(column(&format_xdebug, &none, "TRACE START\n1\t0\t0\t0\t0\tm\t1\n2\t1\t0\t1\t0\ta\t1\n"
			 "3\t2\t0\t2\t0\tb\t1\n" "2\t3\t0\t3\t0\tc\t1\n1\t0\t1\t4\t0\n", NULL),
		  "m 1000000000\nm;a 1000000000\nm;a;b 1000000000\nm;c 1000000000\n");
	CHECK_INT(skipped, 0);
}

TEST(a_trace_may_start_inside_a_function)
{
	CHECK_STR(column(&format_xdebug, &none, "TRACE START\n7\t9\t0\t1\t0\ta\t1\n7\t9\t1\t2\t0\n6\t5\t1\t3\t0\n",
			 NULL), "a 1000000000\n");
	/* exit() ends functions that had begun before the trace. */
	CHECK_INT(skipped, 0);
	CHECK_STR(column(&format_xdebug, &none, "TRACE START\n7\t9\t0\t1\t0\ta\t1\n7\t9\t1\t2\t0\n6\t10\t1\t3\t0\n",
			 NULL), "a 1000000000\n");
	CHECK_INT(skipped, 1);
	CHECK_STR(err.text, "line 4 ends a call that did not begin: '6 10 1 3 0'");
}

TEST(several_traces_in_a_file_add_up)
{
	struct buf twice;

	buf_init(&twice);
	buf_puts(&twice, xt);
	buf_puts(&twice, xt);
	CHECK_STR(column(&format_xdebug, &none, twice.data, "calls"), "{main} 2\n{main};f 2\n{main};f;strlen 4\n");
	buf_done(&twice);
}

TEST(unexpected_lines_of_xdebug_traces_are_named)
{
	column(&format_xdebug, &none, "TRACE START\n1\t0\t0\t0\t0\tm\t1\n1\t0\t1\tlate\t0\n", NULL);
	CHECK_INT(skipped, 1);
	CHECK_STR(err.text, "line 3 is neither a call nor a return: '1 0 1 late 0'");
	column(&format_xdebug, &none, "Version: 3\nTRACE START\nTRACE END\n", NULL);
	CHECK_INT(skipped, -ENODATA);
}

/* --- SPX --- */

static const char spx[] =
	"[events]\n0 1 0.0000 100.0000\n1 1 1000.0000 150.0000\n2 1 1500.2000 150.0000\n2 0 1600.0000 250.0000\n"
	"1 0 3000.0000 120.0000\n1 1 3000.0000 120.0000\n1 0 3500.0000 120.0000\n0 0 4000.0000 90.0000\n"
	"[functions]\n/a.php\nA::f\nstrlen\n";

/* The same in the format of later versions. */
static const char shorter[] =
	"[events]\n0|0|a0|a100\n5|1|1000|50\n1f|2|500|\n-r1|100|100\n-1|1400|-130\n6|r1||\n-r1|500|\n-0|500|-30\n"
	"[functions]\n/a.php:1:/a.php\n/a.php:3:A::f\n:0:strlen\n";

TEST(events_of_spx_form_a_call_tree)
{
	CHECK_STR(column(&format_spx, &none, spx, NULL), "/a.php 1500\n/a.php;A::f 2400\n/a.php;A::f;strlen 100\n");
	CHECK_INT(skipped, 0);
	CHECK_STR(column(&format_spx, &none, spx, "calls"), "/a.php 1\n/a.php;A::f 2\n/a.php;A::f;strlen 1\n");
	CHECK_STR(column(&format_spx, &none, spx, "memory_bytes"), "/a.php 20\n/a.php;A::f;strlen 100\n");
}

TEST(short_events_of_spx_form_the_same_tree)
{
	CHECK_STR(column(&format_spx, &none, shorter, NULL), "/a.php 1500\n/a.php;A::f 2400\n/a.php;A::f;strlen 100\n");
	CHECK_INT(skipped, 0);
	CHECK_STR(column(&format_spx, &none, shorter, "calls"), "/a.php 1\n/a.php;A::f 2\n/a.php;A::f;strlen 1\n");
}

TEST(an_event_may_end_with_the_line_of_its_call)
{
	CHECK_STR(column(&format_spx, &none, "[events]\n0 1 0 5\n1 1 10 7\n1 0 30\n0 0 40\n[functions]\nm\nf\n", NULL),
		  "m 20\nm;f 20\n");
	CHECK_INT(skipped, 0);
}

TEST(a_truncated_report_is_reported_as_incomplete)
{
	CHECK_STR(column(&format_spx, &none, "[events]\n0 1 0 0\n1 1 10 0\n1 0 30 0\n", NULL), "#0 10\n#0;#1 20\n");
	CHECK_INT(skipped, 1);
	CHECK_STR(err.text, "line 4 is the last one, and the names of functions are missing: the report is "
			    "incomplete");
}

TEST(inconsistent_events_are_named)
{
	column(&format_spx, &none, "[events]\n0 1 0 0\n1 0 10 0\nr5 0\n0 0 20 0\n[functions]\nm\n", NULL);
	CHECK_INT(skipped, 2);
	CHECK_STR(err.text, "line 3 ends a function that is not running: '1 0 10 0'");
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

TEST(the_json_file_of_a_report_names_its_values)
{
	char directory[] = "/tmp/test_traces.XXXXXX", path[128], meta[128];
	struct profile *p = profile_new();

	CHECK(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/one.txt", directory);
	snprintf(meta, sizeof(meta), "%s/one.json", directory);
	write_file(path, spx);
	write_file(meta, "{\"exec_ts\": 1715012941, \"http_request_uri\": \"/cart\", \"recorded_call_count\": 4,\n"
		   "\"enabled_metrics\": [\"ct\", \"io\"]}");
	for (int i = 0; i < 2; i++) {
		CHECK_INT(format_load(i ? meta : path, p, NULL, &err), 0);
		CHECK(profile_find_column(p, "cpu_ns") != UINT32_MAX);
		CHECK_INT(profile_sum(p, profile_find_column(p, "cpu_ns")), 4000 * (i + 1));
		CHECK(profile_find_column(p, "io_bytes") != UINT32_MAX);
		CHECK_INT(p->start_ns, INT64_C(1715012941000000000));
	}
	unlink(path);
	CHECK_INT(format_load(meta, p, NULL, &err), -ENOENT);
	unlink(meta);
	rmdir(directory);
	profile_free(p);
}

TEST(metadata_loaded_from_memory_opens_no_file)
{
	struct profile *p = profile_new();
	static const char meta[] = "{\"enabled_metrics\": [\"wt\"], \"recorded_call_count\": 1}";

	CHECK_INT(format_load_bytes("/etc/passwd.json", meta, strlen(meta), p, &err), -ENOENT);
	profile_free(p);
}

TEST_MAIN()

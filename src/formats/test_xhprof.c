/* test_xhprof.c: tests that pairs of caller and callee become a tree whose tables have the measured values. */
#include "edge_list.h"
#include "edges.h"
#include "format.h"
#include "round_trip.h"
#include "test.h"
#include <string.h>

static struct err err;

static struct profile *read_text(const char *text)
{
	struct profile *p = profile_new();

	err = (struct err){ 0 };
	if (format_load_bytes("x", text, strlen(text), p, &err) != 0)
		p = profile_free(p);
	return p;
}

/* Returns "main() 5,main();a 3": one column, in the order of nodes. */
static const char *tree_of(const struct profile *p, const char *column)
{
	static char text[4000];
	uint32_t c = profile_find_column(p, column);
	struct buf b;

	buf_init(&b);
	for (uint32_t n = 1; n < p->node_count && c != UINT32_MAX; n++) {
		uint32_t path[20], depth = 0;

		for (uint32_t up = n; up; up = p->parents[up])
			path[depth++] = up;
		buf_puts(&b, n > 1 ? "," : "");
		while (depth--)
			buf_printf(&b, "%s%s", profile_name(p, p->node_frames[path[depth]]).p, depth ? ";" : "");
		buf_printf(&b, " %lld", (long long)p->columns[c].self[n]);
	}
	snprintf(text, sizeof(text), "%s", b.data);
	buf_done(&b);
	return text;
}

/* Returns the self value of a function, over all of its places. */
static int64_t self_of(const struct profile *p, const char *name, const char *column)
{
	uint32_t c = profile_find_column(p, column);
	int64_t sum = 0;

	for (uint32_t n = 1; n < p->node_count; n++)
		if (!strcmp(profile_name(p, p->node_frames[n]).p, name))
			sum += p->columns[c].self[n];
	return sum;
}

static const char serialized[] =
	"a:3:{s:6:\"main()\";a:3:{s:2:\"ct\";i:1;s:2:\"wt\";i:100;s:2:\"mu\";i:500;}"
	"s:11:\"main()==>f\\\";a:3:{s:2:\"ct\";i:2;s:2:\"wt\";i:60;s:2:\"mu\";i:-40;}"
	"s:13:\"f\\==>strlen()\";a:3:{s:2:\"ct\";i:9;s:2:\"wt\";d:10.0;s:2:\"mu\";i:0;}}";

TEST(serialized_pairs_become_a_tree_with_all_measured_values)
{
	struct profile *p = read_text(serialized);

	CHECK_STR(err.text, "");
	if (!p)
		return;
	CHECK_STR(tree_of(p, "calls"), "main() 1,main();f\\ 2,main();f\\;strlen() 9");
	CHECK_STR(tree_of(p, "wall_ns"), "main() 40000,main();f\\ 50000,main();f\\;strlen() 10000");
	CHECK_STR(tree_of(p, "memory_bytes"), "main() 540,main();f\\ -40,main();f\\;strlen() 0");
	CHECK_INT(profile_pick_column(p, NULL), profile_find_column(p, "wall_ns"));
	CHECK_INT(p->column_count, 3);
	profile_free(p);
}

TEST(json_is_read_like_serialized_data_and_off_cpu_time_is_wall_minus_cpu)
{
	struct profile *p = read_text("\n"
				      "{\"main()\":{\"ct\":1,\"wt\":100,\"cpu\":30,\"mu\":5,\"pmu\":7,\"mem.na\":4,\"mem.nf\":3,\"mem.aa\":999,\"odd\":1},\"main()==>sleep\":{\"ct\":1,\"wt\":80,\"cpu\":15}}");

	CHECK(p != NULL);
	if (!p)
		return;
	CHECK_STR(tree_of(p, "off_cpu_ns"), "main() 5000,main();sleep 65000");
	CHECK_STR(tree_of(p, "peak_memory_bytes"), "main() 7,main();sleep 0");
	CHECK_STR(tree_of(p, "allocated_bytes"), "main() 999,main();sleep 0");
	CHECK_STR(p->columns[3].name, "off_cpu_ns");
	profile_free(p);
	/* A microsecond below zero is a rounding error. */
	p = read_text("{\"main()\":{\"ct\":1,\"wt\":100,\"cpu\":30},\"main()==>f\":{\"ct\":1,\"wt\":15,\"cpu\":16}}");
	CHECK_STR(p ? tree_of(p, "off_cpu_ns") : "nothing", "main() 71000,main();f 0");
	profile_free(p);
}

TEST(an_export_has_a_request_per_line)
{
	struct profile *p = read_text(
		"{\"_id\":1,\"profile\":{\"main()\":{\"ct\":1,\"wt\":100},\"main()==>f\":{\"ct\":2,\"wt\":40}},"
		"\"meta\":{\"url\":\"/cart\",\"request_ts_micro\":{\"sec\":1500000000,\"usec\":5}}}\n"
		"{\"_id\":2,\"profile\":{\"main()\":{\"ct\":1,\"wt\":{\"$numberLong\":\"50\"}},\"main()==>g\":{\"ct\":1,\"wt\":5}},"
		"\"meta\":{\"url\":\"/home\",\"request_ts_micro\":{\"sec\":1500000007,\"usec\":0}}}\r\n\n"
		"{\"_id\":3,\"profile\":{\"main()\":{\"ct\":1,\"wt\":1}},\"meta\":{\"url\":\"/home\"}}\n");

	CHECK(p != NULL);
	if (!p)
		return;
	CHECK_STR(tree_of(p, "wall_ns"), "main() 106000,main();f 40000,main();g 5000");
	CHECK_STR(tree_of(p, "calls"), "main() 3,main();f 2,main();g 1");
	CHECK(!labels_get(&p->labels, "url"));
	CHECK_INT(p->start_ns, 1500000000000005000);
	CHECK_INT(p->end_ns, 1500000007000000000);
	profile_free(p);
	CHECK(!read_text("{\"main()\":{\"ct\":1}}\n{\"main()\":{\"ct\":1}}\n{\"main()\":{]\n"));
	CHECK(strstr(err.text, "line 3") != NULL);
}

TEST(values_of_callees_are_divided_among_callers_and_add_up)
{
	/* c took 30 below a and 10 below b: three quarters and one quarter of its callees; its calls were 1 and 2. */
	struct profile *p = read_text(
		"{\"main()\":{\"ct\":1,\"wt\":100,\"mu\":90},\"main()==>a\":{\"ct\":1,\"wt\":50,\"mu\":0},"
		"\"main()==>b\":{\"ct\":1,\"wt\":20,\"mu\":0},\"a==>c\":{\"ct\":1,\"wt\":30,\"mu\":1000},"
		"\"b==>c\":{\"ct\":2,\"wt\":10,\"mu\":-999},\"c==>d\":{\"ct\":7,\"wt\":8,\"mu\":300},\"d==>e\":{\"ct\":5,\"wt\":5,\"mu\":1}}");

	CHECK(p != NULL);
	if (!p)
		return;
	CHECK_STR(tree_of(p, "wall_ns"),
		  "main() 30000,main();a 20000,main();b 10000,main();a;c 24000,main();a;c;d 2250,main();b;c 8000,"
		  "main();b;c;d 750,main();a;c;d;e 3750,main();b;c;d;e 1250");
	CHECK_INT(self_of(p, "c", "wall_ns"), 32000);
	CHECK_INT(self_of(p, "d", "calls"), 7);
	CHECK_INT(self_of(p, "e", "calls"), 5);
	CHECK_INT(self_of(p, "e", "memory_bytes"), 1);
	CHECK_INT(self_of(p, "d", "memory_bytes"), 299);
	CHECK_INT(profile_sum(p, profile_find_column(p, "memory_bytes")), 90);
	profile_free(p);
}

TEST(recursion_appears_once_per_level_and_cycles_end)
{
	struct profile *p = read_text(
		"{\"main()\":{\"ct\":1,\"wt\":10},\"main()==>r\":{\"ct\":1,\"wt\":9},\"r==>r@1\":{\"ct\":1,\"wt\":6},"
		"\"r@1==>r@2\":{\"ct\":1,\"wt\":2}}");

	CHECK(p != NULL);
	if (!p)
		return;
	CHECK_STR(tree_of(p, "wall_ns"), "main() 1000,main();r 3000,main();r;r 4000,main();r;r;r 2000");
	profile_free(p);
	/* a calls b, b calls a, and nothing else calls them; and a function that calls itself. */
	p = read_text("{\"a==>b\":{\"ct\":3,\"wt\":6},\"b==>a\":{\"ct\":2,\"wt\":4},\"s==>s\":{\"ct\":1,\"wt\":1}}");
	CHECK(p != NULL);
	if (!p)
		return;
	CHECK(p->node_count < 10);
	CHECK(self_of(p, "[folded]", "wall_ns") > 0);
	CHECK_INT(self_of(p, "a", "calls"), 2);
	CHECK_INT(self_of(p, "b", "calls"), 3);
	CHECK_INT(self_of(p, "s", "calls"), 1);
	profile_free(p);
}

TEST(functions_without_a_caller_are_at_the_root)
{
	struct profile *p = read_text("{\"main()\":{\"ct\":1,\"wt\":10},\"started==>x\":{\"ct\":2,\"wt\":3}}");

	CHECK(p != NULL);
	if (!p)
		return;
	CHECK_STR(tree_of(p, "wall_ns"), "main() 10000,started 0,started;x 3000");
	CHECK_STR(tree_of(p, "calls"), "main() 1,started 1,started;x 2");
	profile_free(p);
}

TEST(pairs_of_a_hundred_thousand_levels_become_a_tree)
{
	struct profile *p;
	struct buf b;

	buf_init(&b);
	buf_puts(&b, "{\"main()\":{\"ct\":1,\"wt\":200000},\"main()==>f\":{\"ct\":1,\"wt\":199999}");
	for (int i = 0; i < 100000; i++)
		if (i == 0)
			buf_puts(&b, ",\"f==>f@1\":{\"ct\":1,\"wt\":199998}");
		else
			buf_printf(&b, ",\"f@%d==>f@%d\":{\"ct\":1,\"wt\":%d}", i, i + 1, 199998 - i);
	buf_puts(&b, "}");
	p = read_text(b.data);
	buf_done(&b);
	CHECK(p != NULL);
	if (!p)
		return;
	CHECK_INT(profile_depth(p), 100002);
	CHECK_INT(profile_sum(p, profile_find_column(p, "wall_ns")), 200000000);
	profile_free(p);
}

/* Twenty layers of four functions that each call all of the next: 4^20 stacks. */
TEST(pairs_that_expand_to_too_many_stacks_are_folded_visibly)
{
	struct profile *p;
	struct buf b;
	int64_t total;

	buf_init(&b);
	buf_puts(&b, "{\"main()\":{\"ct\":1,\"wt\":1000000},\"main()==>f0_0\":{\"ct\":4,\"wt\":1000000}");
	for (int layer = 0; layer < 20; layer++)
		for (int i = 0; i < (layer ? 4 : 1); i++)
			for (int k = 0; k < 4; k++)
				buf_printf(&b, ",\"f%d_%d==>f%d_%d\":{\"ct\":4,\"wt\":%d}", layer, i, layer + 1, k,
					   layer ? 50000 - layer * 1000 : 200000);
	buf_puts(&b, "}");
	p = read_text(b.data);
	buf_done(&b);
	CHECK(p != NULL);
	if (!p)
		return;
	total = profile_sum(p, profile_find_column(p, "wall_ns"));
	CHECK_INT(total, 1000000000);
	CHECK(p->node_count > 1000 && p->node_count <= 2 * EDGE_LIST_NODES + 100);
	CHECK(self_of(p, "[folded]", "wall_ns") > 0);
	profile_free(p);
}

TEST(a_request_that_xhgui_exported_keeps_its_url_and_time)
{
	struct profile *p = read_text("{\"meta\":{\"url\":\"/shop?x=1\",\"request_ts_micro\":{\"sec\":1700000000,\"usec\":5}},"
				      "\"profile\":{\"main()\":{\"ct\":1,\"wt\":10}}}");

	CHECK(p != NULL);
	if (!p)
		return;
	CHECK_STR(labels_get(&p->labels, "url"), "/shop?x=1");
	CHECK_INT(p->start_ns, 1700000000000005000);
	CHECK_STR(tree_of(p, "wall_ns"), "main() 10000");
	profile_free(p);
}

TEST(names_of_any_bytes_are_kept)
{
	struct profile *p = profile_new();
	static const char text[] =
		"a:2:{s:6:\"main()\";a:1:{s:2:\"ct\";i:1;}s:13:\"main()==>\xff\0\"x\";a:1:{s:2:\"ct\";i:1;}}";

	CHECK_INT(format_load_bytes("x", text, sizeof(text) - 1, p, &err), 0);
	CHECK_INT(profile_name(p, p->node_frames[2]).n, 4);
	profile_free(p);
	p = read_text("{\"main()\":{\"ct\":1},\"main()==>class@anonymous\\u0000/x.php\\\\u0000\":{\"ct\":1}}");
	CHECK(p != NULL);
	if (!p)
		return;
	CHECK_STR(profile_name(p, p->node_frames[2]).p, "class@anonymous\xe2\x90\x80/x.php\\u0000");
	profile_free(p);
}

static const char *complaint(const char *text)
{
	struct profile *p = read_text(text);

	CHECK(!p);
	profile_free(p);
	return err.text;
}

TEST(errors_name_the_offset_of_malformed_data)
{
	CHECK_STR(complaint("a:1:{s:6:\"main()\";a:1:{s:2:\"ct\";i:1;}"), "'x' (xhprof): at byte 37 the end of the "
		  "array was expected");
	CHECK_STR(complaint("a:1:{s:6:\"main()\";a:1:{s:2:\"ct\";s:1:\"1\";}}"),
		  "'x' (xhprof): at byte 32 a number was " "expected");
	CHECK_STR(complaint("a:9:{s:6:\"main()\";a:1:{s:2:\"ct\";i:1;}}"),
		  "'x' (xhprof): at byte 37 a name was expected, such as main()==>foo");
	CHECK_STR(complaint("{\"main()\":{\"ct\":\"1\"}}"), "'x' (xhprof): 'ct' of 'main()' is not a number");
	CHECK_STR(complaint("{\"main()\":{\"ct\":1}"), "'x' (xhprof): line 1: '}' expected near end of file");
	CHECK_STR(complaint("{\"main()\":[\"ct\"]}"), "'x' (xhprof): 'main()' has no values such as ct and wt");
	CHECK_STR(complaint("a:1:{s:6:\"main()\";a:1:{s:2:\"ct\";i:-1;}}"),
		  "'x' (xhprof): 'ct' of 'main()' is negative, but it is a count");
	CHECK_STR(complaint("{\"main()\":{\"ct\":-5,\"wt\":1}}"), "'x' (xhprof): 'ct' of 'main()' is negative, but it is a count");
	for (size_t n = 1; n < sizeof(serialized) - 1; n++) {
		struct profile *p = profile_new();

		CHECK(format_load_bytes("x", serialized, n, p, &err) < 0);
		profile_free(p);
	}
}

/* --- Writing --- */

static const char *const traced[] = {
	"calls", "count", "wall_ns", "nanoseconds", "cpu_ns", "nanoseconds", "memory_bytes", "bytes",
	"peak_memory_bytes", "bytes",
};

static const char *written(const struct profile *p, int (*write)(const struct profile *, uint32_t, struct buf *,
								 struct err *))
{
	static char text[4000];
	struct buf b;

	buf_init(&b);
	err = (struct err){ 0 };
	CHECK(write(p, UINT32_MAX, &b, &err) >= 0);
	snprintf(text, sizeof(text), "%s", b.data);
	buf_done(&b);
	return text;
}

TEST(data_survives_reading_and_writing_unchanged)
{
	struct profile *p = read_text(serialized);

	CHECK(p != NULL);
	CHECK_STR(written(p, format_xhprof.write),
		  "a:3:{s:6:\"main()\";a:3:{s:2:\"ct\";i:1;s:2:\"wt\";i:100;s:2:\"mu\";i:500;}"
		  "s:11:\"main()==>f\\\";a:3:{s:2:\"ct\";i:2;s:2:\"wt\";i:60;s:2:\"mu\";i:-40;}"
		  "s:13:\"f\\==>strlen()\";a:3:{s:2:\"ct\";i:9;s:2:\"wt\";i:10;s:2:\"mu\";i:0;}}");
	CHECK_STR(err.text, "");
	CHECK_STR(written(p, format_xhprof_json.write),
		  "{\n\"main()\":{\"ct\":1,\"wt\":100,\"mu\":500},\n"
		  "\"main()==>f\\\\\":{\"ct\":2,\"wt\":60,\"mu\":-40},\n"
		  "\"f\\\\==>strlen()\":{\"ct\":9,\"wt\":10,\"mu\":0}\n}\n");
	profile_free(p);
}

TEST(recursive_functions_have_the_level_in_their_name)
{
	struct profile *p = profile_new();

	CHECK_INT(format_load_bytes("x", "main();a;a;b;a 4\na 1\n", 21, p, &err), 0);
	CHECK_STR(written(p, format_xhprof_json.write),
		  "{\n\"main()\":{\"ct\":5,\"samples\":5},\n\"main()==>main()@1\":{\"ct\":4,\"samples\":4},\n"
		  "\"main()@1==>a\":{\"ct\":4,\"samples\":4},\n\"a==>a@1\":{\"ct\":4,\"samples\":4},\n"
		  "\"a@1==>b\":{\"ct\":4,\"samples\":4},\n\"b==>a@2\":{\"ct\":4,\"samples\":4},\n"
		  "\"main()==>a\":{\"ct\":1,\"samples\":1}\n}\n");
	CHECK(strstr(err.text, "ct counts samples, and there is no time"));
	profile_free(p);
}

/* With one caller per function, only fractions of microseconds are lost, and these trees have none. */
TEST(trees_whose_functions_have_one_caller_survive_a_round_trip)
{
	const struct format *const both[] = { &format_xhprof, &format_xhprof_json };
	static const struct tree_options o = { .nodes = 300, .names = 1000000, .columns = 3, .column_names = traced };

	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		struct profile *p = tree_by_chance(&o), *top = profile_new(), *back;
		uint32_t main = profile_frame(top, (struct str){ "main()", 6 }, (struct str){ "", 0 }, 0);
		uint32_t calls = profile_column(top, "calls", "count");
		uint32_t off = profile_column(p, "off_cpu_ns", "nanoseconds");

		/* The tree below main(), with the column that is added on reading. */
		for (uint32_t n = 1; n < p->node_count; n++)
			if (p->columns[1].self[n] - p->columns[2].self[n] != -1000)
				profile_add(p, n, off, p->columns[1].self[n] - p->columns[2].self[n]);
		for (uint32_t c = 1; c < p->column_count; c++)
			profile_column(top, p->columns[c].name, p->columns[c].unit);
		profile_add(top, profile_child(top, PROFILE_ROOT, main), calls, 1);
		for (uint32_t n = 1; n < p->node_count; n++) {
			uint32_t f = profile_frame(top, profile_name(p, p->node_frames[n]), (struct str){ "", 0 }, 0);
			/* Numbers of nodes in `top` are one higher than in `p`. */
			uint32_t node = profile_child(top, p->parents[n] + 1, f);

			CHECK_INT(node, n + 1);
			for (uint32_t c = 0; c < p->column_count; c++)
				profile_add(top, node, c, p->columns[c].self[n]);
		}
		back = round_trip(both[i], top, UINT32_MAX);
		CHECK(back && same_lines(top, back));
		profile_free(p);
		profile_free(top);
		profile_free(back);
	}
}

/* For functions with many callers, the callees are divided by time, and self values stay the same. */
TEST(self_values_survive_a_round_trip_of_any_layered_tree)
{
	static const struct tree_options o = {
		.nodes = 60, .names = 5, .columns = 5, .column_names = traced, .layered = true, .below_zero = true,
	};

	for (int i = 0; i < 20; i++) {
		struct profile *p = tree_by_chance(&o), *back;

		/* Only memory may be negative. */
		for (uint32_t n = 0; n < p->node_count; n++)
			for (uint32_t c = 0; c < 3; c++)
				p->columns[c].self[n] = llabs(p->columns[c].self[n]);
		back = round_trip(i % 2 ? &format_xhprof : &format_xhprof_json, p, UINT32_MAX);
		for (uint32_t f = 0; back && f < p->frame_count; f++)
			for (uint32_t c = 0; c < 5; c++) {
				const char *name = profile_name(p, f).p;

				CHECK_INT(self_of(back, name, p->columns[c].name),
					  self_of(p, name, p->columns[c].name));
			}
		CHECK(back != NULL);
		profile_free(p);
		profile_free(back);
	}
}

/* Any callers, recursion of any kind, and functions that call each other in a cycle. */
TEST(functions_of_any_tree_keep_their_values)
{
	struct tree_options o = { .nodes = 100, .columns = 3, .column_names = traced };
	unsigned rounds = 0, with_edges = 0;

	for (unsigned i = 0; i < 40; i += test_every(3), rounds++) {
		struct profile *p, *back;

		o.names = 2 + i % 9;
		p = tree_by_chance(&o);
		back = round_trip(i % 2 ? &format_xhprof : &format_xhprof_json, p, UINT32_MAX);
		CHECK(back && same_functions(p, back));
		for (uint32_t f = 0; back && f < p->frame_count; f++)
			for (uint32_t c = 0; c < p->column_count; c++)
				CHECK_INT(self_in(back, profile_find_column(back, p->columns[c].name), profile_name(p, f),
						  profile_file(p, f)),
					  self_in(p, c, profile_name(p, f), profile_file(p, f)));
		with_edges += back && back->edges;
		profile_free(p);
		profile_free(back);
	}
	CHECK(with_edges > rounds * 3 / 4);
}

static int64_t total_of(const struct profile *p, const char *name, bool *ret_at_most)
{
	struct edges_sums sums;
	int64_t total = -1;

	edges_sums(p, &sums);
	for (uint32_t f = 0; f < p->frame_count; f++)
		if (!strcmp(profile_name(p, f).p, name) && sums.known[f]) {
			total = sums.total[f][profile_find_column(p, "wall_ns")];
			*ret_at_most = sums.at_most[f];
		}
	edges_sums_done(&sums);
	return total;
}

/* Limits read from callgrind without levels stay limits when written as xhprof's pairs. */
TEST(totals_of_cycles_without_levels_stay_upper_bounds)
{
	static const char text[] = "version: 1\ncreator: callgrind-3\nevents: wall_ns\nfn=main\n1 10000\ncfn=a\ncalls=1 1\n"
				   "1 60000\ncfn=b\ncalls=1 1\n1 45000\nfn=a\n1 35000\ncfn=b\ncalls=2 1\n1 65000\n"
				   "fn=b\n1 70000\ncfn=a\ncalls=2 1\n1 40000\n";
	struct profile *p = read_text(text), *back;
	bool at_most = false;

	CHECK(p != NULL);
	back = round_trip(&format_xhprof, p, UINT32_MAX);
	CHECK(back != NULL);
	for (int i = 0; back && i < 2; i++) {
		CHECK_INT(total_of(i ? back : p, "a", &at_most), 100000);
		CHECK(at_most);
		CHECK_INT(total_of(i ? back : p, "b", &at_most), 105000);
		CHECK(at_most);
		CHECK_INT(total_of(i ? back : p, "main", &at_most), 115000);
		CHECK(!at_most);
	}
	profile_free(p);
	profile_free(back);
}

/* c has no time, so the tree built from callgrind's pairs has it next to main(). */
TEST(main_stays_one_function_with_one_call)
{
	static const char text[] = "{\"main()\": {\"ct\": 1, \"wt\": 3}, \"main()==>a\": {\"ct\": 1, \"wt\": 3}, "
				   "\"a==>b\": {\"ct\": 1, \"wt\": 3}, \"b==>a@1\": {\"ct\": 1, \"wt\": 1}, "
				   "\"a@1==>b\": {\"ct\": 1, \"wt\": 1}, \"a@1==>c\": {\"ct\": 1, \"wt\": 0}}";
	struct profile *p = read_text(text), *pairs, *back;

	CHECK(p != NULL);
	pairs = round_trip(&format_callgrind, p, UINT32_MAX);
	CHECK(pairs != NULL);
	back = round_trip(&format_xhprof, pairs, UINT32_MAX);
	CHECK(back != NULL);
	for (uint32_t f = 0; back && f < back->frame_count; f++)
		CHECK_INT(self_in(back, profile_find_column(back, "calls"), profile_name(back, f), profile_file(back, f)),
			  self_in(p, profile_find_column(p, "calls"), profile_name(back, f), profile_file(p, f)));
	profile_free(p);
	profile_free(pairs);
	profile_free(back);
}

TEST(recursion_levels_are_one_function_and_single_callers_need_no_edges)
{
	struct profile *p = read_text("{\"main()\":{\"ct\":1,\"wt\":10},\"main()==>r\":{\"ct\":1,\"wt\":9},"
				      "\"r==>r@1\":{\"ct\":1,\"wt\":6},\"r@1==>r@12\":{\"ct\":1,\"wt\":2}}");

	CHECK(p && !p->edges && !p->estimated);
	CHECK_INT(p ? p->frame_count : 0, 2);
	profile_free(p);
}

TEST(samples_are_read_back_as_samples_instead_of_calls)
{
	struct profile *p = profile_new(), *back;

	CHECK_INT(format_load_bytes("x", "main();a;b 4\nmain();c 1\n", 24, p, &err), 0);
	back = round_trip(&format_xhprof, p, UINT32_MAX);
	CHECK(back && same_lines(p, back));
	profile_free(p);
	profile_free(back);
}

TEST(fractions_of_samples_and_microseconds_are_kept)
{
	static const char *const texts[] = {
		"{\"main()\":{\"ct\":2,\"samples\":2},\"main()==>a\":{\"ct\":1.6,\"samples\":1.6},\"a==>b\":{\"ct\":0.4,\"samples\":0.4}}",
		"a:3:{s:6:\"main()\";a:1:{s:7:\"samples\";i:2;}s:10:\"main()==>a\";a:1:{s:7:\"samples\";d:1.6;}s:5:\"a==>b\";a:1:{s:7:"
		"\"samples\";d:0.4;}}",
	};
	struct profile *p;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		p = read_text(texts[i]);
		CHECK_STR(p->columns[profile_find_column(p, "samples")].unit, PROFILE_MILLIONTHS);
		CHECK_STR(tree_of(p, "samples"), "main() 400000,main();a 1200000,main();a;b 400000");
		profile_free(p);
	}
	p = read_text("{\"main()\":{\"ct\":1,\"wt\":10.25},\"main()==>a\":{\"ct\":2,\"wt\":5.125}}");
	CHECK_STR(tree_of(p, "wall_ns"), "main() 5125,main();a 5125");
	profile_free(p);
}

TEST(stacks_sampled_by_xhprof_are_read)
{
	static const char *const texts[] = {
		"a:2:{s:17:\"1380818838.100000\";s:14:\"main()==>foo\\a\";s:17:\"1380818838.300000\";s:14:\"main()==>foo\\a\";}",
		"{\"1380818838.100000\": \"main()==>foo\\\\a\", \"1380818838.300000\": \"main()==>foo\\\\a\"}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct profile *p = read_text(texts[i]);

		CHECK(p != NULL);
		if (!p)
			continue;
		CHECK_STR(tree_of(p, "samples"), "main() 0,main();foo\\a 2");
		CHECK_INT(p->start_ns, 1380818838100000000);
		CHECK_INT(p->end_ns, 1380818838300000000);
		profile_free(p);
	}
}

TEST(numbers_above_the_precision_of_doubles_are_kept)
{
	struct profile *p = read_text("{\"main()\":{\"ct\":9007199254740993,\"mu\":-9007199254740993}}");

	CHECK(p != NULL);
	CHECK_STR(tree_of(p, "calls"), "main() 9007199254740993");
	CHECK_STR(written(p, format_xhprof_json.write),
		  "{\n\"main()\":{\"ct\":9007199254740993,\"mu\":-9007199254740993}\n}\n");
	profile_free(p);
}

TEST(numbers_above_64_bits_are_rejected)
{
	static const char *const texts[] = {
		"a:1:{s:6:\"main()\";a:1:{s:2:\"wt\";i:9223372036854775808;}}",
		"a:1:{s:6:\"main()\";a:1:{s:2:\"wt\";i:9223372036854776;}}",	/* microseconds */
		"a:1:{s:6:\"main()\";a:1:{s:2:\"wt\";d:1.5E+25;}}",
		"a:1:{s:6:\"main()\";a:1:{s:2:\"wt\";d:-INF;}}",
		"{\"main()\":{\"wt\":1e300}}",
		"{\"main()\":{\"wt\":{\"$numberLong\":\"99999999999999999999\"}}}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		CHECK_STR(complaint(texts[i]), "'x' (xhprof): 'wt' of 'main()' does not fit into 64 bits");
	CHECK_STR(complaint("{\"main()\":{\"wt\":{\"$numberLong\":\"12x\"}}}"), "'x' (xhprof): 'wt' of 'main()' is not a number");
}

TEST(negative_times_are_kept)
{
	struct profile *p = read_text("{\"main()\":{\"ct\":1,\"wt\":-3}}");

	CHECK(p != NULL);
	CHECK_STR(tree_of(p, "wall_ns"), "main() -3000");
	profile_free(p);
}

TEST(functions_without_a_name_are_shown)
{
	struct profile *p = read_text("{\"main()==>\":{\"ct\":2,\"wt\":3},\"main()\":{\"ct\":1,\"wt\":4}}");

	CHECK(p != NULL);
	CHECK_STR(tree_of(p, "calls"), "main() 1,main();[unknown] 2");
	profile_free(p);
}

TEST_MAIN()

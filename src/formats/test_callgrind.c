/* test_callgrind.c: tests round trips of functions and their calls, and files written by callgrind. */
#include "test.h"
#include "edges.h"
#include "test_read.h"

static const char *const columns[] = { "calls", "count", "wall_ns", "nanoseconds", "memory_bytes", "bytes" };

/* The same, but frees the profile. */
static const char *last_lines_of(struct profile *p)
{
	const char *text = lines_of(p);

	profile_free(p);
	return text;
}

static const char *written(const char *folded)
{
	static char text[8000];
	struct profile *p = read_text(folded);
	struct buf b;

	buf_init(&b);
	if (!p || format_callgrind.write(p, UINT32_MAX, &b, &err) < 0)
		CHECK(false);
	snprintf(text, sizeof(text), "%s", b.data);
	buf_done(&b);
	profile_free(p);
	return text;
}

TEST(recursive_functions_get_a_level_in_their_name_so_that_sums_are_exact)
{
	CHECK_STR(written("a 1\na;b 2\na;b;a 4\na;b;a;b 8\n"),
		  "# callgrind format\nversion: 1\ncreator: strobe-" STROBE_VERSION "\ndesc: calls: not counted\n"
		  "positions: line\n" "event: samples : samples (count)\nevents: samples\n"
		  "\nfl=(2) ???\nfn=(1) (root)\ncfn=(2) a\ncalls=1 0\n0 15\n"
		  "\nfn=(2)\n0 1\ncfn=(3) b\ncalls=1 0\n0 14\n"
		  "\nfn=(3)\n0 2\ncfn=(4) a'2\ncalls=1 0\n0 12\n"
		  "\nfn=(4)\n0 4\ncfn=(5) b'2\ncalls=1 0\n0 8\n"
		  "\nfn=(5)\n0 8\n"
		  "\ntotals: 15\n");
	CHECK_STR(last_lines_of(read_text(written("a 1\na;b 2\na;b;a 4\na;b;a;b 8\n"))),
		  "a[:0]; samples(count)=1\na[:0];b[:0]; samples(count)=2\na[:0];b[:0];a[:0]; samples(count)=4\n"
		  "a[:0];b[:0];a[:0];b[:0]; samples(count)=8\n");
}

/* With one caller per function, nothing is lost. */
TEST(trees_whose_functions_have_one_caller_survive_a_round_trip)
{
	static const struct tree_options o = {
		.nodes = 300, .names = 1000000, .columns = 3, .column_names = columns, .files = true,
	};

	for (int i = 0; i < 10; i++) {
		struct profile *p = tree_by_chance(&o), *back;

		labels_parse("entry=index.php,host=web1", &p->labels, NULL);
		profile_add(p, PROFILE_ROOT, 1, 5);
		back = round_trip(&format_callgrind, p, UINT32_MAX);
		CHECK(back && same_lines(p, back));
		if (back)
			CHECK_STR(labels_get(&back->labels, "entry"), "index.php");
		profile_free(p);
		profile_free(back);
	}
}

static int64_t self_of(const struct profile *p, uint32_t column, const struct profile *of, uint32_t frame)
{
	int64_t sum = 0;

	for (uint32_t n = 1; n < p->node_count; n++) {
		struct str a = profile_name(p, p->node_frames[n]), b = profile_name(of, frame);
		struct str c = profile_file(p, p->node_frames[n]), d = profile_file(of, frame);

		if (a.n == b.n && !memcmp(a.p, b.p, a.n) && c.n == d.n && !memcmp(c.p, d.p, c.n))
			sum += p->columns[column].self[n];
	}
	return sum;
}

/* Any callers, recursion of any kind, and functions that call each other in a cycle. */
TEST(functions_of_any_tree_keep_their_values)
{
	struct tree_options o = { .nodes = 200, .names = 4, .columns = 3, .column_names = columns, .files = true };

	for (unsigned i = 0; i < 40; i += test_every(3)) {
		struct profile *p, *back;

		o.layered = i % 2;
		o.executed = i >= 20;
		o.names = 2 + i % 7;
		p = tree_by_chance(&o);
		back = round_trip(&format_callgrind, p, UINT32_MAX);
		CHECK(back && same_functions(p, back));
		for (uint32_t c = 0; back && c < 3; c++) {
			uint32_t to = profile_find_column(back, p->columns[c].name);

			for (uint32_t f = 0; f < p->frame_count; f++)
				CHECK_INT(self_in(back, to, profile_name(p, f), profile_file(p, f)),
					  self_of(p, c, p, f));
			CHECK_INT(profile_sum(back, to), profile_sum(p, c));
			for (uint32_t n = 0; n < back->node_count; n++)
				CHECK(back->columns[to].self[n] >= 0);
		}
		profile_free(p);
		profile_free(back);
	}
}

/* f is called from two lines of the script, g from one line of f, which also has self time on two lines. */
TEST(costs_are_attributed_to_executed_lines)
{
	static const struct { uint32_t main, f, g, samples; } stacks[] = {
		{ 20, 0, 0, 1 }, { 21, 5, 0, 2 }, { 22, 5, 0, 4 }, { 22, 6, 0, 8 }, { 22, 6, 9, 16 },
	};
	struct profile *p = profile_new();
	uint32_t c = profile_column(p, "samples", "count");
	struct buf b;

	profile_keep_lines(p, true);
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++) {
		uint32_t node = profile_child_at(p, PROFILE_ROOT, profile_frame(p, (struct str){ "main", 4 }, (struct str){ "a", 1 }, 1),
						 stacks[i].main);

		if (stacks[i].f)
			node = profile_child_at(p, node, profile_frame(p, (struct str){ "f", 1 }, (struct str){ "a", 1 }, 4), stacks[i].f);
		if (stacks[i].g)
			node = profile_child_at(p, node, profile_frame(p, (struct str){ "g", 1 }, (struct str){ "a", 1 }, 8), stacks[i].g);
		profile_add(p, node, c, stacks[i].samples);
	}
	buf_init(&b);
	CHECK_INT(format_callgrind.write(p, UINT32_MAX, &b, &err), 0);
	CHECK(b.data && strstr(b.data, "\nfn=(2)\n20 1\ncfn=(3) f\ncalls=1 4\n21 2\ncfn=(3)\ncalls=2 4\n22 28\n"));
	CHECK(b.data && strstr(b.data, "\nfn=(3)\n5 6\n6 8\ncfn=(4) g\ncalls=1 8\n6 16\n"));
	CHECK(b.data && strstr(b.data, "\nfn=(4)\n9 16\n"));
	buf_done(&b);
	profile_free(p);
}

TEST(negative_values_and_line_breaks_in_names_are_reported)
{
	struct profile *p = profile_new();
	uint32_t c = profile_column(p, "memory_bytes", "bytes"), node;
	struct buf b;

	buf_init(&b);
	node = profile_child(p, 0, profile_frame(p, (struct str){ "a\nfn=evil", 9 }, (struct str){ "", 0 }, 0));
	profile_add(p, node, c, 7);
	profile_add(p, profile_child(p, node, profile_frame(p, (struct str){ "b\0c", 3 }, (struct str){ "", 0 }, 0)), c,
		    -3);
	CHECK_INT(format_callgrind.write(p, UINT32_MAX, &b, &err), 3);
	CHECK_STR(err.text, "1 stack with a value below zero (-3 B of memory_bytes in all) is left out; "
			    "2 names contain NUL or newline characters, which were replaced by U+FFFD");
	CHECK(strstr(b.data, "cfn=(2) a\xef\xbf\xbd" "fn=evil\ncalls=1 0\n0 7\n"));
	buf_done(&b);
	profile_free(p);
}

/* Rounding in the tree built from pairs may lose nanoseconds; but the pairs are what is written. */
TEST(writing_pairs_reports_no_losses_of_the_tree)
{
	struct profile *p = profile_new();
	uint32_t c = profile_column(p, "wall_ns", "nanoseconds"), a, node, pair;
	struct buf b;

	buf_init(&b);
	a = profile_frame(p, (struct str){ "a", 1 }, (struct str){ "", 0 }, 0);
	node = profile_child(p, 0, a);
	profile_add(p, node, c, 7);
	profile_add(p, profile_child(p, node, a), c, -1);
	p->edges = edges_new();
	node = edges_node(p->edges, a, 0);
	p->edges->nodes[node].self[c] = 6;
	pair = edges_pair(p->edges, EDGES_ROOT, node);
	p->edges->pairs[pair].value[c] = 6;
	CHECK_INT(format_callgrind.write(p, UINT32_MAX, &b, &err), 0);
	p->edges->nodes[node].self[c] = -6;
	CHECK_INT(format_callgrind.write(p, UINT32_MAX, &b, &err), 1);
	CHECK_STR(err.text, "1 function with a value below zero (-6 ns of wall_ns in all) is left out");
	buf_done(&b);
	profile_free(p);
}

TEST(output_of_callgrind_is_read)
{
	static const char text[] =
		"version: 1\ncreator: callgrind-3.19.0\npid: 12\ncmd:  ./prog x\npart: 1\n\n\ndesc: I1 cache: \n\n"
		"desc: Timerange: Basic block 0 - 1\npositions: instr line\nevents: Ir Dr\nsummary: 100 10\n\n\n"
		"ob=(1) /bin/prog\nfl=(1) main.c\nfn=(1) main\n0x401000 16 10 5\n+4 +1 5\ncfn=(2) work\n"
		"calls=2 0x402000 30\n* * 60\n"
		"cob=(2) /lib/libc.so\ncfi=(2) ???\ncfn=(3) malloc\ncalls=1 0x10\n+3 -2 25 1\n"
		"\nfn=(2)\n0x402000 30 20\nfi=(3) inline.h\n+8 4 20 1\njump=3 +4 +1\n* *\nfe=(1)\n"
		"cfn=(2)\ncalls=1 +0 +0\n* * 30\n"
		"cob=(2)\ncfi=(2)\ncfn=(3)\ncalls=4 0\n* * 20 3\n"
		"\nob=(2)\nfl=(2)\nfn=(3)\n0x10 0 45 4\n\ntotals: 100 10\n";

	CHECK_STR(last_lines_of(read_text(text)),
		  "main[main.c:0]; Dr(count)=5 Ir(count)=15 calls(count)=1\n"
		  "main[main.c:0];malloc[/lib/libc.so:0]; Dr(count)=1 Ir(count)=25 calls(count)=1\n"
		  "main[main.c:0];work[main.c:0]; Dr(count)=1 Ir(count)=40 calls(count)=3\n"
		  "main[main.c:0];work[main.c:0];malloc[/lib/libc.so:0]; Dr(count)=3 Ir(count)=20 calls(count)=4\n");
	CHECK_STR(err.text, "");
}

/* main -> a -> b -> a: the file has them as three pairs, and the totals of a and b exceed the overall total. */
TEST(functions_in_a_call_cycle_keep_their_self_values)
{
	struct profile *p = read_text("events: Ir\nfn=main\n1 10\ncfn=a\ncalls=1 1\n1 90\n\nfn=a\n1 30\ncfn=b\n"
				      "calls=2 1\n1 60\n\n" "fn=b\n1 60\ncfn=a\ncalls=1 1\n1 25\n");

	CHECK(p != NULL);
	if (!p)
		return;
	CHECK_STR(p->columns[0].name, "Ir");
	CHECK_INT(profile_sum(p, 0), 100);
	CHECK_STR(last_lines_of(p), "main[:0]; Ir(count)=10 calls(count)=1\n"
		  "main[:0];a[:0]; Ir(count)=30 calls(count)=2\n"
		  "main[:0];a[:0];b[:0]; Ir(count)=60 calls(count)=2\n");
}

/* valgrind's --separate-recs=2, its default: foo is never within foo, foo'2 may be within foo'2. The costs are those
 * of a program with two functions that call each other; callgrind_annotate --inclusive=yes reports 4,722 for a and
 * 4,906 for b. */
static int64_t inclusive(const struct profile *p, const char *name)
{
	struct edges_sums sums;
	int64_t total = -1;

	edges_sums(p, &sums);
	for (uint32_t f = 0; f < p->frame_count; f++)
		if (!strcmp(profile_name(p, f).p, name) && sums.known[f] && !sums.at_most[f])
			total = sums.total[f][0];
	edges_sums_done(&sums);
	return total;
}

TEST(functions_separated_by_recursion_level_have_inclusive_costs_of_valgrind)
{
	struct profile *p = read_text(
		"version: 1\ncreator: callgrind-3.19.0\npositions: line\nevents: Ir\n"
		"fl=(1) cg.c\nfn=(1) leaf\n3 6387\n\nfn=(2) a\n5 40\ncfn=(1)\ncalls=3 3\n5 915\ncfn=(3) b\ncalls=1 6\n"
		"5 2951\ncfn=(4) b'2\ncalls=1 6\n5 816\n\nfn=(5) a'2\n5 52\ncfn=(1)\ncalls=4 3\n5 1220\ncfn=(4)\n"
		"calls=3 6\n5 2307\n\nfn=(3)\n6 36\ncfn=(1)\ncalls=2 3\n6 970\ncfn=(5)\ncalls=2 5\n6 2449\ncfn=(2)\n"
		"calls=2 5\n6 1451\n\nfn=(4)\n6 52\ncfn=(1)\ncalls=4 3\n6 1940\ncfn=(5)\ncalls=2 5\n6 1130\n\n"
		"fn=(6) main\n9 30\ncfn=(2)\ncalls=1 5\n9 3271\ncfn=(3)\ncalls=1 6\n9 1955\n");

	CHECK(p && p->edges && !p->edges->levels);
	CHECK_INT(inclusive(p, "a"), 4722);
	CHECK_INT(inclusive(p, "b"), 4906);
	CHECK_INT(inclusive(p, "leaf"), 6387);
	profile_free(p);
}

TEST(errors_name_the_malformed_line)
{
	CHECK_STR(last_lines_of(read_text("version: 1\nevents: Ir\nfn=(1)\n")), "'x' (callgrind): line 3: the name (1) is "
		  "undefined");
	CHECK_STR(last_lines_of(read_text("version: 1\nfn=a\n1 1\nevents: Ir\n")),
		  "'x' (callgrind): line 2: a function precedes the line with events:");
	CHECK_STR(last_lines_of(read_text("events: Ir\n1 1\nfn=a\n")), "'x' (callgrind): line 2: costs precede "
		"their function");
	CHECK_STR(last_lines_of(read_text("events: Ir\nfl=a\n")), "'x' (callgrind): it has no functions");
	CHECK_STR(last_lines_of(read_text("events: Ir\nfn=a\n1 7\n1 x\nnonsense\n")),
		  "a[:0]; Ir(count)=7 calls(count)=1\n");
	CHECK_STR(err.text, "'x' (callgrind): line 4 is not of callgrind's format: '1 x'");
}

TEST(events_of_xdebug_are_time_and_memory)
{
	CHECK_STR(last_lines_of(read_text("version: 1\ncreator: xdebug 3.4.0 (PHP 8.2)\npositions: line\n"
					  "events: Time_(10ns) Memory_(bytes)\n\nfl=(1) a.php\nfn=(1) work\n3 1200 64\n")),
		  "work[a.php:0]; calls(count)=1 memory_bytes(bytes)=64 wall_ns(nanoseconds)=12000\n");
}

TEST_MAIN()

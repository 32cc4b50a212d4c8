/* test_edges.c: callers and callees add up, also with recursion. */

#include "diff.h"
#include "edges.h"
#include "mem.h"
#include "report.h"
#include "test.h"
#include "test_letters.h"
#include "test_random.h"

static void edges_to(const struct profile *p, char letter, enum report_direction direction, struct report_edges *ret)
{
	_cleanup_(freep) bool *of = xcalloc(p->frame_count + 1, sizeof(*of));

	for (uint32_t f = 0; f < p->frame_count; f++)
		of[f] = profile_name(p, f).p[0] == letter;
	report_edges(p, of, direction, 0, ret);
}

/* Returns the value of the edge to `letter` ('-': the root); INT64_MIN if there is none. */
static int64_t value_of(const struct profile *p, const struct report_edges *e, char letter, uint32_t column)
{
	for (size_t i = 0; i < e->count; i++) {
		uint32_t f = e->edges[i].frame;

		if (f == REPORT_NO_CALLER ? letter == '-' : profile_name(p, f).p[0] == letter)
			return e->edges[i].values[column];
	}
	return INT64_MIN;
}

TEST(values_of_callers_and_callees_are_sums_of_edges)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(report_edges_done) struct report_edges in = { 0 }, out = { 0 };

	add(p, "maf", "samples", 1);
	add(p, "mafx", "samples", 10);
	add(p, "mbf", "samples", 2);
	add(p, "mbfx", "samples", 20);
	add(p, "mbfy", "samples", 200);
	add(p, "fy", "samples", 4000);
	add(p, "mx", "samples", 50000);
	edges_to(p, 'f', REPORT_CALLERS, &in);
	edges_to(p, 'f', REPORT_CALLEES, &out);
	CHECK_INT(in.self[0], 3);
	CHECK_INT(in.total[0], 4233);
	CHECK_INT(in.count, 3);
	CHECK_INT(in.edges[0].frame, REPORT_NO_CALLER);
	CHECK_INT(value_of(p, &in, '-', 0), 4000);
	CHECK_INT(value_of(p, &in, 'b', 0), 222);
	CHECK_INT(value_of(p, &in, 'a', 0), 11);
	CHECK_INT(out.count, 2);
	CHECK_INT(value_of(p, &out, 'y', 0), 4200);
	CHECK_INT(value_of(p, &out, 'x', 0), 30);
	CHECK_INT(out.again[0], 0);
}

TEST(direct_recursion_counts_once)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(report_edges_done) struct report_edges in = { 0 }, out = { 0 };

	add(p, "mf", "samples", 1);
	add(p, "mff", "samples", 10);
	add(p, "mfff", "samples", 100);
	add(p, "mfffx", "samples", 1000);
	edges_to(p, 'f', REPORT_CALLERS, &in);
	edges_to(p, 'f', REPORT_CALLEES, &out);
	CHECK_INT(in.total[0], 1111);
	CHECK_INT(in.self[0], 111);
	CHECK_INT(in.again[0], 1110);
	CHECK_INT(in.count, 1);
	CHECK_INT(value_of(p, &in, 'm', 0), 1111);
	CHECK_INT(out.count, 1);
	CHECK_INT(value_of(p, &out, 'x', 0), 1000);
}

TEST(mutual_recursion_counts_once_too)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(report_edges_done) struct report_edges in = { 0 }, out = { 0 };

	/* In mfgfg, the outermost f was called by m, the innermost one called g. */
	add(p, "mfgfg", "samples", 7);
	add(p, "mfgf", "samples", 30);
	add(p, "mfg", "samples", 500);
	edges_to(p, 'f', REPORT_CALLERS, &in);
	edges_to(p, 'f', REPORT_CALLEES, &out);
	CHECK_INT(in.total[0], 537);
	CHECK_INT(in.self[0], 30);
	CHECK_INT(in.again[0], 37);
	CHECK_INT(value_of(p, &in, 'm', 0), 537);
	CHECK_INT(value_of(p, &in, 'g', 0), INT64_MIN);
	CHECK_INT(value_of(p, &out, 'g', 0), 507);
}

TEST(each_call_belongs_to_one_edge_and_recursive_calls_are_shown)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(report_edges_done) struct report_edges in = { 0 }, out = { 0 };
	uint32_t calls;

	add(p, "m", "wall_ns", 5);
	add(p, "mf", "wall_ns", 10);
	add(p, "mff", "wall_ns", 20);
	calls = profile_column(p, "calls", "count");
	add(p, "m", "calls", 1);
	add(p, "mf", "calls", 3);
	add(p, "mff", "calls", 40);
	add(p, "mffx", "calls", 6);
	edges_to(p, 'f', REPORT_CALLERS, &in);
	edges_to(p, 'f', REPORT_CALLEES, &out);
	CHECK_INT(in.self[calls], 43);
	CHECK_INT(value_of(p, &in, 'm', calls), 3);
	CHECK_INT(value_of(p, &in, 'f', calls), 40);
	CHECK_INT(value_of(p, &in, 'f', 0), 0);
	CHECK_INT(value_of(p, &in, 'm', 0), 30);
	CHECK_INT(value_of(p, &out, 'f', calls), 40);
	CHECK_INT(value_of(p, &out, 'x', calls), 6);
}

/* Calls on both sides of a comparison are counted per edge, as in a single profile. */
TEST(calls_in_a_comparison_are_counted_per_side)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();

	add(p, "m", "calls", 1);
	add(p, "mf", "calls", 3);
	add(p, "mff", "calls", 40);
	add(p, "mffx", "calls", 6);
	for (int exact = 0; exact < 2; exact++) {
		struct diff_options o = { 0 };
		_cleanup_(diff_done) struct diff d = { 0 };
		_cleanup_(report_edges_done) struct report_edges in = { 0 }, out = { 0 };
		_cleanup_(freep) struct flat_row *rows = NULL;
		size_t count;

		if (exact)
			p->edges = edges_of(p, &(struct edges_options){ .column = UINT32_MAX });
		CHECK_INT(profile_diff(p, 0, p, 0, &o, &d, NULL), 0);
		edges_to(d.profile, 'f', REPORT_CALLERS, &in);
		edges_to(d.profile, 'f', REPORT_CALLEES, &out);
		rows = report_flat(d.profile, d.after, REPORT_SORT_TOTAL, &count);
		CHECK_INT(count, 3);
		for (size_t i = 0; i < count; i++)
			CHECK_INT(rows[i].total, rows[i].self);
		for (uint32_t c = 0; c < 2; c++) {
			CHECK_INT(in.self[c], 43);
			CHECK_INT(in.total[c], 43);
			CHECK_INT(value_of(d.profile, &in, 'm', c), 3);
			CHECK_INT(value_of(d.profile, &in, 'f', c), 40);
			CHECK_INT(value_of(d.profile, &out, 'x', c), 6);
		}
	}
}

TEST(freed_memory_and_overflowing_values_keep_their_signs)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(report_edges_done) struct report_edges out = { 0 }, in = { 0 };

	add(p, "fx", "memory_bytes", -4096);
	add(p, "fy", "memory_bytes", 1000);
	add(p, "az", "memory_bytes", INT64_MAX);
	add(p, "bz", "memory_bytes", INT64_MAX);
	edges_to(p, 'f', REPORT_CALLEES, &out);
	CHECK_INT(out.total[0], -3096);
	CHECK_INT(value_of(p, &out, 'x', 0), -4096);
	CHECK_INT(out.edges[1].values[0], -4096);
	edges_to(p, 'z', REPORT_CALLERS, &in);
	CHECK_INT(in.total[0], INT64_MAX);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Few functions and deep stacks give all kinds of recursion. */
static void grow(struct profile *p, uint32_t seed)
{
	uint32_t state = seed;

	for (int i = 0; i < 200; i++) {
		char letters[13];
		size_t depth = 1 + next_random(&state) % 12;

		for (size_t k = 0; k < depth; k++)
			letters[k] = (char)('a' + next_random(&state) % (2 + seed % 5));
		letters[depth] = '\0';
		add(p, letters, "wall_ns", (int64_t)(next_random(&state) % 1000) - (seed % 3 == 0 ? 300 : 0));
		add(p, letters, "calls", next_random(&state) % 5);
	}
}

static int64_t sum_of(const struct report_edges *e, uint32_t column)
{
	int64_t sum = 0;

	for (size_t i = 0; i < e->count; i++)
		sum += e->edges[i].values[column];
	return sum;
}

TEST(callees_add_up_to_total_minus_self_and_callers_to_total_in_any_tree)
{
	for (uint32_t seed = 1; seed < 60; seed++) {
		_cleanup_(profile_freep) struct profile *p = profile_new();
		_cleanup_(freep) struct flat_row *rows = NULL;
		size_t n;

		grow(p, seed);
		rows = report_flat(p, 0, REPORT_SORT_SELF, &n);
		for (size_t i = 0; i < n; i++) {
			_cleanup_(report_edges_done) struct report_edges in = { 0 }, out = { 0 };
			char letter = profile_name(p, rows[i].frame).p[0];

			edges_to(p, letter, REPORT_CALLERS, &in);
			edges_to(p, letter, REPORT_CALLEES, &out);
			CHECK_INT(in.total[0], rows[i].total);
			CHECK_INT(in.self[0], rows[i].self);
			CHECK_INT(sum_of(&in, 0), rows[i].total);
			CHECK_INT(sum_of(&out, 0), rows[i].total - rows[i].self);
			CHECK_INT(sum_of(&in, 1), in.self[1]);
		}
	}
}

TEST(the_table_shows_the_function_and_both_sides)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(buf_done) struct buf out = { 0 };
	struct report_options o = { .limit = 1 };
	bool of[4] = { false };

	add(p, "mf", "samples", 10);
	add(p, "mfx", "samples", 60);
	add(p, "mfy", "samples", 20);
	add(p, "f", "samples", 10);
	CHECK_INT(report_find(p, "f", of, NULL), 1);
	buf_init(&out);
	CHECK_INT(report_edges_table(p, of, of, &o, &out, NULL), 0);
	CHECK_STR(out.data, "f\n"
			    "  samples: self 20 (20.0%), total 100 (100.0%)\n"
			    "function%  all%  samples  caller\n"
			    "     90.0  90.0       90  m\n"
			    "     10.0  10.0       10  [1 more]\n"
			    "\n"
			    "function%  all%  samples  callee\n"
			    "     60.0  60.0       60  x\n"
			    "     20.0  20.0       20  [1 more]\n"
			    "     20.0  20.0       20  [itself]\n");
}

/* --- The same with edges --- */

static const struct edges_options all = { .column = UINT32_MAX };

static struct profile *any_tree(uint32_t nodes, uint32_t functions)
{
	struct profile *p = profile_new();

	profile_column(p, "wall_ns", "nanoseconds");
	profile_column(p, "calls", "count");
	for (uint32_t i = 0; i < nodes; i++) {
		char name = (char)('a' + below(functions));
		uint32_t parent = below(3) ? p->node_count - 1 : below(p->node_count);
		uint32_t node = profile_child(p, parent, profile_frame(p, (struct str){ &name, 1 },
								       (struct str){ "", 0 }, 0));

		profile_add(p, node, 0, 1 + below(100));
		profile_add(p, node, 1, 1 + below(3));
	}
	return p;
}

/* Values must be equal, or marked as a limit and not less. */
static unsigned check_side(const struct profile *p, const struct report_edges *tree, const struct report_edges *e)
{
	unsigned exact = 0;

	CHECK_INT(e->count, tree->count);
	for (size_t i = 0; i < e->count; i++) {
		uint32_t f = e->edges[i].frame;
		char letter = f == REPORT_NO_CALLER ? '-' : profile_name(p, f).p[0];

		CHECK_INT(e->edges[i].values[1], value_of(p, tree, letter, 1));
		if (e->edges[i].at_most)
			CHECK(e->edges[i].values[0] >= value_of(p, tree, letter, 0));
		else
			CHECK_INT(e->edges[i].values[0], value_of(p, tree, letter, 0));
		exact += !e->edges[i].at_most;
	}
	for (uint32_t c = 0; c < p->column_count; c++) {
		CHECK_INT(e->self[c], tree->self[c]);
		if (e->total_at_most)
			CHECK(e->total[c] >= tree->total[c]);
		else
			CHECK_INT(e->total[c], tree->total[c]);
		if (e->again_at_most)
			CHECK(e->again[c] >= tree->again[c]);
		else
			CHECK_INT(e->again[c], tree->again[c]);
	}
	return exact;
}

/* Removes levels, as in files that have none. */
static void lose_levels(struct profile *p)
{
	uint32_t frames[26], columns[] = { 0, 1 };
	const struct edges_places to = { .columns = columns, .frames = frames, .column_count = 2, .fold = true };
	struct edges *folded = edges_new();

	for (uint32_t f = 0; f < p->frame_count; f++)
		frames[f] = f;
	edges_add(folded, p->edges, &to);
	edges_free(p->edges);
	p->edges = folded;
}

TEST(edges_give_the_values_of_the_tree_or_mark_them_as_bounds)
{
	unsigned exact = 0;

	for (int i = 0; i < 600; i++) {
		_cleanup_(profile_freep) struct profile *p = any_tree(1 + below(60), 1 + below(7));
		enum report_direction direction = i % 2 ? REPORT_CALLERS : REPORT_CALLEES;
		_cleanup_(report_edges_done) struct report_edges tree = { 0 }, e = { 0 };
		char letter = profile_name(p, below(p->frame_count)).p[0];

		edges_to(p, letter, direction, &tree);
		p->edges = edges_of(p, &all);
		if (i % 3 == 0)
			lose_levels(p);
		edges_to(p, letter, direction, &e);
		exact += check_side(p, &tree, &e);
		/* Callers of levels are determined. */
		for (size_t k = 0; k < e.count && i % 3 && direction == REPORT_CALLERS; k++)
			CHECK(!e.edges[k].at_most);
	}
	CHECK(exact > 1000);
}

/* Frames with one name in two files are queried together. */
TEST(several_functions_with_one_name_have_valid_bounds)
{
	for (int i = 0; i < 300; i++) {
		_cleanup_(profile_freep) struct profile *p = any_tree(1 + below(40), 3 + below(3));
		enum report_direction direction = i % 2 ? REPORT_CALLERS : REPORT_CALLEES;
		_cleanup_(report_edges_done) struct report_edges tree = { 0 }, e = { 0 };
		bool of[26] = { true, p->frame_count > 1 };

		report_edges(p, of, direction, 0, &tree);
		p->edges = edges_of(p, &all);
		report_edges(p, of, direction, 0, &e);
		check_side(p, &tree, &e);
	}
}

/* a and b call each other down to s, which takes all the time: s gets it, and no other name. */
TEST(time_below_mutual_recursion_is_attributed_to_the_leaf_function)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(freep) struct flat_row *rows = NULL;
	size_t count;

	add(p, "mababs", "wall_ns", 200);
	add(p, "mbabas", "wall_ns", 200);
	p->edges = edges_of(p, &all);
	p->node_count = 1;		/* regardless of the tree */
	rows = report_flat(p, 0, REPORT_SORT_SELF, &count);
	CHECK_INT(count, 4);
	CHECK(profile_name(p, rows[0].frame).p[0] == 's');
	CHECK_INT(rows[0].self, 400);
	for (size_t i = 0; i < count; i++)
		CHECK(rows[i].total == 400 && !rows[i].at_most);
	CHECK_INT(report_whole(p, 0), 400);
}

TEST_MAIN()

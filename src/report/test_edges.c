/* test_edges.c: callers and callees add up, also with recursion. */

#include "mem.h"
#include "report.h"
#include "test.h"
#include "test_letters.h"

static void edges_of(const struct profile *p, char letter, enum report_direction direction, struct report_edges *ret)
{
	_cleanup_(freep) bool *of = xcalloc(p->frame_count + 1, sizeof(*of));

	for (uint32_t f = 0; f < p->frame_count; f++)
		of[f] = profile_name(p, f).p[0] == letter;
	report_edges(p, of, direction, 0, ret);
}

/* The value of the edge to `letter`, '-' is the root; INT64_MIN if there is none. */
static int64_t value_of(const struct profile *p, const struct report_edges *e, char letter, uint32_t column)
{
	for (size_t i = 0; i < e->count; i++) {
		uint32_t f = e->edges[i].frame;

		if (f == REPORT_NO_CALLER ? letter == '-' : profile_name(p, f).p[0] == letter)
			return e->edges[i].values[column];
	}
	return INT64_MIN;
}

TEST(callers_and_callees_of_a_function_are_the_sums_of_its_edges)
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
	edges_of(p, 'f', REPORT_CALLERS, &in);
	edges_of(p, 'f', REPORT_CALLEES, &out);
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
	edges_of(p, 'f', REPORT_CALLERS, &in);
	edges_of(p, 'f', REPORT_CALLEES, &out);
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

	/* Of mfgfg: the outermost f was called by m, the innermost one called g. */
	add(p, "mfgfg", "samples", 7);
	add(p, "mfgf", "samples", 30);
	add(p, "mfg", "samples", 500);
	edges_of(p, 'f', REPORT_CALLERS, &in);
	edges_of(p, 'f', REPORT_CALLEES, &out);
	CHECK_INT(in.total[0], 537);
	CHECK_INT(in.self[0], 30);
	CHECK_INT(in.again[0], 37);
	CHECK_INT(value_of(p, &in, 'm', 0), 537);
	CHECK_INT(value_of(p, &in, 'g', 0), INT64_MIN);
	CHECK_INT(value_of(p, &out, 'g', 0), 507);
}

TEST(each_call_is_of_one_edge_and_recursive_ones_are_shown)
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
	edges_of(p, 'f', REPORT_CALLERS, &in);
	edges_of(p, 'f', REPORT_CALLEES, &out);
	CHECK_INT(in.self[calls], 43);
	CHECK_INT(value_of(p, &in, 'm', calls), 3);
	CHECK_INT(value_of(p, &in, 'f', calls), 40);
	CHECK_INT(value_of(p, &in, 'f', 0), 0);
	CHECK_INT(value_of(p, &in, 'm', 0), 30);
	CHECK_INT(value_of(p, &out, 'f', calls), 40);
	CHECK_INT(value_of(p, &out, 'x', calls), 6);
}

TEST(memory_given_back_and_overflowing_values_keep_their_signs)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(report_edges_done) struct report_edges out = { 0 }, in = { 0 };

	add(p, "fx", "memory_bytes", -4096);
	add(p, "fy", "memory_bytes", 1000);
	add(p, "az", "memory_bytes", INT64_MAX);
	add(p, "bz", "memory_bytes", INT64_MAX);
	edges_of(p, 'f', REPORT_CALLEES, &out);
	CHECK_INT(out.total[0], -3096);
	CHECK_INT(value_of(p, &out, 'x', 0), -4096);
	CHECK_INT(out.edges[1].values[0], -4096);
	edges_of(p, 'z', REPORT_CALLERS, &in);
	CHECK_INT(in.total[0], INT64_MAX);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Few functions and deep stacks, so that there is recursion of every kind. */
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

TEST(callees_add_up_to_total_less_self_and_callers_to_total_in_any_tree)
{
	for (uint32_t seed = 1; seed < 60; seed++) {
		_cleanup_(profile_freep) struct profile *p = profile_new();
		_cleanup_(freep) struct flat_row *rows = NULL;
		size_t n;

		grow(p, seed);
		rows = report_flat(p, 0, false, &n);
		for (size_t i = 0; i < n; i++) {
			_cleanup_(report_edges_done) struct report_edges in = { 0 }, out = { 0 };
			char letter = profile_name(p, rows[i].frame).p[0];

			edges_of(p, letter, REPORT_CALLERS, &in);
			edges_of(p, letter, REPORT_CALLEES, &out);
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
			    "of it%  all%  samples  caller\n"
			    "  90.0  90.0       90  m\n"
			    "  10.0  10.0       10  [1 more]\n"
			    "\n"
			    "of it%  all%  samples  callee\n"
			    "  60.0  60.0       60  x\n"
			    "  20.0  20.0       20  [1 more]\n"
			    "  20.0  20.0       20  [itself]\n");
}

TEST_MAIN()

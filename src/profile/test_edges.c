/* test_edges.c: tests that the pairs of any tree give the same values as the tree, or else a limit. */
#include "edges.h"
#include "mem.h"
#include "test.h"
#include "test_letters.h"
#include "test_random.h"
#include "walk.h"

#include <string.h>

static const struct edges_options all = { .column = UINT32_MAX };

/* Returns a tree of a few functions that call each other at random. */
static struct profile *any_tree(uint32_t nodes, uint32_t functions)
{
	struct profile *p = profile_new();

	profile_column(p, "calls", "count");
	profile_column(p, "wall_ns", "nanoseconds");
	for (uint32_t i = 0; i < nodes; i++) {
		char name[2] = { (char)('a' + below(functions)), 0 };
		uint32_t parent = below(3) ? p->node_count - 1 : below(p->node_count);
		uint32_t node = profile_child(p, parent, profile_frame(p, (struct str){ name, 1 }, (struct str){ "", 0 }, 0));

		profile_add(p, node, 0, 1 + below(3));
		profile_add(p, node, 1, below(100));
	}
	return p;
}

/* Computes values by frame, counted once per stack. */
static void totals_of(const struct profile *p, uint32_t column, int64_t *self, int64_t *total)
{
	for (uint32_t n = 1; n < p->node_count; n++) {
		int64_t v = p->columns[column].self[n];
		bool seen[26] = { false };

		self[p->node_frames[n]] += v;
		for (uint32_t up = n; up; up = p->parents[up]) {
			total[p->node_frames[up]] += seen[p->node_frames[up]] ? 0 : v;
			seen[p->node_frames[up]] = true;
		}
	}
}

TEST(edges_of_any_tree_give_each_function_its_values_in_the_tree)
{
	for (int i = 0; i < 200; i++) {
		_cleanup_(profile_freep) struct profile *p = any_tree(1 + below(120), 1 + below(6));
		_cleanup_(edges_sums_done) struct edges_sums sums = { 0 };
		int64_t self[26] = { 0 }, total[26] = { 0 };

		totals_of(p, 1, self, total);
		p->edges = edges_of(p, &all);
		edges_sums(p, &sums);
		for (uint32_t f = 0; f < p->frame_count; f++) {
			CHECK_INT(sums.self[f][1], self[f]);
			CHECK_INT(sums.total[f][1], total[f]);
			CHECK(!sums.at_most[f]);
		}
	}
}

/* Makes edges like those of callgrind without levels. */
static struct edges *without_levels(const struct profile *p, const struct edges *e)
{
	uint32_t frames[26], columns[PROFILE_COLUMNS];
	const struct edges_places to = { .columns = columns, .frames = frames, .column_count = p->column_count, .fold = true };
	struct edges *folded = edges_new();

	for (uint32_t f = 0; f < p->frame_count; f++)
		frames[f] = f;
	for (uint32_t c = 0; c < p->column_count; c++)
		columns[c] = c;
	edges_add(folded, e, &to);
	return folded;
}

TEST(totals_without_recursion_levels_are_exact_or_marked_as_a_valid_bound)
{
	unsigned exact = 0, limits = 0;

	for (int i = 0; i < 400; i++) {
		_cleanup_(profile_freep) struct profile *p = any_tree(1 + below(40), 2 + below(8));
		_cleanup_(edges_sums_done) struct edges_sums sums = { 0 };
		int64_t self[26] = { 0 }, total[26] = { 0 };
		struct edges *e = edges_of(p, &all);

		totals_of(p, 1, self, total);
		p->edges = without_levels(p, e);
		edges_free(e);
		edges_sums(p, &sums);
		for (uint32_t f = 0; f < p->frame_count; f++) {
			CHECK_INT(sums.self[f][1], self[f]);
			if (sums.at_most[f])
				CHECK(sums.total[f][1] >= total[f]);
			else
				CHECK_INT(sums.total[f][1], total[f]);
			exact += !sums.at_most[f];
			limits += sums.at_most[f];
		}
	}
	CHECK(exact > 200 && limits > 200);
}

/* main calls a, which calls itself, and b, which only a cycle with c calls again. */
TEST(a_cycle_with_one_entry_has_an_exact_total)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(edges_sums_done) struct edges_sums sums = { 0 };
	struct edges *e;

	add(p, "maa", "wall_ns", 5);
	add(p, "mb", "wall_ns", 7);
	add(p, "mbcbc", "wall_ns", 30);
	e = edges_of(p, &all);
	p->edges = without_levels(p, e);
	edges_free(e);
	edges_sums(p, &sums);
	CHECK_INT(sums.total[p->node_frames[stack(p, "ma")]][0], 5);
	CHECK_INT(sums.total[p->node_frames[stack(p, "mb")]][0], 37);
	CHECK(!sums.at_most[p->node_frames[stack(p, "mb")]]);
	CHECK_INT(sums.total[p->node_frames[stack(p, "mbc")]][0], 37);
	CHECK(sums.at_most[p->node_frames[stack(p, "mbc")]]);
}

static int64_t total_of(const struct profile *p, char letter, const char *column)
{
	_cleanup_(edges_sums_done) struct edges_sums sums = { 0 };
	uint32_t c = profile_find_column(p, column);

	edges_sums(p, &sums);
	for (uint32_t f = 0; f < p->frame_count; f++)
		if (profile_name(p, f).p[0] == letter)
			return sums.total[f][c];
	return -1;
}

TEST(profiles_with_and_without_edges_add_up_in_either_order)
{
	for (int order = 0; order < 2; order++) {
		_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new(), *sum = profile_new();

		add(a, "maba", "wall_ns", 5);
		a->edges = edges_of(a, &all);
		a->estimated = true;
		add(b, "ma", "cpu_ns", 3);
		add(b, "ma", "wall_ns", 4);
		profile_merge(sum, order ? a : b);
		profile_merge(sum, order ? b : a);
		CHECK(sum->edges && sum->estimated);
		CHECK_INT(total_of(sum, 'a', "wall_ns"), 9);
		CHECK_INT(total_of(sum, 'b', "wall_ns"), 5);
		CHECK_INT(total_of(sum, 'm', "cpu_ns"), 3);
	}
}

/* An estimate that was filtered by stacks has no edges, and nor does a sum that includes it. */
TEST(sums_that_include_an_estimate_without_edges_have_no_edges)
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new();

	add(a, "ma", "wall_ns", 5);
	a->estimated = true;
	add(b, "ma", "wall_ns", 5);
	b->edges = edges_of(b, &all);
	b->estimated = true;
	profile_merge(b, a);
	CHECK(!b->edges && b->estimated);
}

TEST(refining_a_column_applies_to_tree_and_edges)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();

	add(p, "ma", "samples", 5);
	p->edges = edges_of(p, &all);
	profile_refine(p, 0);
	CHECK_INT(total_of(p, 'a', "samples"), 5000000);
}

TEST_MAIN()

/* test_profile_prune.c: tests that pruned profiles and values keep their sums and what has most. */
#include "stack_values.h"
#include "mem.h"
#include "test.h"
#include "text.h"
#include <string.h>

#define S(text) ((struct str){ text, strlen(text) })

/* Returns ten groups of leaves; leaf i has i + 1 samples. */
static struct profile *wide_profile(uint32_t leaves)
{
	struct profile *p = profile_new();
	uint32_t column = profile_column(p, "samples", "count"), time = profile_column(p, "wall_ns", "nanoseconds");

	for (uint32_t i = 0; i < leaves; i++) {
		char name[32];
		uint32_t node = profile_child(p, PROFILE_ROOT, profile_frame(p, S("main"), S(""), 0));

		snprintf(name, sizeof(name), "group%u", i % 10);
		node = profile_child(p, node, profile_frame(p, S(name), S(""), 0));
		snprintf(name, sizeof(name), "leaf%u", i);
		node = profile_child(p, node, profile_frame(p, S(name), S("a.php"), i));
		profile_add(p, node, column, i + 1);
		profile_add(p, node, time, (i + 1) * 10);
	}
	return p;
}

TEST(a_pruned_profile_fits_the_limit_and_keeps_its_sums)
{
	struct profile *p = wide_profile(1000), *small = profile_prune(p, 0, 100);
	uint32_t pruned = profile_pruned_frame(small), cut = 0, largest = 0;

	CHECK(small->node_count <= 100);
	CHECK(small->node_count > 30);
	for (uint32_t n = 1; n < small->node_count; n++) {
		cut += small->node_frames[n] == pruned;
		if (small->columns[0].self[n] == 1000)
			largest = n;
	}
	CHECK_INT(cut, 10);		/* one below each group */
	CHECK(largest && small->frames[small->node_frames[largest]].line == 999);
	CHECK_INT(profile_sum(small, 0), profile_sum(p, 0));
	CHECK_INT(profile_sum(small, 1), profile_sum(p, 1));
	profile_free(small);
	small = profile_prune(p, 0, p->node_count * 2);
	CHECK_INT(small->node_count, p->node_count);
	profile_free(small);
	small = profile_prune(p, 0, 2);
	CHECK(small->node_count <= 2 && profile_sum(small, 0) == profile_sum(p, 0));
	profile_free(small);
	profile_free(p);
}

TEST(values_are_pruned_like_their_profile)
{
	struct profile *p = wide_profile(1000);

	for (uint32_t most = 2; most <= 4000; most += most / 2) {
		struct stack_values v = stack_values_of(p, 0);
		struct profile *a = profile_prune(p, 0, most), *b = stack_values_prune(&v, most);

		CHECK_INT(a->node_count, b->node_count);
		for (uint32_t n = 0; n < a->node_count && n < b->node_count; n++) {
			CHECK_INT(a->parents[n], b->parents[n]);
			CHECK_INT(a->columns[0].self[n], b->columns[0].self[n]);
			CHECK(!n || text_is(profile_name(a, a->node_frames[n]), profile_name(b, b->node_frames[n]).p));
		}
		profile_free(a);
		profile_free(b);
		stack_values_done(&v);
	}
	profile_free(p);
}

/* The functions of wide_profile, each of which ran at some lines. */
static struct profile *with_lines(const struct profile *p, uint32_t lines)
{
	_cleanup_(freep) uint32_t *nodes = xcalloc(p->node_count * lines, sizeof(*nodes));
	struct profile *to = profile_new();
	uint32_t column = profile_column(to, "samples", "count");

	profile_keep_lines(to, true);
	for (uint32_t n = 1; n < p->node_count; n++)
		for (uint32_t i = 0; i < lines; i++) {
			uint32_t parent = p->parents[n] ? nodes[p->parents[n] * lines + i] : PROFILE_ROOT;

			nodes[n * lines + i] = profile_child_at(to, parent, profile_frame(to, profile_name(p, p->node_frames[n]), S(""), 0), i + 1);
			profile_add(to, nodes[n * lines + i], column, p->columns[0].self[n]);
		}
	return to;
}

TEST(executed_lines_do_not_displace_functions_when_pruning)
{
	struct profile *p = wide_profile(1000), *lined = with_lines(p, 4);
	struct stack_values few = stack_values_of(p, 0), many = stack_values_of(lined, 0);

	for (uint32_t most = 2; most < p->node_count; most += most / 2) {
		struct profile *a = stack_values_prune(&few, most), *b = stack_values_prune(&many, most);

		CHECK_INT(b->frame_count, a->frame_count);	/* each function has a name of its own */
		CHECK_INT(profile_sum(b, 0), 4 * profile_sum(a, 0));
		profile_free(a);
		profile_free(b);
	}
	profile_free(p);
	p = stack_values_prune(&many, lined->node_count / 4 + 1);
	CHECK_INT(p->node_count, lined->node_count);		/* all functions fit */
	stack_values_done(&few);
	stack_values_done(&many);
	profile_free(p);
	profile_free(lined);
}

TEST(pruning_keeps_the_largest_nodes)
{
	int64_t totals[1000];

	for (int i = 0; i < 1000; i++)
		totals[i] = (int64_t)1 << (i % 60);
	for (uint32_t most = 0; most <= 1000; most++) {
		int64_t least = profile_least_kept(totals, NULL, 1000, most);
		uint32_t kept = 0;

		for (int i = 0; i < 1000; i++)
			kept += totals[i] >= least;
		CHECK(kept <= most && most - kept < 17);	/* each power has 16 or 17 */
	}
}

TEST_MAIN()

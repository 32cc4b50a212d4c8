/* test_wire_cut.c: tests that oversized messages are read in part. */
#include "edges.h"
#include "mem.h"
#include "test.h"
#include "wire_profile.h"

static struct str s(const char *text)
{
	return (struct str){ text, strlen(text) };
}

static uint32_t number(struct profile *p, const char *format, uint32_t i)
{
	char name[32];

	return profile_frame(p, (struct str){ name, (size_t)snprintf(name, sizeof(name), format, i) }, s(""), i);
}

/* Returns a profile of main() calling function i of `functions` for i microseconds, each calling g for one; the
 * column of calls is the first. */
static struct profile *wide(uint32_t functions)
{
	struct profile *p = profile_new();
	uint32_t calls = profile_column(p, "calls", "count"), wall = profile_column(p, "wall_ns", "nanoseconds");
	uint32_t main = profile_child(p, PROFILE_ROOT, profile_frame(p, s("main()"), s(""), 0));
	uint32_t g = profile_frame(p, s("g"), s("g.php"), 1);

	profile_add(p, main, calls, 1);
	for (uint32_t i = 0; i < functions; i++) {
		uint32_t f = profile_child(p, main, number(p, "f%u", i)), below = profile_child(p, f, g);

		profile_add(p, f, calls, functions - i);
		profile_add(p, f, wall, i * 1000);
		profile_add(p, below, calls, 1);
		profile_add(p, below, wall, 1000);
	}
	return p;
}

/* Writes `p`, reads it with `capacity`, and frees it. */
static struct profile *through(struct profile *p, const struct wire_capacity *capacity, int result)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	struct profile *back = profile_new();
	struct strobe_wire_message m;

	buf_init(&b);
	CHECK_INT(wire_profile_write(p, &b, NULL), 0);
	CHECK_INT(strobe_wire_parse(b.data, b.size, &m), STROBE_WIRE_OK);
	CHECK_INT(wire_profile_add_whole(back, &m, capacity), result);
	profile_free(p);
	return back;
}

/* Returns the total of the only child with that name. */
static int64_t total_of(const struct profile *p, uint32_t column, const char *name)
{
	_cleanup_(freep) int64_t *totals = profile_totals(p, column);

	for (uint32_t n = 1; n < p->node_count; n++)
		if (!strcmp(profile_name(p, p->node_frames[n]).p, name))
			return totals[n];
	return -1;
}

TEST(a_message_within_the_limits_is_read_whole)
{
	const struct wire_capacity capacity = { .nodes = 2001, .edge_nodes = 0, .edge_pairs = 0 };
	struct profile *p = through(wide(1000), &capacity, 0);

	CHECK_INT(p->node_count, 2002);
	profile_free(p);
}

TEST(the_smallest_stacks_are_cut_and_sums_are_kept)
{
	const struct wire_capacity capacity = { .nodes = 200 }, by_calls = { .nodes = 200, .column = "calls" };
	struct profile *p = through(wide(1000), &capacity, 1);

	CHECK(p->node_count > 20 && p->node_count <= 201);
	CHECK_INT(profile_sum(p, 0), 1 + 500500 + 1000);
	CHECK_INT(profile_sum(p, 1), 499500000 + 1000000);
	CHECK_INT(total_of(p, 1, "f999"), 1000000);
	CHECK_INT(total_of(p, 1, "f0"), -1);
	CHECK(total_of(p, 1, PROFILE_PRUNED) > 0);
	profile_free(p);
	/* By another column, other stacks are kept. */
	p = through(wide(1000), &by_calls, 1);
	CHECK_INT(total_of(p, 0, "f0"), 1001);
	CHECK_INT(total_of(p, 1, "f999"), -1);
	CHECK_INT(profile_sum(p, 1), 499500000 + 1000000);
	profile_free(p);
}

TEST(a_deep_stack_is_cut_below_its_last_value)
{
	const struct wire_capacity capacity = { .nodes = 100, .column = "samples" };
	struct profile *p = profile_new();
	uint32_t c = profile_column(p, "samples", "count"), node = PROFILE_ROOT;

	for (uint32_t i = 0; i < 5000; i++) {
		node = profile_child(p, node, number(p, "f%u", i % 7));
		profile_add(p, node, c, i < 20 ? 1000 : 0);
	}
	p = through(p, &capacity, 1);
	CHECK(p->node_count >= 20 && p->node_count <= 101);
	CHECK_INT(profile_sum(p, 0), 20000);
	profile_free(p);
}

/* --- Edges --- */

static const struct edges_options all = { .column = UINT32_MAX };

/* Returns the same as pairs, with additional calls between the most expensive functions. */
static struct profile *wide_edges(uint32_t functions)
{
	struct profile *p = wide(functions);
	uint32_t first, last, pair;

	p->edges = edges_of(p, &all);
	p->estimated = true;
	first = edges_node(p->edges, number(p, "f%u", 0), 0);
	last = edges_node(p->edges, number(p, "f%u", functions - 1), 0);
	pair = edges_pair(p->edges, last, first);
	p->edges->pairs[pair].value[0] = 3;
	p->edges->pairs[pair].value[1] = 5;
	pair = edges_pair(p->edges, first, last);
	p->edges->pairs[pair].value[0] = 2;
	p->edges->pairs[pair].value[1] = 7;
	return p;
}

static uint32_t frame_named(const struct profile *p, const char *name)
{
	for (uint32_t f = 0; f < p->frame_count; f++)
		if (!strcmp(profile_name(p, f).p, name))
			return f;
	return UINT32_MAX;
}

TEST(functions_of_kept_edges_keep_their_values)
{
	const struct wire_capacity capacity = { .nodes = 5000, .edge_nodes = 100, .edge_pairs = 400 };
	struct profile *whole = through(wide_edges(1000), NULL, 0), *p = through(wide_edges(1000), &capacity, 1);
	int64_t self[2] = { 0 }, pruned[2] = { 0 };
	struct edges_sums a, b;
	unsigned kept = 0;

	CHECK(p->node_count <= 2 * p->edges->node_count);	/* there was room for the tree, but not for all functions */
	CHECK_INT(profile_sum(p, 1), profile_sum(whole, 1));
	CHECK(p->edges->node_count <= 102 && p->edges->node_count > 80);
	CHECK(p->edges->pair_count <= 400);
	edges_sums(whole, &a);
	edges_sums(p, &b);
	for (uint32_t f = 0; f < whole->frame_count; f++) {
		uint32_t here = frame_named(p, profile_name(whole, f).p);

		for (int c = 0; c < 2; c++)
			self[c] += a.self[f][c];
		if (here == UINT32_MAX || !b.known[here])
			continue;
		kept++;
		for (int c = 0; c < 2; c++) {
			CHECK_INT(b.self[here][c], a.self[f][c]);
			CHECK_INT(b.total[here][c], a.total[f][c]);
			self[c] -= a.self[f][c];
		}
		CHECK_INT(b.at_most[here], a.at_most[f]);
	}
	CHECK_INT(kept, p->edges->node_count - 2);		/* all but the root and the pruned function */
	CHECK(b.known[frame_named(p, "g")] && b.known[frame_named(p, "f999")]);
	for (int c = 0; c < 2; c++)
		pruned[c] = b.self[frame_named(p, PROFILE_PRUNED)][c];
	CHECK(pruned[0] == self[0] && pruned[1] == self[1] && pruned[1] > 0);
	for (uint32_t i = 0; i < p->edges->pair_count; i++) {
		const struct edges_pair *pair = &p->edges->pairs[i];

		if (pair->caller && p->edges->nodes[pair->caller].frame == frame_named(p, PROFILE_PRUNED) &&
		    p->edges->nodes[pair->callee].frame == frame_named(p, "f999"))
			CHECK_INT(pair->value[1], 7);
	}
	edges_sums_done(&a);
	edges_sums_done(&b);
	profile_free(whole);
	profile_free(p);
}

TEST(runs_without_columns_and_edges_with_few_nodes_are_cut_too)
{
	const struct wire_capacity capacity = { .nodes = 2, .edge_nodes = 1, .edge_pairs = 1 };
	struct profile *p = profile_new();
	uint32_t main = profile_child(p, PROFILE_ROOT, profile_frame(p, s("main()"), s(""), 0));

	for (uint32_t i = 0; i < 50; i++)
		profile_child(p, main, number(p, "f%u", i));
	p->edges = edges_of(p, &all);
	p = through(p, &capacity, 1);
	CHECK_INT(p->node_count, 2);
	CHECK_INT(p->edges->node_count, 2);
	CHECK_INT(p->edges->pair_count, 1);
	profile_free(p);
}

TEST_MAIN()

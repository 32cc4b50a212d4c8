/* test_profile.c: tests that the tree keeps its content through merging, reversing and filtering. */
#include "stack_values.h"
#include "mem.h"
#include "test.h"
#include "test_random.h"
#include "text.h"
#include <string.h>

static struct str s(const char *text)
{
	return (struct str){ text, strlen(text) };
}

static uint32_t frame(struct profile *p, const char *name)
{
	return profile_frame(p, s(name), s(""), 0);
}

/* Returns a tree of `nodes` random nodes over `frames` names, with values in two columns. */
static struct profile *random_profile(uint32_t nodes, uint32_t frames)
{
	struct profile *p = profile_new();
	uint32_t samples = profile_column(p, "samples", "count"), time = profile_column(p, "wall_ns", "nanoseconds");

	for (uint32_t i = 0; i < nodes; i++) {
		char name[32];
		uint32_t node;

		snprintf(name, sizeof(name), "f%u", below(frames));
		node = profile_child(p, below(p->node_count), profile_frame(p, s(name), s("x.php"), below(2)));
		profile_add(p, node, samples, (int64_t)below(100));
		profile_add(p, node, time, (int64_t)below(1000000) - 1000);
	}
	return p;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns every stack with values as a line, sorted: equal for equal profiles regardless of the order of their nodes. */
static char *text_of(const struct profile *p, const char *column)
{
	char **lines = xcalloc(p->node_count, sizeof(*lines));
	uint32_t n = 0, c = profile_find_column(p, column);
	struct buf out;

	for (uint32_t i = 0; i < p->node_count; i++) {
		char *line = xasprintf("%lld", (long long)p->columns[c].self[i]);

		if (!p->columns[c].self[i]) {
			free(line);
			continue;
		}
		for (uint32_t up = i; up; up = p->parents[up]) {
			uint32_t f = p->node_frames[up];
			char *longer = xasprintf("%s|%s:%u;%s", profile_name(p, f).p, profile_file(p, f).p,
						 p->frames[f].line, line);

			free(line);
			line = longer;
		}
		lines[n++] = line;
	}
	qsort(lines, n, sizeof(*lines), compare_lines);
	buf_init(&out);
	for (uint32_t i = 0; i < n; i++) {
		buf_printf(&out, "%s\n", lines[i]);
		free(lines[i]);
	}
	free(lines);
	return buf_take(&out, NULL);
}

static bool equal(const struct profile *a, const struct profile *b)
{
	static const char *const columns[] = { "samples", "wall_ns" };
	bool same = true;

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		char *x = text_of(a, columns[i]), *y = text_of(b, columns[i]);

		same &= !strcmp(x, y);
		free(x);
		free(y);
	}
	return same;
}

static int64_t sum(const struct profile *p, const char *column)
{
	return profile_sum(p, profile_find_column(p, column));
}

TEST(a_new_profile_consists_of_the_root)
{
	struct profile *p = profile_new();

	CHECK_INT(p->node_count, 1);
	CHECK_INT(p->column_count, 0);
	CHECK_INT(profile_depth(p), 0);
	CHECK(profile_pick_column(p, NULL) == UINT32_MAX);
	CHECK(!profile_free(p));
	CHECK(!profile_free(NULL));
}

TEST(frames_differ_by_name_file_and_line)
{
	struct profile *p = profile_new();
	uint32_t a = profile_frame(p, s("f"), s("a.php"), 1);

	CHECK_INT(profile_frame(p, s("f"), s("a.php"), 1), a);
	CHECK(profile_frame(p, s("f"), s("b.php"), 1) != a);
	CHECK(profile_frame(p, s("f"), s("a.php"), 2) != a);
	CHECK(profile_frame(p, s("a.php"), s("f"), 1) != a);
	CHECK_INT(p->frame_count, 4);
	CHECK_STR(profile_name(p, a).p, "f");
	CHECK_STR(profile_file(p, a).p, "a.php");
	profile_free(p);
}

TEST(the_same_frame_below_the_same_parent_is_one_node)
{
	struct profile *p = profile_new();
	uint32_t f = frame(p, "f"), g = frame(p, "g");
	uint32_t stack[] = { f, g, f };
	uint32_t node = profile_stack(p, stack, 3);

	CHECK_INT(profile_stack(p, stack, 3), node);
	CHECK_INT(p->node_count, 4);
	CHECK_INT(profile_stack(p, stack, 2), p->parents[node]);
	CHECK_INT(profile_stack(p, stack, 0), PROFILE_ROOT);
	CHECK_INT(profile_depth(p), 3);
	profile_free(p);
}

TEST(a_column_added_late_has_zeros_for_earlier_nodes)
{
	struct profile *p = random_profile(1000, 20);
	uint32_t c = profile_column(p, "calls", "count");

	CHECK_INT(profile_sum(p, c), 0);
	CHECK_INT(profile_column(p, "calls", "count"), c);
	CHECK_INT(profile_find_column(p, "calls"), c);
	CHECK(profile_find_column(p, "bytes") == UINT32_MAX);
	CHECK_INT(profile_pick_column(p, NULL), 0);
	CHECK_INT(profile_pick_column(p, "calls"), c);
	CHECK(profile_pick_column(p, "bytes") == UINT32_MAX);
	profile_free(p);
}

TEST(time_is_the_default_column_of_a_trace)
{
	struct profile *p = profile_new();

	profile_column(p, "calls", "count");
	CHECK_INT(profile_pick_column(p, NULL), 0);
	profile_column(p, "memory_bytes", "bytes");
	CHECK_INT(profile_pick_column(p, NULL), 0);
	profile_column(p, "samples", "count");
	CHECK_INT(profile_pick_column(p, NULL), 2);
	profile_column(p, "wall_ns", "nanoseconds");
	CHECK_INT(profile_pick_column(p, NULL), 3);
	CHECK_INT(profile_pick_column(p, "memory_bytes"), 1);
	profile_free(p);
}

TEST(negative_values_are_summed_separately)
{
	struct profile *p = profile_new();
	uint32_t c = profile_column(p, "memory_bytes", "bytes"), nodes = 9;
	uint32_t a = profile_child(p, PROFILE_ROOT, profile_frame(p, s("a"), s(""), 0));
	uint32_t b = profile_child(p, a, profile_frame(p, s("b"), s(""), 0));

	CHECK_INT(profile_below_zero(p, c, &nodes), 0);
	CHECK_INT(nodes, 0);
	profile_add(p, a, c, -5);
	profile_add(p, b, c, 7);
	CHECK_INT(profile_below_zero(p, c, &nodes), -5);
	CHECK_INT(nodes, 1);
	CHECK_INT(profile_sum(p, c), 2);
	profile_add(p, b, c, INT64_MIN);
	profile_add(p, b, c, INT64_MIN);
	CHECK(profile_below_zero(p, c, NULL) == INT64_MIN);
	profile_free(p);
}

TEST(the_number_of_columns_is_capped)
{
	struct profile *p = profile_new();
	char name[16];

	for (unsigned i = 0; i < PROFILE_COLUMNS; i++) {
		snprintf(name, sizeof(name), "c%u", i);
		CHECK_INT(profile_column(p, name, "count"), i);
	}
	CHECK(profile_column(p, "more", "count") == UINT32_MAX);
	CHECK_INT(profile_column(p, "c3", "count"), 3);
	profile_free(p);
}

TEST(values_saturate_at_the_limits_of_their_type)
{
	struct profile *p = profile_new();
	uint32_t c = profile_column(p, "samples", "count"), f = frame(p, "f");
	uint32_t a = profile_child(p, PROFILE_ROOT, f), b = profile_child(p, a, f);
	int64_t *totals;

	profile_add(p, a, c, INT64_MAX);
	profile_add(p, a, c, 1);
	profile_add(p, b, c, 5);
	CHECK(p->columns[c].self[a] == INT64_MAX);
	totals = profile_totals(p, c);
	CHECK(totals[PROFILE_ROOT] == INT64_MAX && totals[a] == INT64_MAX && totals[b] == 5);
	CHECK(profile_sum(p, c) == INT64_MAX);
	free(totals);
	profile_add(p, b, c, INT64_MIN);
	profile_add(p, b, c, INT64_MIN);
	profile_add(p, b, c, INT64_MIN);
	CHECK(p->columns[c].self[b] == INT64_MIN);
	profile_free(p);
}

TEST(totals_add_up_the_values_of_descendants)
{
	for (int i = 0; i < 50; i++) {
		struct profile *p = random_profile(1 + below(500), 10);
		int64_t *totals = profile_totals(p, 0), *expected = xcalloc(p->node_count, sizeof(*expected));

		for (uint32_t n = 0; n < p->node_count; n++)
			for (uint32_t up = n;; up = p->parents[up]) {
				expected[up] += p->columns[0].self[n];
				if (up == PROFILE_ROOT)
					break;
			}
		CHECK(!memcmp(totals, expected, p->node_count * sizeof(*totals)));
		CHECK_INT(totals[PROFILE_ROOT], profile_sum(p, 0));
		free(totals);
		free(expected);
		profile_free(p);
	}
}

TEST(merging_adds_in_any_order)
{
	for (int i = 0; i < 50; i++) {
		struct profile *a = random_profile(below(300), 30), *b = random_profile(below(300), 30);
		struct profile *ab = profile_new(), *ba = profile_new();

		profile_merge(ab, a);
		CHECK(equal(ab, a));
		profile_merge(ab, b);
		profile_merge(ba, b);
		profile_merge(ba, a);
		CHECK(equal(ab, ba));
		CHECK_INT(sum(ab, "samples"), sum(a, "samples") + sum(b, "samples"));
		CHECK_INT(sum(ab, "wall_ns"), sum(a, "wall_ns") + sum(b, "wall_ns"));
		CHECK_INT(ab->node_count, ba->node_count);
		profile_free(a);
		profile_free(b);
		profile_free(ab);
		profile_free(ba);
	}
}

TEST(merging_matches_columns_by_name)
{
	struct profile *a = profile_new(), *b = profile_new();

	profile_add(a, profile_child(a, 0, frame(a, "f")), profile_column(a, "samples", "count"), 1);
	profile_column(b, "calls", "count");
	profile_add(b, profile_child(b, 0, frame(b, "f")), profile_column(b, "samples", "count"), 2);
	profile_merge(a, b);
	CHECK_INT(a->column_count, 2);
	CHECK_INT(sum(a, "samples"), 3);
	CHECK_INT(sum(a, "calls"), 0);
	profile_free(a);
	profile_free(b);
}

static struct profile *described(int64_t start, int64_t end, int64_t period, const char *labels)
{
	struct profile *p = profile_new();
	uint32_t c = profile_column(p, "samples", "count");

	profile_add(p, profile_child(p, 0, frame(p, "f")), c, 1);
	p->start_ns = start;
	p->end_ns = end;
	p->period_ns = period;
	CHECK_INT(labels_parse(labels, &p->labels, NULL), 0);
	return p;
}

TEST(merging_keeps_common_labels_and_the_whole_time_range)
{
	struct profile *all = profile_new(), *none = profile_new();
	struct profile *a = described(100, 200, 10, "entry=index,host=a"),
		*b = described(50, 120, 10, "entry=index,host=b");
	struct profile *c = described(0, 0, 20, "entry=index");
	struct buf text;

	buf_init(&text);
	profile_merge(all, a);
	labels_put(&all->labels, &text);
	CHECK_STR(text.data, "entry=index,host=a");
	profile_merge(all, b);
	buf_reset(&text);
	labels_put(&all->labels, &text);
	CHECK_STR(text.data, "entry=index");
	CHECK_INT(all->start_ns, 50);
	CHECK_INT(all->end_ns, 200);
	CHECK_INT(all->period_ns, 10);
	/* A profile without samples has no influence. */
	profile_merge(all, none);
	CHECK_INT(all->labels.count, 1);
	CHECK(!all->mixed_periods);
	profile_merge(all, c);
	CHECK(all->mixed_periods);
	CHECK_INT(all->period_ns, 0);
	CHECK_INT(all->start_ns, 50);
	profile_merge(all, c);
	CHECK(all->mixed_periods);
	profile_free(all);
	profile_free(none);
	profile_free(a);
	profile_free(b);
	profile_free(c);
	buf_done(&text);
}

TEST(reversing_twice_gives_the_same_stacks)
{
	for (int i = 0; i < 50; i++) {
		struct profile *p = random_profile(below(400), 15), *r = profile_reverse(p), *back = profile_reverse(r);

		CHECK_INT(sum(r, "samples"), sum(p, "samples"));
		CHECK_INT(sum(r, "wall_ns"), sum(p, "wall_ns"));
		CHECK(equal(back, p));
		profile_free(p);
		profile_free(r);
		profile_free(back);
	}
}

TEST(in_a_reversed_profile_the_leaves_are_at_the_root)
{
	struct profile *p = profile_new(), *r;
	uint32_t c = profile_column(p, "samples", "count"), a = frame(p, "a"), b = frame(p, "b");

	profile_add(p, profile_stack(p, (uint32_t[]){ a, b }, 2), c, 3);
	profile_add(p, profile_stack(p, (uint32_t[]){ b }, 1), c, 4);
	p->period_ns = 7;
	r = profile_reverse(p);
	CHECK_INT(r->node_count, 3);
	CHECK_INT(r->period_ns, 7);
	CHECK_STR(profile_name(r, r->node_frames[1]).p, "b");
	CHECK_INT(r->columns[0].self[1], 4);
	CHECK_STR(profile_name(r, r->node_frames[2]).p, "a");
	CHECK_INT(r->columns[0].self[2], 3);
	CHECK_INT(r->parents[2], 1);
	profile_free(p);
	profile_free(r);
}

/* Checks that all nodes with at least `least` are in the pruned profile with the same total, and that nothing is
 * below a pruned node. */
static void check_cut(const struct profile *whole, struct profile *cut, int64_t least)
{
	_cleanup_(freep) int64_t *totals = profile_totals(whole, 0), *cut_totals = profile_totals(cut, 0);
	_cleanup_(freep) uint32_t *nodes = xcalloc(whole->node_count, sizeof(*nodes));
	uint32_t count = cut->node_count;

	CHECK(count <= whole->node_count);
	for (uint32_t n = 1; n < count; n++)
		CHECK(cut->parents[n] == PROFILE_ROOT || cut_totals[cut->parents[n]] >= least);
	for (uint32_t n = 1; n < whole->node_count; n++)
		if (totals[n] >= least) {
			nodes[n] = profile_child(cut, nodes[whole->parents[n]], whole->node_frames[n]);
			CHECK(nodes[n] < count);
			CHECK_INT(cut_totals[nodes[n]], totals[n]);
		}
	CHECK_INT(profile_sum(cut, 0), profile_sum(whole, 0));
	CHECK_INT(profile_sum(cut, 1), profile_sum(whole, 1));
}

TEST(reversing_for_a_picture_cuts_only_invisible_nodes)
{
	for (int i = 0; i < 50; i++) {
		struct profile *p = random_profile(1 + below(400), 5), *whole = profile_reverse(p);
		int64_t least = 1 + below(300);
		struct profile *cut = profile_reverse_above(p, 0, (double)least);

		check_cut(whole, cut, least);
		profile_free(p);
		profile_free(whole);
		profile_free(cut);
	}
}

TEST(profiles_with_negative_values_are_not_cut)
{
	struct profile *p = profile_new(), *r;
	uint32_t c = profile_column(p, "memory_bytes", "bytes"), a = frame(p, "a"), b = frame(p, "b");

	profile_add(p, profile_stack(p, (uint32_t[]){ a, b }, 2), c, 3);
	profile_add(p, profile_stack(p, (uint32_t[]){ b }, 1), c, -9);
	r = profile_reverse_above(p, c, 5);
	CHECK_INT(r->node_count, 3);
	CHECK_INT(profile_below_zero(r, c, NULL), -9);
	profile_free(p);
	profile_free(r);
}

/* Both only append nodes, which must be found when more is added. */
TEST(values_can_be_added_to_reversed_and_filtered_profiles)
{
	for (int i = 0; i < 50; i++) {
		struct profile *p = random_profile(1 + below(400), 9), *r = profile_reverse(p),
			*again = profile_reverse(p);
		bool *keep = xcalloc(p->frame_count, sizeof(*keep));
		uint32_t count = r->node_count;
		struct profile *kept, *kept_again;

		profile_merge(r, again);
		CHECK_INT(r->node_count, count);
		CHECK_INT(profile_sum(r, 0), 2 * profile_sum(p, 0));
		keep[below(p->frame_count)] = true;
		kept = profile_filter(p, keep);
		kept_again = profile_filter(p, keep);
		count = kept->node_count;
		profile_merge(kept, kept_again);
		CHECK_INT(kept->node_count, count);
		profile_free(p);
		profile_free(r);
		profile_free(again);
		profile_free(kept);
		profile_free(kept_again);
		free(keep);
	}
}

TEST(filtering_splits_a_profile_by_whether_stacks_contain_a_frame)
{
	for (int i = 0; i < 50; i++) {
		struct profile *p = random_profile(1 + below(400), 15), *kept;
		bool *keep = xcalloc(p->frame_count, sizeof(*keep));
		int64_t expected = 0;

		keep[below(p->frame_count)] = true;
		keep[below(p->frame_count)] = true;
		for (uint32_t n = 1; n < p->node_count; n++) {
			bool has = false;

			for (uint32_t up = n; up; up = p->parents[up])
				has |= keep[p->node_frames[up]];
			expected += has ? p->columns[0].self[n] : 0;
		}
		kept = profile_filter(p, keep);
		CHECK_INT(profile_sum(kept, 0), expected);
		/* Filtering again by the same names drops nothing more. */
		for (uint32_t n = 1; n < kept->node_count; n++)
			CHECK(kept->parents[n] < n);
		profile_free(p);
		profile_free(kept);
		free(keep);
	}
}

TEST(filtering_keeps_whole_stacks)
{
	struct profile *p = profile_new(), *kept;
	uint32_t c = profile_column(p, "samples", "count"), a = frame(p, "a"), b = frame(p, "b"), d = frame(p, "d");
	bool keep[3] = { false, true, false };

	profile_add(p, profile_stack(p, (uint32_t[]){ a, b, d }, 3), c, 1);
	profile_add(p, profile_stack(p, (uint32_t[]){ a, d }, 2), c, 2);
	profile_add(p, profile_stack(p, (uint32_t[]){ a }, 1), c, 4);
	kept = profile_filter(p, keep);
	CHECK_INT(profile_sum(kept, 0), 1);
	CHECK_INT(kept->node_count, 4);
	CHECK_INT(profile_depth(kept), 3);
	CHECK_INT(kept->columns[0].self[1], 0);
	profile_free(p);
	profile_free(kept);
}

TEST(stacks_of_200000_frames_are_supported)
{
	enum { DEPTH = 200000 };
	struct profile *p = profile_new(), *r, *m = profile_new(), *kept;
	uint32_t c = profile_column(p, "samples", "count"), node = PROFILE_ROOT;
	uint32_t frames[3] = { frame(p, "a"), frame(p, "b"), frame(p, "c") };
	bool keep[3] = { true, true, true };
	int64_t *totals;

	for (uint32_t i = 0; i < DEPTH; i++)
		node = profile_child(p, node, frames[i % 3]);
	profile_add(p, node, c, 2);
	CHECK_INT(profile_depth(p), DEPTH);
	totals = profile_totals(p, c);
	CHECK_INT(totals[1], 2);
	free(totals);
	r = profile_reverse(p);
	CHECK_INT(profile_depth(r), DEPTH);
	CHECK_INT(profile_sum(r, 0), 2);
	profile_merge(m, p);
	profile_merge(m, p);
	CHECK_INT(m->node_count, DEPTH + 1);
	CHECK_INT(m->columns[0].self[m->node_count - 1], 4);
	kept = profile_filter(m, keep);
	CHECK_INT(profile_depth(kept), DEPTH);
	profile_free(kept);
	profile_free(p);
	profile_free(r);
	profile_free(m);
}

TEST(time_is_samples_times_the_period_only_if_clock_and_period_are_known)
{
	struct profile *p = described(0, 0, 10000000, "clock=wall"), *q = described(0, 0, 10000000, "clock=cpu");
	struct profile *mixed = described(0, 0, 10, "clock=wall"), *unknown = described(0, 0, 0, "clock=wall");

	profile_add_time(p);
	CHECK_INT(sum(p, "wall_ns"), 10000000);
	profile_add_time(p);
	CHECK_INT(p->column_count, 2);
	profile_add_time(q);
	CHECK_INT(sum(q, "cpu_ns"), 10000000);
	mixed->mixed_periods = true;
	profile_add_time(mixed);
	CHECK_INT(mixed->column_count, 1);
	profile_add_time(unknown);
	CHECK_INT(unknown->column_count, 1);
	profile_free(p);
	profile_free(q);
	profile_free(mixed);
	profile_free(unknown);
}

TEST(direct_recursion_becomes_one_frame_and_indirect_recursion_stays)
{
	struct profile *p = profile_new(), *r;
	uint32_t column = profile_column(p, "samples", "count");
	uint32_t a = profile_frame(p, (struct str){ "a", 1 }, (struct str){ "", 0 }, 0);
	uint32_t elsewhere = profile_frame(p, (struct str){ "a", 1 }, (struct str){ "x.php", 5 }, 7);
	uint32_t b = profile_frame(p, (struct str){ "b", 1 }, (struct str){ "", 0 }, 0);

	profile_add(p, profile_stack(p, (uint32_t[]){ a, a, elsewhere, a, b }, 5), column, 1);
	profile_add(p, profile_stack(p, (uint32_t[]){ a, a }, 2), column, 2);
	profile_add(p, profile_stack(p, (uint32_t[]){ a, b }, 2), column, 4);
	profile_add(p, profile_stack(p, (uint32_t[]){ a, b, a, b }, 4), column, 8);
	r = profile_without_recursion(p);
	CHECK_INT(r->node_count, 5);
	CHECK_INT(r->columns[0].self[profile_stack(r, (uint32_t[]){ a }, 1)], 2);
	CHECK_INT(r->columns[0].self[profile_stack(r, (uint32_t[]){ a, b }, 2)], 5);
	CHECK_INT(r->columns[0].self[profile_stack(r, (uint32_t[]){ a, b, a, b }, 4)], 8);
	CHECK_INT(r->node_count, 5);
	profile_free(p);
	profile_free(r);
}

TEST(functions_with_invisible_names_are_shown_as_one)
{
	struct profile *p = profile_new();
	uint32_t column = profile_column(p, "samples", "count");
	uint32_t none = profile_frame(p, (struct str){ "", 0 }, (struct str){ "", 0 }, 0);
	uint32_t space = profile_frame(p, (struct str){ " ", 1 }, (struct str){ "", 0 }, 0);
	uint32_t wide = profile_frame(p, (struct str){ "\xc2\xa0\xe2\x80\x8b\t", 6 }, (struct str){ "", 0 }, 0);
	uint32_t unknown = profile_frame(p, (struct str){ "[unknown]", 9 }, (struct str){ "", 0 }, 0);
	uint32_t bad = profile_frame(p, (struct str){ "\xa0", 1 }, (struct str){ "", 0 }, 0);

	profile_add(p, profile_stack(p, (uint32_t[]){ none }, 1), column, 1);
	profile_add(p, profile_stack(p, (uint32_t[]){ space }, 1), column, 2);
	profile_add(p, profile_stack(p, (uint32_t[]){ wide, bad }, 2), column, 4);
	profile_add(p, profile_stack(p, (uint32_t[]){ unknown }, 1), column, 8);
	p = profile_show_names(p);
	CHECK_INT(p->frame_count, 2);
	CHECK_INT(p->node_count, 3);
	unknown = profile_frame(p, (struct str){ "[unknown]", 9 }, (struct str){ "", 0 }, 0);
	CHECK_INT(p->columns[0].self[profile_stack(p, &unknown, 1)], 11);
	CHECK_INT(profile_sum(p, 0), 15);
	CHECK(profile_show_names(p) == p);
	profile_free(p);
}

TEST_MAIN()

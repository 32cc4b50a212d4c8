/* test_diff.c: tests that sums stay correct in any comparison, noise is not reported as change, and doubtful
 * comparisons are reported. */

#include "diff.h"
#include "edges.h"
#include "mem.h"
#include "test.h"
#include "test_random.h"

static struct str s(const char *text)
{
	return (struct str){ text, strlen(text) };
}

static struct profile *random_profile(uint32_t nodes, uint32_t frames, int64_t most)
{
	struct profile *p = profile_new();
	uint32_t column = profile_column(p, "samples", "count");

	for (uint32_t i = 0; i < nodes; i++) {
		char name[32];
		uint32_t node;

		snprintf(name, sizeof(name), "f%u", below(frames));
		node = profile_child(p, below(p->node_count), profile_frame(p, s(name), s("x.php"), below(2)));
		profile_add(p, node, column, (int64_t)below(1000) * most / 1000);
	}
	return p;
}

/* Adds a stack such as "a;b", with frames without a file. */
static void add(struct profile *p, const char *stack, int64_t value)
{
	uint32_t column = profile_column(p, "samples", "count"), node = PROFILE_ROOT;

	while (*stack) {
		size_t n = strcspn(stack, ";");

		node = profile_child(p, node, profile_frame(p, (struct str){ stack, n }, s(""), 0));
		stack += n + (stack[n] == ';');
	}
	profile_add(p, node, column, value);
}

static int64_t value_of(const struct profile *p, uint32_t column, const char *name)
{
	int64_t sum = 0;

	for (uint32_t n = 1; n < p->node_count; n++) {
		struct str is = profile_name(p, p->node_frames[n]);

		if (is.n == strlen(name) && !memcmp(is.p, name, is.n))
			sum += p->columns[column].self[n];
	}
	return sum;
}

static __int128 sum_of_deltas(const struct diff *d)
{
	__int128 sum = 0;

	for (uint32_t n = 0; n < d->profile->node_count; n++)
		sum += (__int128)d->profile->columns[d->after].self[n] - d->profile->columns[d->before].self[n];
	return sum;
}

TEST(the_sum_of_self_deltas_is_the_delta_of_the_totals_for_any_trees_and_any_scale)
{
	for (int round = 0; round < 600; round++) {
		int64_t most = round % 3 == 0 ? 10 : round % 3 == 1 ? 1000000 : INT64_MAX / 1000;
		_cleanup_(profile_freep) struct profile *a = random_profile(1 + below(200), 1 + below(20), most);
		_cleanup_(profile_freep) struct profile *b = random_profile(1 + below(200), 1 + below(20), most);
		struct diff_options o = { .scale = (enum diff_scale)(round % 4) };
		_cleanup_(diff_done) struct diff d = { 0 };
		int64_t total_a = profile_sum(a, 0), total_b = profile_sum(b, 0), before;

		profile_cover(a, 1000, 1001 + below(1000000));
		profile_cover(b, 1000, 1001 + below(1000000));
		labels_set(&a->labels, "requests", 8, "7", 1);
		labels_set(&b->labels, "requests", 8, "10", 2);
		if (profile_diff(a, 0, b, 0, &o, &d, NULL) < 0) {
			CHECK(o.scale == DIFF_BY_TOTAL && (!total_a || !total_b));
			continue;
		}
		before = profile_sum(d.profile, d.before);
		CHECK_INT(profile_sum(d.profile, d.after), total_b);
		CHECK(sum_of_deltas(&d) == (__int128)total_b - before);
		CHECK_INT(profile_sum(d.profile, d.measured), total_a);
		if (o.scale == DIFF_BY_TOTAL)
			CHECK_INT(before, total_b);
		if (o.scale == DIFF_AS_IT_IS)
			CHECK_INT(before, total_a);
		if (o.scale == DIFF_BY_REQUESTS)
			CHECK_INT(before, (int64_t)(((__int128)total_a * 10 + 3) / 7));
	}
}

TEST(filtering_stacks_keeps_the_scale_and_noise_of_the_whole_profile)
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new(), *some_a = profile_new(), *some_b = profile_new();
	_cleanup_(profile_freep) struct profile *outline_a = NULL, *outline_b = NULL;

	add(a, "main;parse", 300);
	add(a, "main;other", 700);
	add(b, "main;parse", 250);
	add(b, "main;other", 250);
	add(some_a, "main;parse", 300);
	add(some_b, "main;parse", 250);
	labels_set(&a->labels, "requests", 8, "8", 1);
	labels_set(&b->labels, "requests", 8, "6", 1);
	profile_cover(a, 1000, 3000);
	profile_cover(b, 1000, 2000);
	outline_a = diff_outline(a);
	outline_b = diff_outline(b);
	for (int outlined = 0; outlined < 2; outlined++)
		for (int scale = DIFF_AS_IT_IS; scale <= DIFF_BY_REQUESTS; scale++) {
			static const int64_t before[] = { 300, 150, 150, 225 };
			struct diff_options whole = { .scale = (enum diff_scale)scale }, o = whole;
			_cleanup_(diff_done) struct diff all = { 0 }, some = { 0 };

			o.whole_a = outlined ? outline_a : a;
			o.whole_b = outlined ? outline_b : b;
			CHECK_INT(profile_diff(a, 0, b, 0, &whole, &all, NULL), 0);
			CHECK_INT(profile_diff(some_a, 0, some_b, 0, &o, &some, NULL), 0);
			CHECK_INT(value_of(some.profile, some.before, "parse"), before[scale]);
			CHECK_INT(value_of(all.profile, all.before, "parse"), before[scale]);
			CHECK_INT(value_of(some.profile, some.after, "parse"), 250);
			CHECK(some.factor == all.factor);
			CHECK(diff_error(&some, (double)before[scale], 250, 250) == diff_error(&all, (double)before[scale], 250, 500));
		}
}

TEST(each_subtree_is_scaled_to_within_one)
{
	for (int round = 0; round < 100; round++) {
		_cleanup_(profile_freep) struct profile *a = random_profile(300, 10, 50);
		_cleanup_(profile_freep) struct profile *b = random_profile(50, 10, 9);
		struct diff_options o = { .scale = DIFF_BY_TOTAL };
		_cleanup_(diff_done) struct diff d = { 0 };
		_cleanup_(freep) int64_t *scaled = NULL, *measured = NULL;

		if (profile_diff(a, 0, b, 0, &o, &d, NULL) < 0)
			continue;
		scaled = profile_totals(d.profile, d.before);
		measured = profile_totals(d.profile, d.measured);
		for (uint32_t n = 0; n < d.profile->node_count; n++) {
			double off = (double)scaled[n] - (double)measured[n] * d.factor;

			CHECK(off > -1.000001 && off < 1.000001);
			CHECK(d.profile->columns[d.before].self[n] >= 0);
		}
	}
}

TEST(a_difference_contains_removed_and_new_stacks)
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new();
	struct diff_options o = { 0 };
	_cleanup_(diff_done) struct diff d = { 0 };

	add(a, "main;old", 5);
	add(a, "main;both", 7);
	add(b, "main;both", 9);
	add(b, "main;new", 4);
	CHECK_INT(profile_diff(a, 0, b, 0, &o, &d, NULL), 0);
	CHECK_INT(d.profile->node_count, 5);
	CHECK_INT(value_of(d.profile, d.before, "old"), 5);
	CHECK_INT(value_of(d.profile, d.after, "old"), 0);
	CHECK_INT(value_of(d.profile, d.before, "both"), 7);
	CHECK_INT(value_of(d.profile, d.after, "both"), 9);
	CHECK_INT(value_of(d.profile, d.after, "new"), 4);
	CHECK_INT(d.measured, d.before);
}

static void at(struct profile *p, const char *name, const char *file, uint32_t line, int64_t value)
{
	uint32_t column = profile_column(p, "samples", "count");

	profile_add(p, profile_child(p, PROFILE_ROOT, profile_frame(p, s(name), s(file), line)), column, value);
}

TEST(moved_functions_are_matched_and_unrelated_ones_of_equal_name_are_not)
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new();
	struct diff_options o = { 0 };
	_cleanup_(diff_done) struct diff d = { 0 };

	at(a, "moved", "a.php", 10, 1);
	at(b, "moved", "a.php", 25, 2);
	at(a, "released", "/deploy-7/b.php", 10, 4);
	at(b, "released", "/deploy-8/b.php", 11, 8);
	at(a, "twice", "c.php", 1, 1);
	at(a, "twice", "d.php", 1, 10);
	at(b, "twice", "d.php", 2, 20);
	at(b, "twice", "c.php", 2, 2);
	at(a, "{closure}", "e.php", 1, 3);
	at(b, "{closure}", "f.php", 1, 3);
	CHECK_INT(profile_diff(a, 0, b, 0, &o, &d, NULL), 0);
	CHECK_INT(d.profile->node_count, 7);
	for (uint32_t n = 1; n < d.profile->node_count; n++) {
		const struct profile_frame *f = &d.profile->frames[d.profile->node_frames[n]];
		int64_t before = d.profile->columns[d.before].self[n], after = d.profile->columns[d.after].self[n];

		if (memcmp(profile_name(d.profile, d.profile->node_frames[n]).p, "{closure}", 9)) {
			CHECK_INT(after, 2 * before);
			CHECK(f->line != 10 && f->line != 1);
		}
	}
}

TEST(closures_that_moved_down_in_their_file_are_matched)
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new();
	struct diff_options o = { 0 };
	_cleanup_(diff_done) struct diff d = { 0 };

	at(a, "{closure}", "e.php", 10, 1);
	at(a, "{closure}", "e.php", 20, 10);
	at(b, "{closure}", "e.php", 15, 2);
	at(b, "{closure}", "e.php", 25, 20);
	CHECK_INT(profile_diff(a, 0, b, 0, &o, &d, NULL), 0);
	CHECK_INT(d.profile->node_count, 3);
	for (uint32_t n = 1; n < 3; n++)
		CHECK_INT(d.profile->columns[d.after].self[n], 2 * d.profile->columns[d.before].self[n]);
}

TEST(addresses_are_stripped_on_request)
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new();
	struct diff_options o = { .strip_hex = true };
	_cleanup_(diff_done) struct diff d = { 0 };

	add(a, "main;0xdeadBEEF+0x1g;0x;0xg", 5);
	add(a, "main;0x1+0x2g;0x;0xg", 1);
	add(b, "main;0xffff+0x10g;0x;0xg", 7);
	CHECK_INT(profile_diff(a, 0, b, 0, &o, &d, NULL), 0);
	CHECK_INT(d.profile->node_count, 5);
	CHECK_STR(profile_name(d.profile, d.profile->node_frames[2]).p, "0x...+0x...g");
	CHECK_INT(value_of(d.profile, d.before, "0xg"), 6);
	CHECK_INT(value_of(d.profile, d.after, "0xg"), 7);
}

TEST(a_profile_that_cannot_be_scaled_is_an_error_with_the_reason)
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new();
	struct diff d = { 0 };
	struct err err = { 0 };

	add(a, "main", 5);
	add(b, "main", 0);
	CHECK_INT(profile_diff(a, 0, b, 0, &(struct diff_options){ .scale = DIFF_BY_TOTAL }, &d, &err), -EINVAL);
	CHECK(strstr(err.text, "total") != NULL);
	CHECK_INT(profile_diff(a, 0, b, 0, &(struct diff_options){ .scale = DIFF_BY_RATE }, &d, &err), -EINVAL);
	CHECK(strstr(err.text, "durations") != NULL);
	CHECK_INT(profile_diff(a, 0, b, 0, &(struct diff_options){ .scale = DIFF_BY_REQUESTS }, &d, &err), -EINVAL);
	CHECK(strstr(err.text, "requests") != NULL);
}

/* A tree built from pairs may lack some of their values. */
TEST(pairs_are_scaled_by_their_own_sums_regardless_of_their_trees)
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new();
	struct profile *const sides[] = { a, b };
	struct diff_options o = { .scale = DIFF_BY_TOTAL };
	_cleanup_(diff_done) struct diff d = { 0 };

	for (int i = 0; i < 2; i++) {
		at(sides[i], "f", "e.php", 10, 1);
		sides[i]->edges = edges_of(sides[i], &(struct edges_options){ .column = UINT32_MAX });
		sides[i]->edges->nodes[1].self[0] = 10 + 20 * i;
	}
	CHECK_INT(profile_diff(sides[0], 0, sides[1], 0, &o, &d, NULL), 0);
	CHECK(d.factor == 3);
	CHECK_INT(edges_total(d.profile, d.before), 30);
	CHECK_INT(edges_total(d.profile, d.after), 30);
}

TEST(requests_are_counted_by_the_calls_of_outermost_functions)
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new();
	struct diff_options o = { .scale = DIFF_BY_REQUESTS };
	_cleanup_(diff_done) struct diff d = { 0 };

	add(a, "main;f", 100);
	add(b, "main;f", 300);
	profile_add(a, 1, profile_column(a, "calls", "count"), 2);
	profile_add(b, 1, profile_column(b, "calls", "count"), 6);
	CHECK_INT(profile_diff(a, 0, b, 0, &o, &d, NULL), 0);
	CHECK_INT(value_of(d.profile, d.before, "f"), 300);
	CHECK(d.factor == 3);
}

/* Returns a profile of `samples` samples, f0 being the most frequent function; f7 is `slower` times as frequent as
 * before. */
static struct profile *sampled(uint32_t samples, double slower)
{
	struct profile *p = profile_new();
	double whole = 0, weights[60];

	for (int i = 0; i < 60; i++)
		whole += weights[i] = (i == 7 ? slower : 1) / (1 + i);
	for (uint32_t k = 0; k < samples; k++) {
		double at = whole * below(1u << 30) / (1u << 30);
		char name[16];
		int i = 0;

		while (i < 59 && at > weights[i])
			at -= weights[i++];
		snprintf(name, sizeof(name), "f%d", i);
		at = 0;
		add(p, name, 1);
	}
	return p;
}

/* Returns the number of functions that changed by more than noise; `ret_seventh`: whether f7 is one of them. */
static unsigned changed(const struct profile *a, const struct profile *b, enum diff_scale scale, bool *ret_seventh)
{
	struct diff_options o = { .scale = scale };
	_cleanup_(diff_done) struct diff d = { 0 };
	double sigma = diff_sigma(60), whole;
	unsigned count = 0;

	*ret_seventh = false;
	CHECK_INT(profile_diff(a, 0, b, 0, &o, &d, NULL), 0);
	whole = (double)profile_sum(d.profile, d.after);
	for (int i = 0; i < 60; i++) {
		char name[16];
		double before, after;

		snprintf(name, sizeof(name), "f%d", i);
		before = (double)value_of(d.profile, d.measured, name) * d.factor;
		after = (double)value_of(d.profile, d.after, name);
		if ((after > before ? after - before : before - after) <= diff_noise(&d, sigma, before, after, whole))
			continue;
		count++;
		*ret_seventh |= i == 7;
	}
	return count;
}

TEST(samples_of_one_program_show_no_change_and_a_slower_function_is_found)
{
	static const uint32_t sizes[][2] = { { 9000, 9000 }, { 500, 90000 }, { 40000, 700 }, { 40, 40 } };
	unsigned wrong = 0, found = 0, rounds = 0;
	bool seventh;

	for (int round = 0; round < 20; round++)
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			_cleanup_(profile_freep) struct profile *a = sampled(sizes[i][0], 1);
			_cleanup_(profile_freep) struct profile *b = sampled(sizes[i][1], 1);

			rounds++;
			wrong += changed(a, b, DIFF_BY_TOTAL, &seventh) > 0;
			if (sizes[i][0] == sizes[i][1])
				wrong += changed(a, b, DIFF_AS_IT_IS, &seventh) > 0;
		}
	CHECK(wrong <= 6);		/* at most one in twenty: 120 comparisons */
	for (int round = 0; round < 10; round++) {
		_cleanup_(profile_freep) struct profile *a = sampled(9000, 1), *b = sampled(9000, 2);

		changed(a, b, DIFF_BY_TOTAL, &seventh);
		found += seventh;
	}
	CHECK_INT(found, 10);
	CHECK_INT(rounds, 80);
}

TEST(measured_values_have_no_noise)
{
	struct diff d = { .factor = 1 };

	CHECK(diff_noise(&d, 4, 100, 200, 1000) == 0);
	CHECK(diff_sigma(1) < 2 && diff_sigma(1000) > 4 && diff_sigma(1000) < 4.2);
}

static struct profile *by_clock(const char *clock, int64_t period, int64_t samples)
{
	struct profile *p = profile_new();

	add(p, "main;f", samples);
	p->period_ns = period;
	if (clock)
		labels_set(&p->labels, "clock", 5, clock, strlen(clock));
	profile_add_time(p);
	return p;
}

/* Returns the doubts as lines, with a "!" for fatal ones. */
static const char *doubts(const struct profile *a, const struct profile *b, const char *wanted, enum diff_scale scale)
{
	static char text[4000];
	struct diff_warnings all;
	uint32_t column_a, column_b;
	size_t n = 0;

	text[0] = '\0';
	diff_columns(a, b, wanted, &column_a, &column_b);
	diff_check(a, column_a, "A", b, column_b, "B", scale, &all);
	for (size_t i = 0; i < all.count; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s\n", all.items[i].fatal ? "! " : "",
				      all.items[i].text);
	return text;
}

TEST(incomparable_profiles_are_reported)
{
	_cleanup_(profile_freep) struct profile *wall = by_clock("wall", 1000000, 90000);
	_cleanup_(profile_freep) struct profile *cpu = by_clock("cpu", 1000000, 90000);
	_cleanup_(profile_freep) struct profile *slow = by_clock("wall", 10000000, 90000);
	_cleanup_(profile_freep) struct profile *few = by_clock("wall", 1000000, 12);
	_cleanup_(profile_freep) struct profile *bare = by_clock(NULL, 0, 90000), *trace = profile_new();

	profile_add(trace, profile_child(trace, PROFILE_ROOT, profile_frame(trace, s("main"), s(""), 0)),
		    profile_column(trace, "calls", "count"), 3);
	CHECK_STR(doubts(wall, wall, NULL, DIFF_BY_TOTAL), "");
	CHECK_STR(doubts(wall, bare, NULL, DIFF_AS_IT_IS), "");
	CHECK_STR(doubts(wall, cpu, NULL, DIFF_BY_TOTAL), "! 'A' was sampled by the wall clock and 'B' by CPU time\n");
	CHECK_STR(doubts(wall, slow, NULL, DIFF_BY_TOTAL),
		  "'A' was sampled every 1.00 ms and 'B' every 10.0 ms: only shares are compared\n");
	CHECK(*doubts(wall, slow, NULL, DIFF_AS_IT_IS) == '!');
	CHECK_STR(doubts(wall, slow, "wall_ns", DIFF_AS_IT_IS), "");
	CHECK_STR(doubts(few, wall, NULL, DIFF_BY_TOTAL),
		  "'A' has only 12 samples: a share of one half may be off by 28 points by chance\n");
	CHECK_STR(doubts(wall, trace, NULL, DIFF_AS_IT_IS),
		  "! 'A' counts samples and 'B' calls\n"
		  "'A' was sampled and 'B' was not: the difference includes the overhead of measuring each call\n");
}

TEST(a_common_column_is_compared_if_the_first_ones_differ)
{
	_cleanup_(profile_freep) struct profile *sampled_one = by_clock("wall", 1000000, 9000), *trace = profile_new();
	uint32_t a, b;

	profile_column(trace, "calls", "count");
	profile_column(trace, "wall_ns", "nanoseconds");
	diff_columns(sampled_one, trace, NULL, &a, &b);
	CHECK_STR(sampled_one->columns[a].name, "wall_ns");
	CHECK_STR(trace->columns[b].name, "wall_ns");
	diff_columns(sampled_one, trace, "calls", &a, &b);
	CHECK_INT(a, UINT32_MAX);
}

TEST_MAIN()

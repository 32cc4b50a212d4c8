/* test_live.c: tests windows of an endless recording. */

#include "live.h"
#include "test.h"

#include <string.h>

#define SECOND INT64_C(1000000000)

static struct str str_of(const char *s)
{
	return (struct str){ s, strlen(s) };
}

/* Makes one stack "main;NAME" with `ns` on CPU, for a script. */
static struct profile *one_stack(const char *name, const char *entry, int64_t ns)
{
	struct profile *p = profile_new();
	uint32_t column = profile_column(p, "cpu_ns", "nanoseconds");
	uint32_t main_frame = profile_frame(p, str_of("main"), str_of("/a.php"), 1);
	uint32_t node = profile_child(p, profile_child(p, PROFILE_ROOT, main_frame),
				      profile_frame(p, str_of(name), str_of("/a.php"), 2));

	profile_add(p, node, column, ns);
	labels_set(&p->labels, "entry", 5, entry, strlen(entry));
	return p;
}

static struct record_summary totals(double seconds, u64 ticks)
{
	return (struct record_summary){ .seconds = seconds, .counters[COUNTER_TICKS] = ticks, .refused = "", .first_file = "" };
}

/* Adds an interval of a second with one stack of 100 × its number. */
static void add_interval(struct live *l, int number, const char *entry)
{
	struct record_summary s = totals(number, (u64)number * 99);

	live_add(l, one_stack("f", entry, 100 * number));
	live_close(l, &s, 1000 * SECOND + number * SECOND);
}

static int64_t sum_of(const struct live *l, enum live_period period, const char *entry)
{
	struct live_scope scope = { entry ? "entry" : NULL, entry };
	struct profile *p = live_profile(l, period, &scope);
	uint32_t column = profile_find_column(p, "cpu_ns");
	int64_t sum = column == UINT32_MAX ? 0 : profile_sum(p, column);

	profile_free(p);
	return sum;
}

TEST(the_window_has_the_newest_intervals_and_the_totals_have_all)
{
	struct live *l = live_new(2 * SECOND);
	struct record_summary s;

	for (int i = 1; i <= 5; i++)
		add_interval(l, i, i % 2 ? "odd" : "even");
	CHECK_INT(sum_of(l, LIVE_WINDOW, NULL), 900);
	CHECK_INT(sum_of(l, LIVE_ALL, NULL), 1500);
	CHECK_INT(live_length_ns(l, LIVE_WINDOW), 2 * SECOND);
	CHECK_INT(live_length_ns(l, LIVE_ALL), 5 * SECOND);
	live_summary(l, LIVE_WINDOW, &s);
	CHECK_INT(s.counters[COUNTER_TICKS], 198);
	CHECK_INT(s.seconds * 10, 20);
	live_summary(l, LIVE_ALL, &s);
	CHECK_INT(s.counters[COUNTER_TICKS], 5 * 99);
	live_free(l);
}

TEST(a_scope_is_one_value_of_a_label)
{
	struct live *l = live_new(2 * SECOND);

	for (int i = 1; i <= 5; i++)
		add_interval(l, i, i % 2 ? "odd" : "even");
	CHECK_INT(sum_of(l, LIVE_WINDOW, "odd"), 500);
	CHECK_INT(sum_of(l, LIVE_ALL, "odd"), 900);
	CHECK_INT(sum_of(l, LIVE_ALL, "even"), 600);
	CHECK_INT(sum_of(l, LIVE_ALL, "none"), 0);
	live_free(l);
}

TEST(after_a_reset_only_later_samples_count)
{
	struct live *l = live_new(10 * SECOND);
	struct record_summary s;

	add_interval(l, 1, "a");
	add_interval(l, 2, "a");
	live_reset(l);
	CHECK_INT(sum_of(l, LIVE_ALL, NULL), 0);
	CHECK_INT(sum_of(l, LIVE_WINDOW, NULL), 0);
	CHECK_INT(live_length_ns(l, LIVE_ALL), 0);
	add_interval(l, 3, "b");
	CHECK_INT(sum_of(l, LIVE_ALL, NULL), 300);
	CHECK_INT(sum_of(l, LIVE_WINDOW, NULL), 300);
	CHECK_INT(live_length_ns(l, LIVE_WINDOW), SECOND);
	live_summary(l, LIVE_WINDOW, &s);
	CHECK_INT(s.counters[COUNTER_TICKS], 99);
	live_summary(l, LIVE_ALL, &s);
	CHECK_INT(s.counters[COUNTER_TICKS], 99);
	live_free(l);
}

TEST(a_copy_is_not_changed_by_later_samples)
{
	struct live *l = live_new(10 * SECOND), *copy;

	add_interval(l, 1, "a");
	copy = live_copy(l);
	add_interval(l, 2, "a");
	live_reset(l);
	CHECK_INT(sum_of(copy, LIVE_ALL, "a"), 100);
	CHECK_INT(sum_of(copy, LIVE_WINDOW, "a"), 100);
	CHECK_INT(live_length_ns(copy, LIVE_ALL), SECOND);
	live_free(l);
	live_free(copy);
}

TEST(a_window_shorter_than_an_interval_contains_the_last_one)
{
	struct live *l = live_new(0);

	add_interval(l, 1, "a");
	add_interval(l, 2, "a");
	CHECK_INT(sum_of(l, LIVE_WINDOW, NULL), 200);
	live_free(l);
}

TEST(before_the_first_interval_the_profile_is_empty)
{
	struct live *l = live_new(SECOND);
	struct record_summary s;

	live_summary(l, LIVE_WINDOW, &s);
	CHECK(record_summary_is_empty(&s) && s.refused && s.first_file);
	CHECK_INT(live_length_ns(l, LIVE_WINDOW), 0);
	CHECK_INT(live_length_ns(l, LIVE_ALL), 0);
	live_free(l);
}

static void count_nodes(void *data, const struct profile *p)
{
	*(size_t *)data += p->node_count + p->frame_count;
}

/* Makes 5,000 stacks that no other interval has. */
static struct profile *many_stacks(int first, const char *entry, int64_t ns)
{
	struct profile *p = one_stack("f", entry, 0);

	for (int n = 0; n < 5000; n++) {
		char name[32];

		snprintf(name, sizeof(name), "f%d", first + n);
		profile_add(p, profile_child(p, PROFILE_ROOT, profile_frame(p, str_of(name), str_of("/a.php"), 2)), 0, ns);
	}
	return p;
}

TEST(sums_stay_exact_within_a_memory_limit)
{
	struct live *l = live_new(0);
	size_t size = 0;
	int64_t whole = 0;

	for (int i = 1; i <= 60; i++) {
		struct record_summary s = totals(i, 1);

		for (int part = 0; part < 2; part++)
			live_add(l, many_stacks(i * 5000, part ? "a" : "b", 7));
		whole += 2 * 5000 * 7;
		live_close(l, &s, 1000 * SECOND + i * SECOND);
	}
	live_each(l, LIVE_ALL, &size, count_nodes);
	CHECK(size < 2 * 220000);
	CHECK_INT(sum_of(l, LIVE_ALL, NULL), whole);
	CHECK_INT(sum_of(l, LIVE_ALL, "a"), whole / 2);
	live_free(l);
}

TEST(label_sets_above_the_limit_are_added_up_without_labels)
{
	struct live *l = live_new(0);

	for (int i = 1; i <= 3000; i++) {
		char entry[32];
		struct record_summary s = totals(i, 1);

		snprintf(entry, sizeof(entry), "entry%d", i);
		live_add(l, one_stack("f", entry, 7));
		live_add(l, one_stack("f", "entry1", 1));
		live_close(l, &s, 1000 * SECOND + i * SECOND);
	}
	CHECK_INT(sum_of(l, LIVE_ALL, NULL), 3000 * 8);
	CHECK_INT(sum_of(l, LIVE_ALL, "entry1"), 7 + 3000);
	CHECK_INT(sum_of(l, LIVE_ALL, "entry2"), 7);
	CHECK_INT(sum_of(l, LIVE_ALL, "entry2999"), 0);
	CHECK_INT(sum_of(l, LIVE_ALL, ""), 1000 * 7);
	live_free(l);
}

TEST_MAIN()

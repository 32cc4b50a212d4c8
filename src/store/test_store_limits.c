/* test_store_limits.c: tests every store's limits of age, size and free disk space. */
#include "clock.h"
#include "conformance.h"
#include "test.h"
#include <pthread.h>

/* Tells whether limits remove whole days only: SQLite can remove less, and sees the disk; a ClickHouse drops its
 * oldest partitions. */
static bool goes_by_days(struct fixture *f)
{
	if (is_sqlite(f))
		return false;
	done(f);
	return true;
}

TEST(days_above_the_age_limit_expire_and_younger_ones_stay)
{
	struct fixture f = open_store();
	struct store_stats stats;

	for (int day = 0; day < 5; day++)
		append_one(f.store, 0, NOON + day * DAY, "entry=a", "main", 1);
	/* At noon of the last day, two days reach back into the third one, which therefore stays. */
	CHECK_INT(maintain(f.store, NOON + 4 * DAY, 2 * DAY, 0), 0);
	store_stats(f.store, &stats);
	CHECK_INT(stats.days, 3);
	CHECK_INT(stats.days_removed[STORE_REMOVED_AGE], 2);
	CHECK_INT(stats.days_removed[STORE_REMOVED_SIZE], 0);
	CHECK_INT(stats.oldest_ns, NOON + 2 * DAY);
	CHECK_INT(ask_sum(f.store, 0, INT64_MAX), 3);
	/* A day that was removed can be written again. */
	CHECK_INT(append_one(f.store, 0, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(ask_sum(f.store, 0, INT64_MAX), 4);
	done(&f);
}

TEST(the_oldest_days_are_evicted_by_size_but_never_the_one_being_written)
{
	struct fixture f = open_store();
	struct store_stats stats;

	for (int day = 0; day < 5; day++)
		append_one(f.store, 0, NOON + day * DAY, "entry=a", "main", 1);
	CHECK_INT(maintain(f.store, NOON + 4 * DAY, 0, 0), 0);
	store_stats(f.store, &stats);
	CHECK_INT(stats.days, 5);
	CHECK_INT(maintain(f.store, NOON + 4 * DAY, 0, stats.bytes - 1), 0);
	store_stats(f.store, &stats);
	CHECK_INT(stats.days, 4);
	CHECK_INT(stats.oldest_ns, NOON + DAY);
	CHECK_INT(maintain(f.store, NOON + 4 * DAY, 0, 1), 0);
	store_stats(f.store, &stats);
	CHECK_INT(stats.days, 1);
	CHECK_INT(stats.oldest_ns, NOON + 4 * DAY);
	CHECK_INT(append_one(f.store, 0, NOON + 4 * DAY, "entry=a", "main", 1), 0);
	CHECK_INT(ask_sum(f.store, 0, INT64_MAX), 2);
	done(&f);
}

static void append_some(struct store *s, uint64_t id, int number, int stacks, int64_t ns);

/* Appends a day in each of five months, with unique stacks. */
static void append_months(struct store *s)
{
	for (int i = 0; i < 5; i++)
		append_some(s, 0, i, 4000, NOON + (i - 4) * 31 * DAY);
}

/* Runs maintenance far enough in the future for ClickHouse to drop names, which nobody can be about to use then. */
static int maintain_later(struct store *s, int64_t oldest_ns, uint64_t max_bytes)
{
	int64_t now = clock_wall_ns() + 2 * DAY;

	return maintain(s, now, oldest_ns ? now - oldest_ns : 0, max_bytes);
}

TEST(names_are_removed_with_the_last_day_that_uses_them)
{
	struct fixture f = open_store();
	struct store_stats before, after;

	append_months(f.store);
	CHECK_INT(maintain(f.store, NOON + HOUR, 0, 0), 0);
	store_stats(f.store, &before);
	CHECK_INT(before.days, 5);
	CHECK_INT(maintain_later(f.store, NOON + HOUR - 2 * DAY, 0), 0);
	store_stats(f.store, &after);
	CHECK_INT(after.days, 1);
	CHECK(after.bytes < before.bytes * 3 / 10);
	done(&f);
}

TEST(names_removed_with_a_day_count_toward_its_size)
{
	struct fixture f = open_store();
	struct store_stats before, after;

	if (is_sqlite(&f)) {		/* each of its days has its own names */
		done(&f);
		return;
	}
	append_months(f.store);
	CHECK_INT(maintain(f.store, NOON + HOUR, 0, 0), 0);
	store_stats(f.store, &before);
	CHECK_INT(maintain(f.store, NOON + HOUR, 0, before.bytes * 9 / 10), 0);
	store_stats(f.store, &after);
	CHECK_INT(after.days, 4);
	/* Names are kept while another daemon may write samples with them, and then dropped at once. */
	CHECK(after.bytes > before.bytes * 9 / 10);
	CHECK_INT(maintain_later(f.store, 0, before.bytes * 9 / 10), 0);
	store_stats(f.store, &after);
	CHECK_INT(after.days, 4);
	CHECK(after.bytes <= before.bytes * 9 / 10);
	done(&f);
}

/* Two daemons have the same store open; one drops a day that the other still writes to. */
TEST(a_day_dropped_by_another_daemon_can_be_written_again_with_all_names)
{
	struct fixture f = open_store();
	struct store *other = NULL;
	const struct label_filter entry = { "entry", "a", LABEL_IS };

	if (is_sqlite(&f)) {		/* it has one writer */
		done(&f);
		return;
	}
	CHECK_INT(store_open(f.url, false, &other, NULL), 0);
	CHECK_INT(append_one(other, 0, NOON - 40 * DAY, "entry=a", "main;old", 5), 0);
	CHECK_INT(append_one(f.store, 0, NOON, "entry=b", "main;new", 1), 0);
	CHECK_INT(maintain(f.store, NOON + HOUR, 2 * DAY, 0), 0);
	CHECK_INT(ask_sum(f.store, 0, NOON - DAY), 0);
	CHECK_INT(append_one(other, 0, NOON - 40 * DAY, "entry=a", "main;old", 7), 0);
	for (int i = 0; i < 2; i++) {
		struct profile *p = ask(i ? other : f.store, 0, NOON - DAY, &entry, 1, NULL);
		char *text = folded(p, "samples");

		CHECK_STR(text, "main;old 7");
		free(text);
		profile_free(p);
	}
	store_close(other);
	done(&f);
}

static uint64_t samples_of_hour(struct store *s, int hour)
{
	return (uint64_t)ask_sum(s, NOON + hour * HOUR, NOON + (hour + 1) * HOUR);
}

TEST(the_oldest_hours_of_a_day_above_the_size_limit_are_evicted)
{
	struct fixture f = open_store();
	struct store_stats before, after;
	uint32_t seed = 1;

	if (goes_by_days(&f))
		return;
	append_one(f.store, 0, NOON - DAY, "entry=a", "main", 1);
	for (int i = 0; i < 6 * 60; i++) {
		struct maker *m = maker_new(0);

		maker_series(m, NOON + i * 60 * SECOND, "entry=a", STROBE_CLOCK_WALL, PERIOD);
		for (int j = 0; j < 200; j++) {
			char stack[32];

			seed = seed * 1103515245 + 12345;
			snprintf(stack, sizeof(stack), "main;f%d", j);
			maker_stack(m, stack, 1 + (seed >> 8) % 100000);
		}
		CHECK_INT(store_append(f.store, &m->batch, NULL), 0);
		maker_free(m);
	}
	CHECK_INT(maintain(f.store, NOON + 6 * HOUR, 0, 0), 0);
	store_stats(f.store, &before);
	{
		uint64_t newest = samples_of_hour(f.store, 5);

		CHECK_INT(maintain(f.store, NOON + 6 * HOUR, 0, before.bytes / 2), 0);
		store_stats(f.store, &after);
		CHECK_INT(after.days, 1);
		CHECK(after.bytes <= before.bytes / 2);
		CHECK(after.hours_evicted >= 2 && after.hours_evicted <= 4);
		for (unsigned hour = 0; hour < 6; hour++)
			CHECK((samples_of_hour(f.store, (int)hour) > 0) == (hour >= after.hours_evicted));
		CHECK_INT(samples_of_hour(f.store, 5), newest);
		/* Regardless of the limit, the newest minute stays, and the day can be written to. */
		newest = (uint64_t)ask_sum(f.store, NOON + 6 * HOUR - 60 * SECOND, NOON + 6 * HOUR);
		CHECK(newest > 0);
		CHECK_INT(maintain(f.store, NOON + 6 * HOUR, 0, 1), 0);
		CHECK_INT(ask_sum(f.store, 0, INT64_MAX), newest);
	}
	CHECK_INT(append_one(f.store, 0, NOON, "entry=a", "main;f1", 5), 0);
	CHECK_INT(samples_of_hour(f.store, 0), 5);
	reopen(&f);
	CHECK_INT(samples_of_hour(f.store, 0), 5);
	done(&f);
}

static bool with_lines;		/* every second stack has executed lines */

/* Appends a batch of unique stacks: as many names and nodes as samples, which cannot be made smaller. */
static void append_some(struct store *s, uint64_t id, int number, int stacks, int64_t ns)
{
	struct maker *m = maker_new(id);
	uint32_t seed = (uint32_t)number * 7919 + 1;
	char labels[40], stack[80];

	snprintf(labels, sizeof(labels), "entry=e%d", number / 10);
	maker_series(m, ns, labels, STROBE_CLOCK_WALL, PERIOD);
	for (int i = 0; i < stacks; i++) {
		seed = seed * 1103515245 + 12345;
		snprintf(stack, sizeof(stack), with_lines && i % 2 ? "main@%4$d;f%1$d_%2$08x;g%3$08x@8" : "main;f%1$d_%2$08x;g%3$08x",
			 number, seed, seed * 2654435761u, i % 7 + 5);
		maker_stack(m, stack, i + 1);
	}
	CHECK_INT(store_append(s, &m->batch, NULL), 0);
	maker_free(m);
}

static void append_unique(struct store *s, uint64_t id, int number, int64_t ns)
{
	append_some(s, id, number, 400, ns);
}

/* Appends `per_hour` batches in each of `hours`. */
static void append_hours(struct store *s, int hours, int per_hour)
{
	for (int i = 0; i < hours * per_hour; i++)
		append_unique(s, (uint64_t)i + 1, i, NOON + i / per_hour * HOUR + i % per_hour * (HOUR / per_hour));
}

static char *ask_lines(struct store *s, int64_t from_ns, int64_t to_ns)
{
	struct store_query q = { from_ns, to_ns, .lines = true };
	struct profile *p = NULL;
	char *text;

	CHECK_INT(store_query(s, &q, &p, NULL, NULL), 0);
	text = folded(p, "samples");
	profile_free(p);
	return text;
}

/* Compares without printing thousands of stacks if it fails. */
static bool has_stacks(struct store *s, int64_t from_ns, int64_t to_ns, const char *expected)
{
	char *stacks = ask_lines(s, from_ns, to_ns);
	bool same = !strcmp(stacks, expected);

	free(stacks);
	return same;
}

static void check_stacks_go(void)
{
	struct fixture f = open_store();
	struct store_stats before, after;
	struct store_labels labels = { 0 };
	struct store_query all = { 0, INT64_MAX };
	char *newest, *oldest;
	uint64_t sum;

	if (goes_by_days(&f))
		return;
	append_hours(f.store, 6, 30);
	CHECK_INT(maintain(f.store, NOON + 6 * HOUR + 120 * SECOND, 0, 0), 0);
	store_stats(f.store, &before);
	newest = ask_lines(f.store, NOON + 5 * HOUR, NOON + 6 * HOUR);
	oldest = ask_lines(f.store, NOON, NOON + HOUR);
	sum = (uint64_t)ask_sum(f.store, 0, INT64_MAX);

	CHECK_INT(maintain(f.store, NOON + 6 * HOUR + 120 * SECOND, 0, before.bytes / 2), 0);
	store_stats(f.store, &after);
	CHECK(after.bytes <= before.bytes / 2);
	CHECK(after.hours_evicted >= 3 && after.hours_evicted <= 4);	/* no more than necessary */
	CHECK_INT(after.partial_hour_evicted_seconds, 0);
	CHECK_INT(ask_sum(f.store, 0, INT64_MAX), sum / 6 * (6 - after.hours_evicted));
	CHECK(has_stacks(f.store, NOON + 5 * HOUR, NOON + 6 * HOUR, newest));
	CHECK_INT(store_labels(f.store, &all, &labels, NULL), 0);
	CHECK_INT(labels.items[1].value_count, 3 * (6 - after.hours_evicted));
	store_labels_done(&labels);

	/* Removed stacks can be stored again, before and after a restart. */
	for (int hour = 6; hour < 8; hour++) {
		for (int i = 0; i < 30; i++)
			append_unique(f.store, 0, i, NOON + hour * HOUR + i * 120 * SECOND);
		CHECK(has_stacks(f.store, NOON + hour * HOUR, NOON + (hour + 1) * HOUR, oldest));
		reopen(&f);
		CHECK(has_stacks(f.store, NOON + hour * HOUR, NOON + (hour + 1) * HOUR, oldest));
	}
	CHECK_INT(maintain(f.store, NOON + 10 * HOUR, 0, 0), 0);
	CHECK(has_stacks(f.store, NOON + 5 * HOUR, NOON + 6 * HOUR, newest));
	CHECK(has_stacks(f.store, NOON + 7 * HOUR, NOON + 8 * HOUR, oldest));
	free(newest);
	free(oldest);
	done(&f);
}

TEST(stacks_used_only_by_evicted_hours_are_removed_with_them)
{
	check_stacks_go();
	with_lines = true;
	check_stacks_go();
	with_lines = false;
}

TEST(an_hour_above_the_size_limit_keeps_its_newest_minute)
{
	for (int is_over = 0; is_over < 2; is_over++) {
		struct fixture f = open_store();
		int64_t now = NOON + HOUR + is_over * 120 * SECOND;	/* compacted, or not yet */
		struct store_stats before, after;
		char *newest;

		if (goes_by_days(&f))
			return;
		append_hours(f.store, 1, 180);
		CHECK_INT(maintain(f.store, now, 0, 0), 0);
		store_stats(f.store, &before);
		newest = ask_lines(f.store, NOON + HOUR - 600 * SECOND, NOON + HOUR);
		CHECK_INT(maintain(f.store, now, 0, before.bytes / 2), 0);
		store_stats(f.store, &after);
		CHECK(after.bytes <= before.bytes / 2);
		CHECK_INT(after.hours_evicted, 0);
		CHECK(after.partial_hour_evicted_seconds >= 1200 && after.partial_hour_evicted_seconds < 2700);
		CHECK_INT(ask_sum(f.store, 0, NOON + (int64_t)after.partial_hour_evicted_seconds * SECOND), 0);
		CHECK(after.oldest_ns >= NOON + (int64_t)after.partial_hour_evicted_seconds * SECOND);
		CHECK(has_stacks(f.store, NOON + HOUR - 600 * SECOND, NOON + HOUR, newest));
		free(newest);
		newest = ask_lines(f.store, NOON + HOUR - 60 * SECOND, NOON + HOUR);
		CHECK_INT(maintain(f.store, now, 0, 1), 0);
		CHECK(has_stacks(f.store, 0, INT64_MAX, newest));
		free(newest);
		done(&f);
	}
}

/* Appends stacks to hours that are being removed, until it is stopped. */
struct appender {
	struct store *store;
	_Atomic int rounds;
	_Atomic bool stop;
};

static void append_old_stack(struct store *s, int i)
{
	append_some(s, 0, i % 60, 20, NOON + 6 * HOUR + i % 60 * 10 * SECOND);
}

static void *append_old_stacks(void *data)
{
	struct appender *a = data;

	while (!a->stop)
		append_old_stack(a->store, a->rounds++);
	return NULL;
}

TEST(samples_stored_while_stacks_are_freed_keep_their_stacks)
{
	struct fixture f = open_store(), undisturbed;
	struct appender a = { .store = f.store };
	struct store_stats stats;
	pthread_t thread;
	char *expected;

	if (goes_by_days(&f))
		return;
	append_hours(f.store, 6, 30);
	CHECK_INT(maintain(f.store, NOON + 6 * HOUR, 0, 0), 0);
	store_stats(f.store, &stats);
	CHECK_INT(pthread_create(&thread, NULL, append_old_stacks, &a), 0);
	/* Removes hour by hour, so that the appender is at another point each time. */
	for (int i = 0; i < 50 && stats.hours_evicted < 3; i++) {
		int seen = a.rounds;

		CHECK_INT(maintain(f.store, NOON + 6 * HOUR, 0, stats.bytes * 15 / 16), 0);
		while (a.rounds < seen + 3)
			CHECK(ask_sum(f.store, NOON + 6 * HOUR, NOON + 7 * HOUR) >= 0);
		store_stats(f.store, &stats);
	}
	a.stop = true;
	pthread_join(thread, NULL);
	store_stats(f.store, &stats);
	CHECK(stats.hours_evicted >= 3);
	CHECK_INT(stats.partial_hour_evicted_seconds, 0);
	CHECK_INT(stats.errors + stats.days_damaged, 0);

	undisturbed = open_store();
	for (int i = 0; i < a.rounds; i++)
		append_old_stack(undisturbed.store, i);
	expected = ask_folded(undisturbed.store, 0, INT64_MAX);
	CHECK(has_stacks(f.store, NOON + 6 * HOUR, NOON + 7 * HOUR, expected));
	reopen(&f);
	CHECK(has_stacks(f.store, NOON + 6 * HOUR, NOON + 7 * HOUR, expected));
	free(expected);
	done(&undisturbed);
	done(&f);
}

TEST(the_oldest_days_are_evicted_to_keep_disk_space_free)
{
	struct fixture f = open_store();
	struct store_limits l = { 0 };
	struct store_stats stats;

	if (goes_by_days(&f))
		return;
	for (int day = 0; day < 3; day++)
		append_one(f.store, 0, NOON + day * DAY, "entry=a", "main", 1);
	store_stats(f.store, &stats);
	CHECK(stats.free_bytes > 0);
	l.min_free_bytes = 1;
	CHECK_INT(store_maintain(f.store, &l, NOON + 2 * DAY, NULL), 0);
	CHECK_INT(ask_sum(f.store, 0, INT64_MAX), 3);
	l.min_free_bytes = UINT64_MAX / 2;
	CHECK_INT(store_maintain(f.store, &l, NOON + 2 * DAY, NULL), 0);
	CHECK_INT(ask_sum(f.store, 0, INT64_MAX), 1);
	store_stats(f.store, &stats);
	CHECK_INT(stats.oldest_ns, NOON + 2 * DAY);
	done(&f);
}

TEST_MAIN()

/* test_store_limits.c: what every store promises of its limits of age, size and room on the disk. */
#include "conformance.h"
#include "test.h"

TEST(days_above_the_age_are_removed_and_younger_ones_stay)
{
	struct fixture f = open_store();
	struct store_stats stats;

	for (int day = 0; day < 5; day++)
		append_one(f.store, 0, NOON + day * DAY, "entry=a", "main", 1);
	/* At noon of the last day, two days reach back into the third one, which therefore stays. */
	CHECK_INT(maintain(f.store, NOON + 4 * DAY, 2 * DAY, 0), 0);
	store_stats(f.store, &stats);
	CHECK_INT(stats.days, 3);
	CHECK_INT(stats.days_expired, 2);
	CHECK_INT(stats.oldest_ns, NOON + 2 * DAY);
	CHECK_INT(ask_sum(f.store, 0, INT64_MAX), 3);
	/* A day that was removed can be written again. */
	CHECK_INT(append_one(f.store, 0, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(ask_sum(f.store, 0, INT64_MAX), 4);
	done(&f);
}

TEST(the_oldest_days_go_when_the_store_is_too_large_but_never_the_one_being_written)
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

static uint64_t samples_of_hour(struct store *s, int hour)
{
	return (uint64_t)ask_sum(s, NOON + hour * HOUR, NOON + (hour + 1) * HOUR);
}

TEST(when_one_day_is_too_large_its_oldest_hours_go_and_the_newest_stays)
{
	struct fixture f = open_store();
	struct store_stats before, after;
	uint32_t seed = 1;

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
		CHECK(after.hours_expired >= 2 && after.hours_expired <= 4);
		for (unsigned hour = 0; hour < 6; hour++)
			CHECK((samples_of_hour(f.store, (int)hour) > 0) == (hour >= after.hours_expired));
		CHECK_INT(samples_of_hour(f.store, 5), newest);
		/* Whatever the limit is, the newest hour stays, and the day can be written to. */
		CHECK_INT(maintain(f.store, NOON + 6 * HOUR, 0, 1), 0);
		CHECK_INT(ask_sum(f.store, 0, INT64_MAX), newest);
	}
	CHECK_INT(append_one(f.store, 0, NOON, "entry=a", "main;f1", 5), 0);
	CHECK_INT(samples_of_hour(f.store, 0), 5);
	reopen(&f);
	CHECK_INT(samples_of_hour(f.store, 0), 5);
	done(&f);
}

TEST(the_disk_keeps_its_room_at_the_cost_of_the_oldest_days)
{
	struct fixture f = open_store();
	struct store_limits l = { 0 };
	struct store_stats stats;

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

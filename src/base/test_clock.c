/* test_clock.c: tests times in text. */
#include "clock.h"
#include "test.h"
#include <sys/syscall.h>
#include <time.h>

/* The machine's clocks, plus seconds that tests add to them. */
static int64_t set_ahead, suspended;

int clock_gettime(clockid_t id, struct timespec *t)
{
	int r = (int)syscall(SYS_clock_gettime, id, t);

	if (r == 0 && id == CLOCK_REALTIME)
		t->tv_sec += set_ahead + suspended;
	if (r == 0 && id == CLOCK_BOOTTIME)
		t->tv_sec += suspended;
	return r;
}

static int64_t duration(const char *text)
{
	int64_t ns = -1;

	return clock_parse_duration(text, &ns, NULL) < 0 ? -1 : ns;
}

static int64_t time_of(const char *text)
{
	const int64_t now = 1795247405LL * NS_PER_SECOND;	/* 2026-11-21T07:50:05Z */
	int64_t ns = -1;

	return clock_parse_time(text, now, &ns, NULL) < 0 ? -1 : ns;
}

TEST(a_clock_set_ahead_expires_nothing_for_a_day)
{
	const int64_t wall = 1795247405LL * NS_PER_SECOND, up = 1000 * NS_PER_SECOND, hour = NS_PER_DAY / 24;
	struct clock_age a = { 0 };

	CHECK_INT(clock_age_ns(&a, wall, up), wall);
	CHECK_INT(clock_age_ns(&a, wall + hour, up + hour), wall + hour);
	CHECK_INT(clock_age_ns(&a, wall + 60 * NS_PER_DAY, up + 2 * hour), wall + 2 * hour);
	CHECK_INT(clock_age_ns(&a, wall + 60 * NS_PER_DAY + hour, up + 3 * hour), wall + 3 * hour);
	CHECK_INT(clock_age_ns(&a, wall + 4 * hour, up + 4 * hour), wall + 4 * hour);		/* it was wrong */
	/* a clock set back is trusted at once */
	CHECK_INT(clock_age_ns(&a, wall - NS_PER_DAY, up + 5 * hour), wall - NS_PER_DAY);
	CHECK_INT(clock_age_ns(&a, wall, up + 6 * hour), wall - NS_PER_DAY + hour);
	/* after a day ahead, it is trusted */
	CHECK_INT(clock_age_ns(&a, wall + NS_PER_DAY, up + 30 * hour), wall + NS_PER_DAY);
}

TEST(a_clock_set_ahead_twice_is_trusted_a_day_after_the_second_change)
{
	const int64_t wall = 1795247405LL * NS_PER_SECOND, up = 1000 * NS_PER_SECOND, hour = NS_PER_DAY / 24;
	const int64_t years = 3650 * NS_PER_DAY;
	struct clock_age a = { 0 };

	CHECK_INT(clock_age_ns(&a, wall, up), wall);
	CHECK_INT(clock_age_ns(&a, wall + 2 * hour, up), wall);
	CHECK_INT(clock_age_ns(&a, wall + years + 23 * hour, up + 23 * hour), wall + 23 * hour);
	CHECK_INT(clock_age_ns(&a, wall + years + 25 * hour, up + 25 * hour), wall + 25 * hour);
	CHECK_INT(clock_age_ns(&a, wall + years + 47 * hour, up + 47 * hour), wall + years + 47 * hour);
}

/* Returns how many hours the expiry clock is behind the wall clock. */
static int64_t hours_behind(struct clock_age *a)
{
	int64_t age_ns = clock_age_now_ns(a), hour = NS_PER_DAY / 24;

	return (clock_wall_ns() - age_ns + hour / 2) / hour;
}

TEST(suspend_is_not_mistaken_for_a_clock_set_ahead)
{
	struct clock_age a = { 0 };

	CHECK_INT(hours_behind(&a), 0);
	suspended = 5 * 3600;
	CHECK_INT(hours_behind(&a), 0);
	CHECK_INT(a.ahead_since_ns, 0);
	set_ahead = 3 * 3600;
	CHECK_INT(hours_behind(&a), 3);
	set_ahead = suspended = 0;
}

TEST(durations_have_units)
{
	CHECK_INT(duration("90"), 90 * NS_PER_SECOND);
	CHECK_INT(duration("90s"), 90 * NS_PER_SECOND);
	CHECK_INT(duration("15m"), 900 * NS_PER_SECOND);
	CHECK_INT(duration("2h"), 7200 * NS_PER_SECOND);
	CHECK_INT(duration("7d"), 7 * NS_PER_DAY);
	CHECK_INT(duration("250ms"), 250000000);
	CHECK_INT(duration("10us"), 10000);
	CHECK_INT(duration("0"), 0);
	CHECK_INT(duration("1.5h"), 5400 * NS_PER_SECOND);
	CHECK_INT(duration("0.01"), 10000000);
	CHECK_INT(duration(".5s"), 500000000);
}

TEST(every_unit_named_in_help_and_docs_is_accepted)
{
	char text[] = CLOCK_DURATION_FORMS, *rest = strstr(text, "ns"), *unit;
	unsigned units = 0;

	*strstr(text, ", such as") = '\0';
	while ((unit = strsep(&rest, ", "))) {
		char one[16];

		if (!*unit || !strcmp(unit, "or"))
			continue;
		snprintf(one, sizeof(one), "3%s", unit);
		CHECK(duration(one) > 0);
		units++;
	}
	CHECK_INT(units, 8);
}

TEST(an_invalid_duration_is_rejected_with_examples)
{
	static const char *const bad[] = {
		"", "s", "-5", "5x", "1h30m", "5 s", "1..5", ".", "99999999999999999999", "300000d", "1e3", "5S",
	};
	int64_t ns;
	struct err err;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_INT(duration(bad[i]), -1);
	CHECK_INT(clock_parse_duration("5x", &ns, &err), -EINVAL);
	CHECK_STR(err.text, "invalid duration '5x'; use 90s, 15m, 2h, 7d or 250ms");
}

TEST(times_may_be_relative_dates_or_seconds)
{
	CHECK_INT(time_of("now"), 1795247405LL * NS_PER_SECOND);
	CHECK_INT(time_of("-15m"), (1795247405LL - 900) * NS_PER_SECOND);
	CHECK_INT(time_of("1970-01-02"), NS_PER_DAY);
	CHECK_INT(time_of("2026-11-21T07:50:05"), 1795247405LL * NS_PER_SECOND);
	CHECK_INT(time_of("2026-11-21T07:50:05Z"), 1795247405LL * NS_PER_SECOND);
	CHECK_INT(time_of("2026-11-21 07:50"), 1795247400LL * NS_PER_SECOND);
	CHECK_INT(time_of("2024-02-29"), 1709164800LL * NS_PER_SECOND);
	CHECK_INT(time_of("2026-11-21T07:50:05.25Z"), 1795247405LL * NS_PER_SECOND + 250000000);
	CHECK_INT(time_of("1795247405"), 1795247405LL * NS_PER_SECOND);
	CHECK_INT(time_of("1795247405.123456789"), 1795247405123456789LL);
	CHECK_INT(time_of("0"), 0);
}

TEST(an_invalid_time_is_rejected)
{
	static const char *const bad[] = {
		"", "yesterday", "2026-13-01", "2026-02-30", "2025-02-29", "2026-11-21T24:00", "2026-11-21T07",
		"2026-11-21T07:60", "2026-11-21x", "2026-1-2", "1.2.3", "--5m", "2026-11-21T07:30+01:00",
		"10000000000", "+5m", "NOW",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_INT(time_of(bad[i]), -1);
}

TEST(times_are_shown_in_utc)
{
	char text[32];

	clock_format(1795247405LL * NS_PER_SECOND + 999999999, text, sizeof(text));
	CHECK_STR(text, "2026-11-21T07:50:05Z");
	clock_format(0, text, sizeof(text));
	CHECK_STR(text, "1970-01-01T00:00:00Z");
	clock_format(-1, text, 21);
	CHECK_STR(text, "1969-12-31T23:59:59Z");
}

TEST(formatted_times_can_be_parsed_back)
{
	for (int64_t t = 0; t < 4000000000LL; t += 12345677) {
		char text[32];

		clock_format(t * NS_PER_SECOND, text, sizeof(text));
		CHECK_INT(time_of(text), t * NS_PER_SECOND);
	}
}

TEST(the_monotonic_clock_never_goes_back_and_the_wall_clock_is_plausible)
{
	int64_t a = clock_monotonic_ns(), b = clock_monotonic_ns();

	CHECK(a > 0 && b >= a);
	CHECK(clock_wall_ns() > 1700000000LL * NS_PER_SECOND);
}

TEST_MAIN()

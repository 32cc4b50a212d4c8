/* test_time.c: times in the forms of Pyroscope's older API. */
#include "clock.h"
#include "pyroscope_time.h"
#include "test.h"

#define NOW	(1795248000LL * NS_PER_SECOND)

static int64_t parsed(const char *text)
{
	int64_t ns = -1;
	struct err err = { 0 };

	CHECK_INT(pyroscope_time_parse(text, NOW, &ns, &err), 0);
	return ns;
}

TEST(units_of_numbers_are_detected_by_their_digits)
{
	CHECK_INT(parsed("1763726400"), 1763726400LL * NS_PER_SECOND);
	CHECK_INT(parsed("1763726400123"), 1763726400123LL * 1000000);
	CHECK_INT(parsed("1763726400123456"), 1763726400123456LL * 1000);
	CHECK_INT(parsed("1763726400123456789"), 1763726400123456789LL);
	CHECK_INT(parsed("20251121"), 1763683200LL * NS_PER_SECOND);
	CHECK_INT(parsed("99999999"), 99999999LL * NS_PER_SECOND);
	CHECK_INT(parsed("0"), 0);
}

TEST(times_relative_to_now_are_parsed)
{
	CHECK_INT(parsed("now"), NOW);
	CHECK_INT(parsed("now-90s"), NOW - 90 * NS_PER_SECOND);
	CHECK_INT(parsed("now-5m"), NOW - 300 * NS_PER_SECOND);
	CHECK_INT(parsed("now-5min"), NOW - 300 * NS_PER_SECOND);
	CHECK_INT(parsed("now-2h"), NOW - 7200 * NS_PER_SECOND);
	CHECK_INT(parsed("now-1M"), NOW - 30 * NS_PER_DAY);
	CHECK_INT(parsed("now-999999999y"), 0);
}

TEST(other_times_are_rejected)
{
	static const char *const bad[] = { "", "yesterday", "now+1h", "now-", "now-1", "now-1x", "12a", "-5", "99999999999999999999",
		"9999999999999999999", "now-9999999999s" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err err = { 0 };
		int64_t ns;

		CHECK_INT(pyroscope_time_parse(bad[i], NOW, &ns, &err), -EINVAL);
	}
}

TEST_MAIN()

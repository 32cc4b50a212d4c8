/* test_time_namespace.c: tests parsing of /proc/PID/timens_offsets. */

#include "test.h"
#include "time_namespace.h"

TEST(offsets_are_seconds_and_nanoseconds)
{
	struct time_offsets o = time_namespace_parse("monotonic       86400         1\nboottime       604800 999999999\n");

	CHECK(o.monotonic_ns == 86400000000001);
	CHECK(o.boottime_ns == 604800999999999);
}

TEST(negative_offsets_are_accepted)
{
	struct time_offsets o = time_namespace_parse("monotonic          -2 500000000\nboottime           -1         0\n");

	CHECK(o.monotonic_ns == -1500000000);
	CHECK(o.boottime_ns == -1000000000);
}

TEST(malformed_text_yields_no_offset)
{
	static const char *const texts[] = { "", "monotonic", "monotonic 1\n", "boottime x y", "boottime 99999999999999 0",
					     "boottime 1 -1", "boottime 1 1000000000" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct time_offsets o = time_namespace_parse(texts[i]);

		CHECK(!o.monotonic_ns && !o.boottime_ns);
	}
}

TEST_MAIN()

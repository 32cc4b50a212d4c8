/* test_size.c: tests sizes with units. */
#include "size.h"
#include "test.h"

TEST(sizes_have_units_by_powers_of_1024)
{
	static const struct { const char *text; uint64_t size; } cases[] = {
		{ "0", 0 }, { "1500", 1500 }, { "1K", 1024 }, { "500M", 500u << 20 }, { "10G", (uint64_t)10 << 30 },
		{ "10GB", (uint64_t)10 << 30 }, { "10 GiB", (uint64_t)10 << 30 }, { "1.5g", (uint64_t)3 << 29 },
		{ "2T", (uint64_t)2 << 40 }, { "64 b", 64 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t size = 1;

		CHECK_INT(size_parse(cases[i].text, &size, NULL), 0);
		CHECK_INT(size, cases[i].size);
	}
}

TEST(an_invalid_size_is_rejected)
{
	static const char *const bad[] = { "", "much", "-1", "10X", "10 G x", "GB", "B", "nan", "inf", "1e18", "1e30T",
					   "10GG" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err err = { 0 };
		uint64_t size;

		CHECK_INT(size_parse(bad[i], &size, &err), -EINVAL);
		CHECK(strstr(err.text, "use 500M, 10G") != NULL);
	}
}

TEST_MAIN()

/* test_histogram.c: tests that times with the same power of 2 share a row. */

#include "histogram.h"
#include "test.h"

static const char *text_of(const struct distribution *d)
{
	static struct buf b;

	if (b.data)
		buf_done(&b);
	buf_init(&b);
	histogram_put(d, "Off-CPU time distribution", &b);
	return b.data;
}

TEST(an_empty_distribution_has_no_rows)
{
	struct distribution d = { 0 };

	CHECK_STR(text_of(&d), "=== Off-CPU time distribution (in us) ===\nno values\n");
}

TEST(rows_are_powers_of_two_and_distant_ones_are_omitted)
{
	struct distribution d = { 0 };

	distribution_add(&d, 999, 1);
	distribution_add(&d, 4000, 2);
	distribution_add(&d, 7999, 1);
	distribution_add(&d, 1000000, 100);
	CHECK_INT(d.count, 104);
	CHECK_STR(text_of(&d),
		  "=== Off-CPU time distribution (in us) ===\n"
		  "min/avg/max: 0/961/1000\n"
		  "value |-------------------------------------------------- count\n"
		  "    0 |                                                       1\n"
		  "    1 |                                                       0\n"
		  "    2 |                                                       0\n"
		  "    4 |@                                                      3\n"
		  "    8 |                                                       0\n"
		  "   16 |                                                       0\n"
		  "    ~\n"
		  "  128 |                                                       0\n"
		  "  256 |                                                       0\n"
		  "  512 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@   100\n"
		  " 1024 |                                                       0\n"
		  " 2048 |                                                       0\n");
}

TEST(values_of_all_processors_are_added_up)
{
	struct distribution sum = { 0 }, one = { 0 }, none = { 0 };

	distribution_add(&one, 5000, 1);
	distribution_merge(&sum, &none);
	distribution_merge(&sum, &one);
	distribution_merge(&sum, &none);
	distribution_add(&one, 3000, 3);
	distribution_merge(&sum, &one);
	CHECK_INT(sum.count, 5);
	CHECK_INT(sum.min, 3000);
	CHECK_INT(sum.max, 5000);
	CHECK_INT(sum.sum, 19000);
	CHECK_INT(sum.buckets[3], 2);
	CHECK_INT(sum.buckets[2], 3);
}

TEST(the_longest_possible_time_has_a_row)
{
	struct distribution d = { 0 };

	distribution_add(&d, UINT64_MAX, 1);
	CHECK_INT(d.buckets[55], 1);
}

TEST_MAIN()

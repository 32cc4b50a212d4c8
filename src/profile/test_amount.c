/* test_amount.c: tests values formatted for people. */

#include "amount.h"

#include "test.h"

static const char *amount(int64_t value, enum amount_unit unit)
{
	static struct buf b;

	if (!b.data)
		buf_init(&b);
	buf_reset(&b);
	amount_put(&b, value, unit);
	return b.data;
}

TEST(counts_have_commas)
{
	CHECK_STR(amount(0, AMOUNT_COUNT), "0");
	CHECK_STR(amount(1234567, AMOUNT_COUNT), "1,234,567");
	CHECK_STR(amount(-1234, AMOUNT_COUNT), "-1,234");
}

TEST(times_have_three_digits_and_a_fitting_unit)
{
	CHECK_STR(amount(0, AMOUNT_TIME), "0 ns");
	CHECK_STR(amount(999, AMOUNT_TIME), "999 ns");
	CHECK_STR(amount(1500, AMOUNT_TIME), "1.50 \xc2\xb5s");
	CHECK_STR(amount(12345678, AMOUNT_TIME), "12.3 ms");
	CHECK_STR(amount(1240000000, AMOUNT_TIME), "1.24 s");
	CHECK_STR(amount(599000000000, AMOUNT_TIME), "599 s");
	CHECK_STR(amount(600000000000, AMOUNT_TIME), "10.0 min");
	CHECK_STR(amount(5400000000000, AMOUNT_TIME), "1.50 h");
	CHECK_STR(amount(-2000000, AMOUNT_TIME), "-2.00 ms");
}

TEST(bytes_are_counted_in_powers_of_1024)
{
	CHECK_STR(amount(1023, AMOUNT_BYTES), "1023 B");
	CHECK_STR(amount(1536, AMOUNT_BYTES), "1.50 KiB");
	CHECK_STR(amount(3670016, AMOUNT_BYTES), "3.50 MiB");
}

TEST(the_largest_numbers_are_formatted_correctly)
{
	CHECK_STR(amount(INT64_MIN, AMOUNT_TIME), "-2562048 h");
	CHECK_STR(amount(INT64_MAX, AMOUNT_COUNT), "9,223,372,036,854,775,807");
}

TEST(shares_have_two_decimals_and_a_share_of_zero_is_zero)
{
	struct buf b;

	buf_init(&b);
	amount_put_percent(&b, 1, 3);
	buf_putc(&b, ' ');
	amount_put_percent(&b, 5, 0);
	CHECK_STR(b.data, "33.33 0.00");
	buf_done(&b);
}

TEST(fractions_of_counts_are_shown_as_decimals)
{
	CHECK_INT(amount_unit("millionths"), AMOUNT_MILLIONTHS);
	CHECK(amount_is_count(AMOUNT_MILLIONTHS) && amount_is_count(AMOUNT_COUNT) && !amount_is_count(AMOUNT_TIME));
	CHECK_STR(amount(INT64_MIN, AMOUNT_MILLIONTHS), "-9,223,372,036,855");
}

/* "unit, value, words"; for a share the value is "part/whole". tests/web/test_amounts.mjs reads the same table. */
static void check_line(char *line)
{
	char *value = strchr(line, '\t'), *words = value ? strchr(value + 1, '\t') : NULL, *slash;
	struct buf b;

	CHECK(words != NULL);
	*value++ = *words++ = '\0';
	words[strcspn(words, "\n")] = '\0';
	buf_init(&b);
	slash = strchr(value, '/');
	if (slash)
		amount_put_share(&b, atoll(value), atoll(slash + 1));
	else
		amount_put(&b, atoll(value), amount_unit(line));
	CHECK_STR(b.data, words);
	buf_done(&b);
}

TEST(amounts_match_the_table_shared_with_the_page)
{
	FILE *table = fopen(getenv("AMOUNTS"), "re");
	char line[200];
	int lines = 0;

	CHECK(table != NULL);
	for (; fgets(line, sizeof(line), table); lines++)
		check_line(line);
	CHECK(lines > 40);
	fclose(table);
}

TEST_MAIN()

/* amount.c: formats values of columns for people; web/src/amount.ts has the same rules. */

#include "amount.h"

#include "profile.h"

#include <math.h>
#include <string.h>

struct step {
	double size;
	const char *name;
};

/* Minutes begin at ten and hours at one: below that, seconds are what people compare. */
static const struct step times[] = {
	{ 3600e9, " h" }, { 600e9, " min" }, { 1e9, " s" }, { 1e6, " ms" }, { 1e3, " \xc2\xb5s" }, { 1, " ns" },
};

static const struct step sizes[] = {
	{ 1099511627776.0, " TiB" }, { 1073741824.0, " GiB" }, { 1048576.0, " MiB" }, { 1024.0, " KiB" }, { 1, " B" },
};

enum amount_unit amount_unit(const char *unit)
{
	if (!strcmp(unit, "nanoseconds"))
		return AMOUNT_TIME;
	if (!strcmp(unit, "bytes"))
		return AMOUNT_BYTES;
	if (!strcmp(unit, PROFILE_MILLIONTHS))
		return AMOUNT_MILLIONTHS;
	return AMOUNT_COUNT;
}

bool amount_is_count(enum amount_unit unit)
{
	return unit == AMOUNT_COUNT || unit == AMOUNT_MILLIONTHS;
}

void amount_put_millionths(struct buf *b, int64_t value)
{
	int64_t whole = value / 1000000, part = value % 1000000;

	if (value < 0)
		buf_putc(b, '-');
	buf_put_i64(b, whole < 0 ? -whole : whole);
	part = part < 0 ? -part : part;
	if (part)
		buf_putc(b, '.');
	for (; part; part = part * 10 % 1000000)
		buf_putc(b, (char)('0' + part * 10 / 1000000));
}

/* Returns the number of decimals for three digits in all. */
static int decimals_of(double v, int most)
{
	int n = 0;

	for (double least = 99.95; n < most && v < least; least /= 10)
		n++;
	return n;
}

/* Rounds half of the last digit up, like JavaScript. The product is exact: it has 60 bits at most. */
static double rounded(double v, int decimals)
{
	static const double powers[] = { 1, 10, 100 };
	long double exact = (long double)v * powers[decimals];

	return (double)floorl(exact + 0.5L) / powers[decimals];
}

static void put_rounded(struct buf *b, double v, int decimals)
{
	buf_put_fixed(b, rounded(v, decimals), decimals);
}

static double unit_of(const struct step *step)
{
	return step->size == 600e9 ? 60e9 : step->size;
}

/* A value that rounds up to the next unit is shown in that unit: 1.00 s, not 1000 ms. All digits of the integer part
 * are shown, and the smallest unit has no decimals. */
static void put_scaled(struct buf *b, int64_t value, const struct step *steps, size_t n)
{
	double magnitude = value < 0 ? -(double)value : (double)value, shown;
	size_t i = 0;

	while (i + 1 < n && magnitude < steps[i].size)
		i++;
	shown = rounded(magnitude / unit_of(&steps[i]), i + 1 == n ? 0 : decimals_of(magnitude / unit_of(&steps[i]), 2));
	if (i && shown * unit_of(&steps[i]) >= steps[i - 1].size) {
		shown *= unit_of(&steps[i]) / unit_of(&steps[i - 1]);
		i--;
	}
	if (value < 0)
		buf_putc(b, '-');
	put_rounded(b, shown, i + 1 == n ? 0 : decimals_of(shown, 2));
	buf_puts(b, steps[i].name);
}

/* Omits trailing zeros. */
static void put_parts(struct buf *b, int64_t value)
{
	uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value, unit = 1000000, rounded, part;

	for (int n = decimals_of((double)magnitude / 1e6, 6); n > 0; n--)
		unit /= 10;
	rounded = (magnitude + unit / 2) / unit * unit;
	if (value < 0 && rounded)
		buf_putc(b, '-');
	buf_put_grouped(b, (int64_t)(rounded / 1000000));
	part = rounded % 1000000;
	if (part)
		buf_putc(b, '.');
	for (; part; part = part * 10 % 1000000)
		buf_putc(b, (char)('0' + part * 10 / 1000000));
}

void amount_put(struct buf *b, int64_t value, enum amount_unit unit)
{
	switch (unit) {
	case AMOUNT_TIME:
		put_scaled(b, value, times, ARRAY_SIZE(times));
		break;
	case AMOUNT_BYTES:
		put_scaled(b, value, sizes, ARRAY_SIZE(sizes));
		break;
	case AMOUNT_COUNT:
		buf_put_grouped(b, value);
		break;
	case AMOUNT_MILLIONTHS:
		put_parts(b, value);
		break;
	}
}

void amount_put_percent(struct buf *b, int64_t part, int64_t whole)
{
	buf_put_fixed(b, whole ? 100 * (double)part / (double)whole : 0, 2);
}

void amount_put_share(struct buf *b, int64_t part, int64_t whole)
{
	double percent = whole ? 100 * (double)part / (double)whole : 0, size = percent < 0 ? -percent : percent;

	if (percent >= 99.95 && percent < 100.05) {
		buf_puts(b, "100%");
		return;
	}
	if (part != 0 && percent < 0)
		buf_putc(b, '-');
	put_rounded(b, size, size < 9.95 ? 2 : 1);
	buf_putc(b, '%');
}

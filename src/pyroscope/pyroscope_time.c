/* pyroscope_time.c: tells units of numbers by their digits, and parses times before now. */
#include "pyroscope_time.h"

#include "clock.h"

#include <stdbool.h>
#include <string.h>

#define DIGITS "0123456789"

static int refuse(const char *text, struct err *err)
{
	return err_set(err, -EINVAL, "'%.60s' is not a time; give now-1h, 20261121 or a number of seconds since 1970", text);
}

/* Parses a day and returns its beginning; false if it does not exist. */
static bool parse_day(const char *text, int64_t *ret_ns)
{
	char day[11];
	struct err why;

	snprintf(day, sizeof(day), "%.4s-%.2s-%.2s", text, text + 4, text + 6);
	return strncmp(text, "19", 2) >= 0 && clock_parse_time(day, 0, ret_ns, &why) >= 0;
}

static int parse_number(const char *text, size_t digits, int64_t *ret_ns, struct err *err)
{
	int64_t unit = digits == 19 ? 1 : digits == 16 ? 1000 : digits == 13 ? 1000000 : NS_PER_SECOND, number;

	errno = 0;
	number = strtoll(text, NULL, 10);
	if (errno || __builtin_mul_overflow(number, unit, ret_ns))
		return refuse(text, err);
	return 0;
}

static int parse_before(const char *text, int64_t now_ns, int64_t *ret_ns, struct err *err)
{
	static const struct { const char *name; int64_t seconds; } units[] = {
		{ "s", 1 }, { "m", 60 }, { "min", 60 }, { "h", 3600 }, { "d", 86400 }, { "w", 7 * 86400 }, { "M", 30 * 86400 },
		{ "mon", 30 * 86400 }, { "y", 365 * 86400 },
	};
	const char *p = text + strlen("now-");
	size_t digits = strspn(p, DIGITS);

	if (!digits || digits > 9)
		return refuse(text, err);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		int64_t before;

		if (strcmp(p + digits, units[i].name))
			continue;
		if (__builtin_mul_overflow(strtoll(p, NULL, 10) * units[i].seconds, NS_PER_SECOND, &before) || before > now_ns)
			before = now_ns;
		*ret_ns = now_ns - before;
		return 0;
	}
	return refuse(text, err);
}

int pyroscope_time_parse(const char *text, int64_t now_ns, int64_t *ret_ns, struct err *err)
{
	size_t digits = strspn(text, DIGITS);

	if (!strcmp(text, "now")) {
		*ret_ns = now_ns;
		return 0;
	}
	if (!strncmp(text, "now-", 4))
		return parse_before(text, now_ns, ret_ns, err);
	if (!digits || text[digits] || digits > 19)
		return refuse(text, err);
	return digits == 8 && parse_day(text, ret_ns) ? 0 : parse_number(text, digits, ret_ns, err);
}

/* push_time.c: tells units by the number of digits. */
#include "push_time.h"

#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool date(const char *text, int64_t *ret_ns)
{
	struct tm t = { 0 }, back;
	time_t seconds;

	if (sscanf(text, "%4d%2d%2d", &t.tm_year, &t.tm_mon, &t.tm_mday) != 3)
		return false;
	t.tm_year -= 1900;
	t.tm_mon -= 1;
	back = t;
	seconds = timegm(&back);
	if (back.tm_mon != t.tm_mon || back.tm_mday != t.tm_mday || seconds < 0 || t.tm_year > 300)
		return false;
	*ret_ns = (int64_t)seconds * NS_PER_SECOND;
	return true;
}

static bool number(const char *text, size_t n, int64_t *ret_ns)
{
	int64_t unit = n == 19 ? 1 : n == 16 ? 1000 : n == 13 ? 1000000 : NS_PER_SECOND;
	unsigned long long v = n <= 19 ? strtoull(text, NULL, 10) : UINT64_MAX;

	return v <= INT64_MAX && !__builtin_mul_overflow((int64_t)v, unit, ret_ns);
}

static bool before_now(const char *text, int64_t now_ns, int64_t *ret_ns)
{
	static const struct { const char *unit; int64_t seconds; } units[] = {
		{ "s", 1 }, { "m", 60 }, { "min", 60 }, { "h", 3600 }, { "d", 86400 }, { "w", 604800 }, { "M", 2592000 },
		{ "y", 31536000 },
	};
	size_t digits = strspn(text, "0123456789");
	int64_t n = digits && digits <= 9 ? strtoll(text, NULL, 10) : -1;

	for (size_t i = 0; n >= 0 && i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(text + digits, units[i].unit)) {
			int64_t ns;

			if (__builtin_mul_overflow(n * units[i].seconds, NS_PER_SECOND, &ns) || ns > now_ns)
				return false;
			*ret_ns = now_ns - ns;
			return true;
		}
	return false;
}

bool push_time(const char *text, int64_t now_ns, int64_t *ret_ns)
{
	size_t digits = strspn(text, "0123456789");

	*ret_ns = now_ns;
	if (!strcmp(text, "now"))
		return true;
	if (!strncmp(text, "now-", 4))
		return before_now(text + 4, now_ns, ret_ns);
	if (!digits || text[digits])
		return false;
	return (digits == 8 && date(text, ret_ns)) || number(text, digits, ret_ns);
}

/* clock.c: converts between nanoseconds and times in text. */
#include "clock.h"
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * NS_PER_SECOND + t.tv_nsec;
}

int64_t clock_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t clock_monotonic_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_boottime_ns(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

int64_t clock_age_ns(struct clock_age *a, int64_t wall_ns, int64_t boottime_ns)
{
	int64_t offset = wall_ns - boottime_ns;
	bool ahead = a->offset_ns && offset > a->offset_ns + NS_PER_DAY / 24;

	/* The day restarts each time the clock is set further ahead. */
	if (ahead && (!a->ahead_since_ns || offset > a->ahead_offset_ns + NS_PER_DAY / 24)) {
		a->ahead_since_ns = boottime_ns;
		a->ahead_offset_ns = offset;
	}
	if (!ahead || boottime_ns - a->ahead_since_ns >= NS_PER_DAY) {
		a->offset_ns = offset;
		a->ahead_since_ns = 0;
	}
	return boottime_ns + a->offset_ns;
}

int64_t clock_age_now_ns(struct clock_age *a)
{
	return clock_age_ns(a, clock_wall_ns(), clock_boottime_ns());
}

/* Parses "123" or "1.5" as nanoseconds, for a unit of `unit_ns`; returns the rest of the text, NULL if there are no
 * digits or the result is above int64_t. Uses integers, because a double cannot represent today's nanoseconds. */
static const char *read_decimal(const char *p, int64_t unit_ns, int64_t *ret_ns)
{
	__int128 ns = 0;
	int64_t share = unit_ns;
	bool any = false;

	for (; isdigit((unsigned char)*p); p++, any = true) {
		ns = ns * 10 + (*p - '0');
		if (ns > INT64_MAX)
			return NULL;
	}
	ns *= unit_ns;
	if (*p == '.')
		for (p++; isdigit((unsigned char)*p); p++, any = true) {
			/* Units are multiples of ten down to the nanosecond, except minutes and longer ones. */
			ns += (__int128)(*p - '0') * share / 10;
			share /= 10;
		}
	if (!any || ns > INT64_MAX)
		return NULL;
	*ret_ns = (int64_t)ns;
	return p;
}

int clock_parse_duration(const char *text, int64_t *ret_ns, struct err *err)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {
		{ "", NS_PER_SECOND },	   { "ns", 1 },			  { "us", 1000 },
		{ "ms", 1000000 },	   { "s", NS_PER_SECOND },	  { "m", 60 * NS_PER_SECOND },
		{ "min", 60 * NS_PER_SECOND }, { "h", 3600 * NS_PER_SECOND }, { "d", NS_PER_DAY },
		{ "w", 7 * NS_PER_DAY },
	};
	size_t digits = strspn(text, "0123456789.");

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		const char *end;

		if (strcmp(text + digits, units[i].name))
			continue;
		end = read_decimal(text, units[i].ns, ret_ns);
		if (end == text + digits)
			return 0;
	}
	return err_set(err, -EINVAL, "invalid duration '%s'; use " CLOCK_DURATIONS, text);
}

/* Parses exactly `n` digits. */
static const char *read_digits(const char *p, int n, int *ret)
{
	*ret = 0;
	while (n--) {
		if (!isdigit((unsigned char)*p))
			return NULL;
		*ret = *ret * 10 + (*p++ - '0');
	}
	return p;
}

/* Parses "07:30", "07:30:05" or "07:30:05.25", each with an optional Z. */
static const char *read_time_of_day(const char *p, struct tm *tm, int64_t *ret_fraction_ns)
{
	p = read_digits(p, 2, &tm->tm_hour);
	if (!p || *p != ':')
		return NULL;
	p = read_digits(p + 1, 2, &tm->tm_min);
	if (p && *p == ':') {
		p = read_digits(p + 1, 2, &tm->tm_sec);
		if (p && *p == '.')
			p = read_decimal(p, NS_PER_SECOND, ret_fraction_ns);
	}
	if (!p || tm->tm_hour > 23 || tm->tm_min > 59 || tm->tm_sec > 59)
		return NULL;
	return *p == 'Z' ? p + 1 : p;
}

static int parse_date(const char *text, int64_t *ret_ns)
{
	struct tm tm = { 0 }, same;
	int64_t fraction = 0;
	const char *p = read_digits(text, 4, &tm.tm_year);
	time_t t;

	if (!p || *p != '-' || !(p = read_digits(p + 1, 2, &tm.tm_mon)) || *p != '-' ||
	    !(p = read_digits(p + 1, 2, &tm.tm_mday)))
		return -EINVAL;
	if (*p == 'T' || *p == ' ')
		p = read_time_of_day(p + 1, &tm, &fraction);
	if (!p || *p || tm.tm_year < 1970 || tm.tm_year > 2261)
		return -EINVAL;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	same = tm;
	t = timegm(&tm);
	/* timegm turns 31 February into 3 March, but it is more likely to be a typing error. */
	if (tm.tm_mon != same.tm_mon || tm.tm_mday != same.tm_mday)
		return -EINVAL;
	*ret_ns = (int64_t)t * NS_PER_SECOND + fraction;
	return 0;
}

int clock_parse_time(const char *text, int64_t now_ns, int64_t *ret_ns, struct err *err)
{
	const char *end;
	int64_t ns;

	if (!strcmp(text, "now")) {
		*ret_ns = now_ns;
		return 0;
	}
	if (text[0] == '-' && clock_parse_duration(text + 1, &ns, NULL) == 0) {
		*ret_ns = ns < now_ns ? now_ns - ns : 0;
		return 0;
	}
	if (parse_date(text, ret_ns) == 0)
		return 0;
	end = read_decimal(text, NS_PER_SECOND, &ns);
	if (end && !*end) {
		*ret_ns = ns;
		return 0;
	}
	return err_set(err, -EINVAL, "invalid time '%s'; use " CLOCK_TIMES, text);
}

void clock_format(int64_t ns, char *out, size_t size)
{
	int64_t seconds = ns / NS_PER_SECOND - (ns % NS_PER_SECOND < 0);
	time_t t = (time_t)seconds;
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* trace_keep.c: reads the conditions and applies them. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "trace_keep.h"

#include "php_strobe.h"

#define SLOWEST_MS	86400000	/* a day */

static bool begins_with(const char *p, size_t n, const char *word)
{
	return n >= strlen(word) && memcmp(p, word, strlen(word)) == 0;
}

/* Digits only, no longer than 8 of them. */
static bool parse_number(const char *p, size_t n, int64_t *ret)
{
	int64_t v = 0;

	if (n == 0 || n > 8)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		v = v * 10 + (p[i] - '0');
	}
	*ret = v;
	return true;
}

static bool parse_slow(const char *p, size_t n, struct trace_keep *k)
{
	int64_t unit_ms = 1, v;

	if (n > 2 && memcmp(p + n - 2, "ms", 2) == 0) {
		n -= 2;
	} else if (n > 1 && p[n - 1] == 's') {
		unit_ms = 1000;
		n--;
	} else {
		return false;
	}
	if (k->slow_ns || !parse_number(p, n, &v) || v < 1 || v > SLOWEST_MS / unit_ms)
		return false;
	k->slow_ns = v * unit_ms * 1000000;
	return true;
}

static void add_statuses(struct trace_keep *k, unsigned from, unsigned to)
{
	for (unsigned status = from; status <= to; status++)
		k->statuses[status / 64] |= 1ull << (status % 64);
}

static bool parse_status(const char *p, size_t n, struct trace_keep *k)
{
	int64_t v;

	if (n != 3 || p[0] < '1' || p[0] > '5')
		return false;
	if (p[1] == 'x' && p[2] == 'x')
		add_statuses(k, (unsigned)(p[0] - '0') * 100, (unsigned)(p[0] - '0') * 100 + 99);
	else if (parse_number(p, n, &v))
		add_statuses(k, (unsigned)v, (unsigned)v);
	else
		return false;
	return true;
}

static bool parse_condition(const char *p, size_t n, struct trace_keep *k)
{
	k->some = true;
	if (begins_with(p, n, "slow:"))
		return parse_slow(p + 5, n - 5, k);
	if (begins_with(p, n, "status:"))
		return parse_status(p + 7, n - 7, k);
	if (n != strlen("failed") || !begins_with(p, n, "failed"))
		return false;
	k->failed = true;
	return true;
}

bool trace_keep_parse(const char *p, size_t n, struct trace_keep *ret)
{
	struct trace_keep k = { 0 };
	const char *end = p + n;

	while (n) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		const char *from = p, *to = comma ? comma : end;

		while (from < to && *from == ' ')
			from++;
		while (from < to && to[-1] == ' ')
			to--;
		if (!parse_condition(from, (size_t)(to - from), &k))
			return false;
		if (!comma)
			break;
		p = comma + 1;
	}
	*ret = k;
	return true;
}

bool trace_keep_wants(const struct trace_keep *k, int64_t ns, int status, bool failed)
{
	if (!k->some)
		return true;
	if (k->slow_ns && ns >= k->slow_ns)
		return true;
	if (status > 0 && status < 640 && (k->statuses[status / 64] >> (status % 64) & 1))
		return true;
	return k->failed && failed;
}

ZEND_INI_MH(trace_keep_on_change)
{
	struct trace_keep k;

	if (!trace_keep_parse(ZSTR_VAL(new_value), ZSTR_LEN(new_value), &k))
		return FAILURE;
	STROBE_G(trace_keep) = ZSTR_VAL(new_value);
	return SUCCESS;
}

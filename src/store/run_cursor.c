/* run_cursor.c: converts cursors to text and back. */
#include "run_cursor.h"
#include "text.h"
#include <assert.h>
#include <string.h>

static bool get_bytes(const char *hex, size_t n, struct run_cursor *ret)
{
	if (n % 2 || n / 2 > RUN_KEY_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (text_hex_digit(hex[i]) < 0)
			return false;
	for (ret->n = 0; ret->n < n / 2; ret->n++)
		ret->bytes[ret->n] = (char)(text_hex_digit(hex[2 * ret->n]) * 16 +
					    text_hex_digit(hex[2 * ret->n + 1]));
	return true;
}

static bool get_number(const char *text, size_t n, int64_t *ret)
{
	char copy[24], *end;

	if (n == 0 || n >= sizeof(copy) || *text == ' ' || *text == '+')
		return false;
	memcpy(copy, text, n);
	copy[n] = 0;
	*ret = strtoll(copy, &end, 10);
	return !*end;
}

int run_cursor_parse(const struct store_run_query *q, bool is_number, struct run_cursor *ret, struct err *err)
{
	const char *dot = q->after ? strrchr(q->after, '.') : NULL;
	size_t n = dot ? (size_t)(dot - q->after) : 0;

	if (!q->after || !*q->after)
		return 0;
	if (dot && strlen(q->after) < STORE_RUNS_NEXT && get_number(dot + 1, strlen(dot + 1), &ret->id) &&
	    (is_number ? get_number(q->after, n, &ret->number) :
						   *q->after == 'x' && get_bytes(q->after + 1, n - 1, ret)))
		return 0;
	return err_set(err, -EINVAL, "'%.50s' is not a place in the list of runs; use the one from the "
				     "previous answer", q->after);
}

void run_cursor_format(const struct run_cursor *p, bool is_number, char ret[STORE_RUNS_NEXT])
{
	size_t at = 1;

	if (is_number) {
		snprintf(ret, STORE_RUNS_NEXT, "%lld.%lld", (long long)p->number, (long long)p->id);
		return;
	}
	assert(p->n <= RUN_KEY_MAX);
	*ret = 'x';
	for (size_t i = 0; i < p->n; i++, at += 2)
		snprintf(ret + at, STORE_RUNS_NEXT - at, "%02x", (unsigned char)p->bytes[i]);
	snprintf(ret + at, STORE_RUNS_NEXT - at, ".%lld", (long long)p->id);
	assert(at + sizeof(".-9223372036854775808") <= STORE_RUNS_NEXT);
}

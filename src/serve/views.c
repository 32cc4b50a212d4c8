/* views.c: builds the URLs of pages. */
#include "views.h"

#include "report.h"
#include "text.h"

#include <string.h>

#define DECIMALS	6
#define MILLION		UINT64_C(1000000)

bool views_parse_run(const char *text, struct views_run *ret)
{
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : 0;

	if (!slash || !strobe_wire_is_run_key(text, n) || !strobe_wire_is_run_key(slash + 1, strlen(slash + 1)))
		return false;
	memcpy(ret->source, text, n);
	ret->source[n] = 0;
	strcpy(ret->id, slash + 1);
	return true;
}

static void put_param(struct buf *out, char *before, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	buf_printf(out, "%c%s=", *before, key);
	text_put_url(out, (struct str){ value, strlen(value) });
	*before = '&';
}

static void put_runs(const struct views *v, char *before, struct buf *out)
{
	for (size_t i = 0; i < v->run_count; i++) {
		buf_printf(out, "%crun=%s/%s", *before, v->runs[i].source, v->runs[i].id);
		*before = '&';
	}
}

static void put_rest(const struct views *v, char *before, struct buf *out)
{
	put_param(out, before, "weights", v->weights);
	if (v->has_base) {
		buf_printf(out, "%cbase=%s/%s", *before, v->base.source, v->base.id);
		*before = '&';
	}
	put_param(out, before, "function", v->function);
	put_param(out, before, "column", v->column);
}

/* A single run has its own address. */
void views_put(const struct views *v, struct buf *out)
{
	char before = '?';

	if (v->run_count == 1 && !v->has_base) {
		buf_printf(out, "/runs/%s/%s", v->runs[0].source, v->runs[0].id);
	} else {
		buf_putc(out, '/');
		put_runs(v, &before, out);
	}
	put_rest(v, &before, out);
	put_param(out, &before, "sort", v->sort);
}

void views_put_callgraph(const struct views *v, const char *threshold, struct buf *out)
{
	char before = '?';

	buf_puts(out, "/callgraph.svg");
	put_runs(v, &before, out);
	put_rest(v, &before, out);
	put_param(out, &before, "threshold", threshold);
}

/* --- Weights --- */

/* Parses "12.5" as 12500000; false if it is malformed or too large. */
static bool take_millionths(const char **at, uint64_t *ret)
{
	const char *p = *at;
	int places = -1;			/* digits after the point; negative before it */
	bool has_digit = false;

	for (*ret = 0; (*p >= '0' && *p <= '9') || (*p == '.' && places < 0); p++) {
		if (*p == '.') {
			places = 0;
			continue;
		}
		if (*ret > REPORT_WEIGHT_MAX || (places >= 0 && places++ == DECIMALS))
			return false;
		*ret = *ret * 10 + (uint64_t)(*p - '0');
		has_digit = true;
	}
	for (places = places < 0 ? 0 : places; places < DECIMALS; places++)
		*ret *= 10;
	*at = p;
	return has_digit;
}

int views_weights(const char *text, size_t count, struct buf *out, struct err *err)
{
	uint64_t weights[VIEWS_RUNS], by = MILLION, sum = 0;
	const char *at = text;
	size_t n = 0;

	while (n < count && n < VIEWS_RUNS && take_millionths(&at, &weights[n])) {
		sum += weights[n++];
		if (*at != ',')
			break;
		at++;
	}
	if (n != count || *at || !sum || at[-1] == ',')
		return err_set(err, -EINVAL, "weights '%.80s': give one number for each of the %zu runs, not all 0, as in "
			       "20,30,50; at most %d decimals", text, count, DECIMALS);
	/* Keeps whole numbers unchanged. */
	for (size_t i = 0; i < n; i++)
		while (weights[i] % by)
			by /= 10;
	for (size_t i = 0; i < n; i++) {
		if (weights[i] / by > REPORT_WEIGHT_MAX)
			return err_set(err, -EINVAL, "weights '%.80s': a weight is at most %llu", text,
				       (unsigned long long)REPORT_WEIGHT_MAX);
		buf_printf(out, "%s%llu", i ? "," : "", (unsigned long long)(weights[i] / by));
	}
	return 0;
}

/* clickhouse_sql.c: builds parts of SQL statements. */
#include "clickhouse_ask.h"
#include "clock.h"
#include <assert.h>
#include <string.h>
#include <time.h>

void sql_put_string(struct buf *sql, struct str text)
{
	buf_putc(sql, '\'');
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c < 0x20 || c >= 0x7f || c == '\'' || c == '\\')
			buf_printf(sql, "\\x%02x", c);
		else
			buf_putc(sql, (char)c);
	}
	buf_putc(sql, '\'');
}

uint32_t clickhouse_month(int64_t day)
{
	time_t seconds = (time_t)(day * (NS_PER_DAY / NS_PER_SECOND));
	struct tm tm;

	assert(day >= -2 && day <= CLICKHOUSE_DAYS);
	gmtime_r(&seconds, &tm);
	return (uint32_t)(tm.tm_year + 1900) * 100 + (uint32_t)tm.tm_mon + 1;
}

/* Computes the buckets [first, end) of the range, clamped to what a Date can represent. */
static bool buckets_of(const struct store_query *q, int64_t *ret_first, int64_t *ret_end)
{
	int64_t most = (int64_t)CLICKHOUSE_DAYS * DAY_BUCKETS;

	*ret_first = q->from_ns > 0 ? q->from_ns / BATCH_BUCKET_NS : 0;
	*ret_end = q->to_ns > 0 ? q->to_ns / BATCH_BUCKET_NS + (q->to_ns % BATCH_BUCKET_NS != 0) : 0;
	if (*ret_end > most)
		*ret_end = most;
	return q->to_ns > q->from_ns && *ret_first < *ret_end;
}

bool sql_put_days(struct buf *sql, const struct store_query *q)
{
	int64_t first, end;

	if (!buckets_of(q, &first, &end))
		return false;
	buf_printf(sql, " AND day >= toDate(%lld) AND day <= toDate(%lld)", (long long)(first / DAY_BUCKETS),
		   (long long)((end - 1) / DAY_BUCKETS));
	return true;
}

bool sql_put_months(struct buf *sql, const struct store_query *q)
{
	int64_t first, end;

	if (!buckets_of(q, &first, &end))
		return false;
	buf_printf(sql, " AND month >= %u AND month <= %u", clickhouse_month(first / DAY_BUCKETS),
		   clickhouse_month((end - 1) / DAY_BUCKETS));
	return true;
}

bool sql_put_range(struct buf *sql, const struct store_query *q)
{
	int64_t first, end;

	if (!buckets_of(q, &first, &end))
		return false;
	sql_put_days(sql, q);
	if (first % DAY_BUCKETS)
		buf_printf(sql, " AND (day > toDate(%lld) OR bucket >= %lld)", (long long)(first / DAY_BUCKETS),
			   (long long)(first % DAY_BUCKETS));
	if (end % DAY_BUCKETS)
		buf_printf(sql, " AND (day < toDate(%lld) OR bucket < %lld)", (long long)(end / DAY_BUCKETS),
			   (long long)(end % DAY_BUCKETS));
	return true;
}

/* --- Filters --- */

static void put_filter(struct buf *sql, const struct label_filter *f)
{
	const struct str key = { f->key, strlen(f->key) }, value = { f->value, strlen(f->value) };
	bool is_prefix = f->match == LABEL_IS_PREFIX || f->match == LABEL_IS_NOT_PREFIX;

	if (is_prefix)
		buf_puts(sql, f->match == LABEL_IS_PREFIX ? "startsWith(" : "NOT startsWith(");
	buf_puts(sql, "vals[indexOf(keys, ");		/* [0], for a missing label, is '' */
	sql_put_string(sql, key);
	buf_puts(sql, is_prefix ? ")], " : f->match == LABEL_IS ? ")] = " : ")] != ");
	sql_put_string(sql, value);
	if (is_prefix)
		buf_putc(sql, ')');
}

static bool is_first_of_its_key(const struct label_filter *filters, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!label_filter_excludes(&filters[k]) && !strcmp(filters[k].key, filters[i].key))
			return false;
	return true;
}

/* Filters for the same key that include values are alternatives. */
static void put_alternatives(struct buf *sql, const struct label_filter *filters, size_t first, size_t count)
{
	assert(first < count && !label_filter_excludes(&filters[first]));
	buf_puts(sql, " AND (");
	for (size_t i = first; i < count; i++) {
		if (label_filter_excludes(&filters[i]) || strcmp(filters[i].key, filters[first].key))
			continue;
		if (i > first)
			buf_puts(sql, " OR ");
		put_filter(sql, &filters[i]);
	}
	buf_putc(sql, ')');
}

void sql_put_filters(struct buf *sql, const struct label_filter *filters, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (label_filter_excludes(&filters[i])) {
			buf_puts(sql, " AND ");
			put_filter(sql, &filters[i]);
		} else if (is_first_of_its_key(filters, i)) {
			put_alternatives(sql, filters, i, count);
		}
	}
}

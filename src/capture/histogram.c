/* histogram.c: prints the rows of a histogram. */

#include "histogram.h"

#include <stdbool.h>
#include <stdio.h>

#define BAR_WIDTH	50

void distribution_merge(struct distribution *into, const struct distribution *from)
{
	if (!from->count)
		return;
	if (!into->count || from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	into->count += from->count;
	into->sum += from->sum;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

/* --- as text */

struct rows {
	unsigned first, end;
	u64 most;
	int value_width, count_width;
};

static int digits(u64 n)
{
	return snprintf(NULL, 0, "%llu", (unsigned long long)n);
}

static u64 value_of(unsigned bucket)
{
	return bucket ? (u64)1 << (bucket - 1) : 0;
}

/* Chooses the rows that have counts, with up to two empty rows before and after. */
static struct rows choose_rows(const struct distribution *d)
{
	struct rows r = { HISTOGRAM_BUCKETS, 0, 0, 5, 5 };

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!d->buckets[i])
			continue;
		r.first = r.first < i ? r.first : i;
		r.end = i + 1;
		r.most = d->buckets[i] > r.most ? d->buckets[i] : r.most;
	}
	r.first = r.first > 2 ? r.first - 2 : 0;
	r.end = r.end + 2 < HISTOGRAM_BUCKETS ? r.end + 2 : HISTOGRAM_BUCKETS;
	if (digits(value_of(r.end - 1)) > r.value_width)
		r.value_width = digits(value_of(r.end - 1));
	if (digits(r.most) > r.count_width)
		r.count_width = digits(r.most);
	return r;
}

/* Tells whether the row is replaced by a "~": it is more than two rows away from any that is not empty. */
static bool is_left_out(const struct distribution *d, unsigned row)
{
	for (unsigned i = row > 2 ? row - 2 : 0; i <= row + 2 && i < HISTOGRAM_BUCKETS; i++)
		if (d->buckets[i])
			return false;
	return true;
}

static void put_row(const struct distribution *d, const struct rows *r, unsigned row, struct buf *out)
{
	u64 n = d->buckets[row];
	int bar = (int)(r->most > BAR_WIDTH ? (double)n * BAR_WIDTH / (double)r->most : (double)n);

	buf_printf(out, "%*llu |", r->value_width, (unsigned long long)value_of(row));
	for (int i = 0; i < BAR_WIDTH; i++)
		buf_putc(out, i < bar ? '@' : ' ');
	buf_printf(out, " %*llu\n", r->count_width, (unsigned long long)n);
}

void histogram_put(const struct distribution *d, const char *title, struct buf *out)
{
	struct rows r = choose_rows(d);

	buf_printf(out, "=== %s (in us) ===\n", title);
	if (!d->count) {
		buf_puts(out, "no values\n");
		return;
	}
	buf_printf(out, "min/avg/max: %llu/%llu/%llu\n", (unsigned long long)(d->min / 1000),
		   (unsigned long long)(d->sum / d->count / 1000), (unsigned long long)(d->max / 1000));
	buf_printf(out, "%*s |-------------------------------------------------- %*s\n", r.value_width, "value", r.count_width, "count");
	for (unsigned i = r.first; i < r.end; i++) {
		if (!is_left_out(d, i))
			put_row(d, &r, i, out);
		else if (!is_left_out(d, i - 1))
			buf_printf(out, "%*s\n", r.value_width, "~");
	}
}

/* clickhouse_largest.c: finds the value at a rank, and the rows above it. */
#include "clickhouse_largest.h"
#include "clickhouse_wire.h"
#include "map.h"
#include "mem.h"
#include "saturate.h"
#include <assert.h>
#include <string.h>

#define ROW_BYTES	24u

static bool is_of_samples(const struct clickhouse_kinds *kinds, uint64_t kind)
{
	const struct clickhouse_kind *k = clickhouse_find_kind(kinds, kind);

	return k && !strcmp(k->column, "samples");
}

struct row {
	uint64_t name, kind;
	int64_t value;
};

static bool next_row(struct row_reader *r, struct row *ret)
{
	if (!row_more(r))
		return false;
	ret->name = row_get(r, 8);
	ret->kind = row_get(r, 8);
	ret->value = (int64_t)row_get(r, 8);
	return !r->bad;
}

static int compare_values(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Returns the value of rank `most` among rows of samples; `ret_equal` is the number of rows with this value that are
 * still within the rank. Rows of other kinds rank after all of them. */
static int64_t least_kept(const struct buf *sums, const struct clickhouse_kinds *kinds, uint32_t most, uint32_t *ret_equal)
{
	size_t count = sums->size / ROW_BYTES, n = 0;
	_cleanup_(freep) int64_t *values = xmalloc((count + 1) * sizeof(*values));
	struct row_reader r = row_reader_of(sums);
	uint32_t at = most - 1;
	struct row row;

	while (next_row(&r, &row))
		values[n++] = is_of_samples(kinds, row.kind) ? row.value : INT64_MIN;
	assert(n > most);
	qsort(values, n, sizeof(*values), compare_values);
	for (*ret_equal = 1; *ret_equal < most && values[at - *ret_equal] == values[at];)
		++*ret_equal;
	return values[at];
}

/* Collects the names of the rows that are kept. */
static void note_kept(const struct buf *sums, const struct clickhouse_kinds *kinds, uint32_t most, struct map *kept)
{
	struct row_reader r = row_reader_of(sums);
	uint32_t equal;
	int64_t least = least_kept(sums, kinds, most, &equal);
	struct row row;

	while (next_row(&r, &row)) {
		int64_t value = is_of_samples(kinds, row.kind) ? row.value : INT64_MIN;

		if (value > least || (value == least && equal > 0 && equal--))
			map_set(kept, row.name, 1);
	}
	assert(kept->count <= most);
}

static void put_row(struct buf *b, uint64_t name, uint64_t kind, int64_t value)
{
	row_put(b, name, 8);
	row_put(b, kind, 8);
	row_put(b, (uint64_t)value, 8);
}

bool clickhouse_keep_largest(struct buf *sums, const struct clickhouse_kinds *kinds, uint32_t most)
{
	_cleanup_(map_done) struct map kept = { 0 };
	struct row_reader r = row_reader_of(sums);
	struct row row, left = { .name = 0 };
	struct buf to;

	assert(most > 0);
	if (sums->size / ROW_BYTES <= most)
		return false;
	note_kept(sums, kinds, most, &kept);
	buf_init(&to);
	while (next_row(&r, &row)) {
		if (left.name && left.kind != row.kind) {
			put_row(&to, left.name, left.kind, left.value);
			left = (struct row){ .name = 0 };
		}
		if (map_get(&kept, row.name) != MAP_NONE) {
			put_row(&to, row.name, row.kind, row.value);
			continue;
		}
		left.name = CLICKHOUSE_LEFT_OUT;
		left.kind = row.kind;
		saturating_add(&left.value, row.value);
	}
	if (left.name)
		put_row(&to, left.name, left.kind, left.value);
	buf_done(sums);
	*sums = to;
	return true;
}

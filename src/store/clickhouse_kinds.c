/* clickhouse_kinds.c: reads the table `kinds`. */
#include "clickhouse_kinds.h"
#include "clickhouse_wire.h"
#include "mem.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

static bool copy_text(struct str from, char to[64])
{
	if (from.n >= 64 || memchr(from.p, 0, from.n))
		return false;
	memcpy(to, from.p, from.n);
	to[from.n] = 0;
	return true;
}

static bool get_kind(struct row_reader *r, struct clickhouse_kind *ret)
{
	struct str column, unit;

	ret->name = row_get(r, 8);
	ret->clock = (uint32_t)row_get(r, 1);
	ret->period_ns = (int64_t)row_get(r, 8);
	ret->position = (uint32_t)row_get(r, 1);
	column = row_get_string(r);
	unit = row_get_string(r);
	ret->timed = row_get(r, 1) != 0;
	return !r->bad && copy_text(column, ret->column) && copy_text(unit, ret->unit);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = ((const struct clickhouse_kind *)a)->name, y = ((const struct clickhouse_kind *)b)->name;

	return x < y ? -1 : x > y;
}

const struct clickhouse_kind *clickhouse_find_kind(const struct clickhouse_kinds *k, uint64_t name)
{
	const struct clickhouse_kind key = { .name = name };

	return k->count ? bsearch(&key, k->items, k->count, sizeof(*k->items), compare) : NULL;
}

int clickhouse_fetch_kinds(struct clickhouse_store *s, unsigned shard, struct clickhouse_kinds *ret, struct err *err)
{
	_cleanup_(buf_done) struct buf answer = { 0 };
	struct clickhouse_request q = {
		.sql = "SELECT DISTINCT kind, clock, period_ns, position, name, unit, timed FROM kinds FORMAT RowBinary",
	};
	_cleanup_(clickhouse_kinds_done) struct clickhouse_kinds found = { 0 };
	struct clickhouse_kind kind;
	struct row_reader r;
	int rc;

	buf_init(&answer);
	rc = clickhouse_ask(s, shard, &q, &answer, err);
	if (rc < 0)
		return rc;
	for (r = row_reader_of(&answer); row_more(&r) && get_kind(&r, &kind); ) {
		GROW(&found.items, &found.capacity, found.count + 1);
		found.items[found.count++] = kind;
	}
	clickhouse_merge_kinds(ret, &found);
	return 0;
}

void clickhouse_merge_kinds(struct clickhouse_kinds *k, const struct clickhouse_kinds *others)
{
	size_t known = k->count;

	assert(!known || k->items);
	for (size_t i = 0; i < others->count; i++) {
		struct clickhouse_kinds before = { .items = k->items, .count = known };

		if (clickhouse_find_kind(&before, others->items[i].name))
			continue;
		GROW(&k->items, &k->capacity, k->count + 1);
		k->items[k->count++] = others->items[i];
	}
	if (k->count)
		qsort(k->items, k->count, sizeof(*k->items), compare);
}

void sql_put_other_kinds(struct buf *sql, const struct clickhouse_kinds *k)
{
	unsigned long long last = 0;

	buf_puts(sql, "(");
	for (size_t i = 0; i < k->count; i++) {
		buf_printf(sql, "kind > %llu AND kind < %llu OR ", last, (unsigned long long)k->items[i].name);
		last = k->items[i].name;
	}
	buf_printf(sql, "kind > %llu)", last);
}

void clickhouse_log_kindless(struct clickhouse_store *s, uint64_t sums)
{
	char why[256];

	if (!sums)
		return;
	snprintf(why, sizeof(why), "ClickHouse: %llu sums were left out, since their kind is in no server's table 'kinds'; the daemons that "
				   "sent these samples write it again within a day, or once they are restarted",
		 (unsigned long long)sums);
	clickhouse_note(s, why);
}

void clickhouse_kinds_done(struct clickhouse_kinds *k)
{
	free(k->items);
	*k = (struct clickhouse_kinds){ 0 };
}

const char *clickhouse_time_column(const struct clickhouse_kind *k)
{
	return !k->timed ? NULL : k->clock == STROBE_CLOCK_CPU ? "cpu_ns" : "wall_ns";
}

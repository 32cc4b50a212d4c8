/* clickhouse_series.c: fetches rows of `series`. */
#include "clickhouse_series.h"
#include "clickhouse_wire.h"
#include "mem.h"
#include <assert.h>

int clickhouse_fetch_series(struct clickhouse_store *s, unsigned shard, const struct store_query *q, struct buf *ret,
			    struct err *err)
{
	_cleanup_(buf_done) struct buf sql = { 0 };

	buf_init(&sql);
	buf_puts(&sql, "SELECT series, toUInt8(any(1");
	sql_put_filters(&sql, q->filters, q->filter_count);
	buf_puts(&sql, ")) AS wanted, any(if(1");
	sql_put_filters(&sql, q->filters, q->filter_count);
	buf_puts(&sql, ", keys, emptyArrayString())), any(if(1");
	sql_put_filters(&sql, q->filters, q->filter_count);
	buf_puts(&sql, ", vals, emptyArrayString())) FROM series WHERE 1");
	sql_put_days(&sql, q);
	buf_puts(&sql, " GROUP BY series FORMAT RowBinary");
	return clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql.data }, ret, err);
}

void sql_put_series(struct buf *sql, const struct store_query *q)
{
	if (!q->filter_count)
		return;
	buf_puts(sql, " AND series IN (SELECT series FROM series WHERE 1");
	sql_put_days(sql, q);
	sql_put_filters(sql, q->filters, q->filter_count);
	buf_putc(sql, ')');
}

void clickhouse_add_series(struct clickhouse_series *t, const struct buf *answer)
{
	struct row_reader r = row_reader_of(answer);

	while (row_more(&r)) {
		struct clickhouse_series_row row = { .name = row_get(&r, 8) };
		uint32_t *slot;

		row.matches = row_get(&r, 1) != 0;
		row_get_labels(&r, &row.labels);
		slot = map_slot(&t->by_name, row.name);
		if (*slot != MAP_NONE) {
			labels_done(&row.labels);
			continue;
		}
		assert(t->by_name.count == t->count + 1);
		*slot = (uint32_t)t->count;
		GROW(&t->items, &t->capacity, t->count + 1);
		t->items[t->count++] = row;
	}
}

void clickhouse_series_done(struct clickhouse_series *t)
{
	for (size_t i = 0; i < t->count; i++)
		labels_done(&t->items[i].labels);
	free(t->items);
	map_done(&t->by_name);
	*t = (struct clickhouse_series){ 0 };
}

struct clickhouse_series_row *clickhouse_find_series(struct clickhouse_series *t, uint64_t name)
{
	uint32_t i = map_get(&t->by_name, name);

	assert(i == MAP_NONE || (i < t->count && t->items[i].name == name));
	return i == MAP_NONE ? NULL : &t->items[i];
}

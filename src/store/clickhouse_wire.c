/* clickhouse_wire.c: encodes labels as two arrays. */
#include "clickhouse_wire.h"
#include "mem.h"
#include <string.h>

void row_put_labels(struct buf *b, const struct labels *l)
{
	buf_put_varint(b, l->count);
	for (size_t i = 0; i < l->count; i++)
		row_put_string(b, l->items[i].key, strlen(l->items[i].key));
	buf_put_varint(b, l->count);
	for (size_t i = 0; i < l->count; i++)
		row_put_string(b, l->items[i].value, strlen(l->items[i].value));
}

/* Ignores values without a key. */
void row_get_labels(struct row_reader *r, struct labels *ret)
{
	size_t n = row_get_count(r, 1), values;
	_cleanup_(freep) struct str *keys = xcalloc(n + 1, sizeof(*keys));

	labels_init(ret);
	for (size_t i = 0; i < n; i++)
		keys[i] = row_get_string(r);
	values = row_get_count(r, 1);
	for (size_t i = 0; i < values; i++) {
		struct str value = row_get_string(r);

		if (i < n && !r->bad)
			labels_set(ret, keys[i].p, keys[i].n, value.p, value.n);
	}
}

/* run_totals.c: encodes and decodes totals. */
#include "run_totals.h"
#include "edges.h"
#include "mem.h"
#include <assert.h>
#include <string.h>

const char *const run_totals_sorted[RUN_TOTALS_SORTED] = {
	"wall_ns", "cpu_ns", "memory_bytes", "peak_memory_bytes", "calls",
};

static void put_text(struct buf *b, const char *text)
{
	assert(strlen(text) < sizeof(((struct store_run_total *)NULL)->name));	/* readers refuse longer ones */
	buf_put_varint(b, strlen(text));
	buf_puts(b, text);
}

void run_totals_put(const struct profile *p, struct buf *out)
{
	for (uint32_t i = 0; i < p->column_count; i++) {
		put_text(out, p->columns[i].name);
		put_text(out, p->columns[i].unit);
		buf_put_varint(out, strobe_wire_zigzag(edges_total(p, i)));
	}
}

static_assert(sizeof(((struct store_run_total *)NULL)->name) == 64 && sizeof(((struct store_run_total *)NULL)->unit) == 64,
	      "get_text() fills a name or a unit");

static bool get_str(struct strobe_wire_cursor *c, struct str *ret)
{
	uint64_t n;

	if (!strobe_wire_get_varint(c, &n) || n >= 64 || n > (size_t)(c->end - c->p))
		return false;
	*ret = (struct str){ (const char *)c->p, (size_t)n };
	c->p += n;
	return true;
}

static bool get_text(struct strobe_wire_cursor *c, char ret[64])
{
	struct str text;

	if (!get_str(c, &text))
		return false;
	memcpy(ret, text.p, text.n);
	ret[text.n] = 0;
	return true;
}

static bool get_one(struct strobe_wire_cursor *c, struct store_run_total *ret)
{
	uint64_t value;

	if (c->p >= c->end || !get_text(c, ret->name) || !get_text(c, ret->unit) ||
	    !strobe_wire_get_varint(c, &value))
		return false;
	ret->value = strobe_wire_unzigzag(value);
	return true;
}

void run_totals_get(const void *bytes, size_t n, struct store_run *r)
{
	struct strobe_wire_cursor c = { bytes, (const uint8_t *)bytes + n };

	while (bytes && r->total_count < PROFILE_COLUMNS && get_one(&c, &r->totals[r->total_count]))
		r->total_count++;
}

void run_totals_put_names(const void *bytes, size_t n, struct buf *out)
{
	struct strobe_wire_cursor c = { bytes, (const uint8_t *)bytes + n };
	struct str name, unit;
	uint64_t value;

	for (size_t i = 0; bytes && i < PROFILE_COLUMNS && c.p < c.end; i++) {
		if (!get_str(&c, &name) || !get_str(&c, &unit) || !strobe_wire_get_varint(&c, &value))
			return;
		buf_put(out, name.p, name.n);
		buf_putc(out, 0);
		buf_put(out, unit.p, unit.n);
		buf_putc(out, 0);
	}
}

static void total_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	const uint8_t *bytes = sqlite3_value_blob(values[0]);
	const char *name = (const char *)sqlite3_value_text(values[1]);
	struct strobe_wire_cursor c = { bytes, bytes + (bytes ? sqlite3_value_bytes(values[0]) : 0) };
	struct store_run_total total;
	int64_t value = RUN_TOTAL_MISSING;

	assert(count == 2);
	while (bytes && name && value == RUN_TOTAL_MISSING && get_one(&c, &total))
		if (!strcmp(total.name, name))
			value = total.value;
	sqlite3_result_int64(context, value);
}

int run_totals_add_function(sqlite3 *db)
{
	return sqlite3_create_function(db, "run_total", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, total_function,
				       NULL, NULL);
}

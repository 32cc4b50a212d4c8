/* run_kind.c: hashes what runs have in common. */
#include "run_kind.h"
#include "labels.h"
#include "run_totals.h"
#include <assert.h>
#include <string.h>
#include <xxhash.h>

/* Labels are joined by commas. */
static void put_common_labels(struct str labels, struct buf *out)
{
	const char *at = labels.p, *end = labels.p + labels.n;

	while (at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
		const char *equals = memchr(at, '=', (size_t)(stop - at));

		if (!label_is_of_runs(at, (size_t)((equals ? equals : stop) - at))) {
			buf_put(out, at, (size_t)(stop - at));
			buf_putc(out, ',');
		}
		at = comma ? comma + 1 : end;
	}
}

int64_t run_kind_of(struct str source, struct str labels, struct str totals, struct buf *spare)
{
	buf_reset(spare);
	buf_put(spare, source.p, source.n);
	buf_putc(spare, 0);
	put_common_labels(labels, spare);
	buf_putc(spare, 0);
	run_totals_put_names(totals.p, totals.n, spare);
	return (int64_t)XXH3_64bits(spare->data, spare->size);
}

static struct str value_of(sqlite3_value *value)
{
	const void *bytes = sqlite3_value_blob(value);

	return (struct str){ bytes ? bytes : "", (size_t)sqlite3_value_bytes(value) };
}

static void kind_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	_cleanup_(buf_done) struct buf spare = { 0 };

	assert(count == 3);
	buf_init(&spare);
	sqlite3_result_int64(context, run_kind_of(value_of(values[0]), value_of(values[1]), value_of(values[2]), &spare));
}

int run_kind_add_function(sqlite3 *db)
{
	return sqlite3_create_function(db, "run_kind", 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, kind_function, NULL, NULL);
}

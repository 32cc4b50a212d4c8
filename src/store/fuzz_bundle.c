/* fuzz_bundle.c: any bytes are read as a bundle or refused; the chunks read are the same after bundling them again.
 *
 * The first byte chooses between a bundle and the row of an earlier version, and the number of columns; the rest is the row. */
#include "bundle.h"
#include "chunk.h"
#include "sqlite_day.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_chunk(struct str chunk, uint32_t columns)
{
	_cleanup_(buf_done) struct buf scratch = { 0 };
	struct chunk_rows rows;

	buf_init(&scratch);
	chunk_rows_init(&rows);
	chunk_rows_reset(&rows, columns);
	chunk_rows_add_chunk(&rows, chunk.p, chunk.n, &scratch);
	chunk_rows_done(&rows);
}

/* Bundles all chunks before the damage, if there is any. */
static void bundle_again(struct bundle_reader *r, uint32_t columns, struct buf *out)
{
	struct str chunk;
	int64_t series, last = 0;

	while (bundle_next(r, &series, &chunk) > 0) {
		if (series <= 0 || series >= DAY_SERIES || series < last || !chunk.n)
			abort();
		read_chunk(chunk, columns);
		bundle_put(out, (uint32_t)last, (uint32_t)series, chunk.p, chunk.n);
		last = series;
	}
}

static void compare(struct bundle_reader *first, struct bundle_reader *second)
{
	struct str a, b;
	int64_t x, y;

	while (bundle_next(second, &y, &b) > 0)
		if (bundle_next(first, &x, &a) != 1 || x != y || a.n != b.n || memcmp(a.p, b.p, a.n))
			abort();
	if (bundle_next(first, &x, &a) > 0)
		abort();
}

static void read_row(const uint8_t *data, size_t size, uint32_t columns)
{
	struct bundle_reader r;
	struct str chunk;
	int64_t series;

	bundle_open(&r, -1, data, size);
	if (bundle_next(&r, &series, &chunk) != 1 || series != -1 || chunk.n != size || bundle_next(&r, &series, &chunk) != 0)
		abort();
	read_chunk(chunk, columns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(buf_done) struct buf out = { 0 };
	struct bundle_reader first, second;
	uint32_t columns;

	if (size == 0 || size > 1 << 20)
		return 0;
	columns = 1 + data[0] % PROFILE_COLUMNS;
	if (data[0] & 0x80) {
		read_row(data + 1, size - 1, columns);
		return 0;
	}
	buf_init(&out);
	bundle_open(&first, BUNDLE_SERIES, data + 1, size - 1);
	bundle_again(&first, columns, &out);
	bundle_open(&first, BUNDLE_SERIES, data + 1, size - 1);
	bundle_open(&second, BUNDLE_SERIES, out.data, out.size);
	compare(&first, &second);
	return 0;
}

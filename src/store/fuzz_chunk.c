/* fuzz_chunk.c: any bytes are read as a chunk or refused; the rows read are the same after encoding them again.
 *
 * The first byte chooses the number of columns, the rest is the chunk as stored in a row. */
#include "chunk.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_rows(struct chunk_rows *rows, const void *data, size_t size)
{
	_cleanup_(buf_done) struct buf scratch = { 0 };

	buf_init(&scratch);
	return chunk_rows_add_chunk(rows, data, size, &scratch) >= 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chunk_rows first, second;
	struct buf out;
	uint32_t columns;

	if (size == 0 || size > 1 << 20)
		return 0;
	columns = 1 + data[0] % PROFILE_COLUMNS;
	chunk_rows_init(&first);
	chunk_rows_init(&second);
	buf_init(&out);
	chunk_rows_reset(&first, columns);
	chunk_rows_reset(&second, columns);
	if (read_rows(&first, data + 1, size - 1) && chunk_encode(&first, &out)) {
		if (!read_rows(&second, out.data, out.size) || first.count != second.count ||
		    memcmp(first.keys, second.keys, first.count * sizeof(*first.keys)) ||
		    memcmp(first.values, second.values, first.count * columns * sizeof(*first.values)))
			abort();
	}
	chunk_rows_done(&first);
	chunk_rows_done(&second);
	buf_done(&out);
	return 0;
}

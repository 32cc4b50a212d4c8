/* bundle.h: the samples of a row of `recent`: chunks of one bucket that were committed together, one or several per series.
 *
 * A commit of a fleet has some thousand series with a sample or two each. A row for each of them costs SQLite more time, and the
 * file more bytes, than the sample. A reader skips chunks of other series without decoding them.
 *
 *            per chunk:
 *   varint   series - series of the chunk before (before the first: 0)
 *   varint   size of the chunk, at least 1
 *   size     the chunk (chunk.h)
 *
 * A bundle is valid if 1. there is a chunk, 2. series are 1 … DAY_SERIES - 1, 3. each size fits into the remaining
 * bytes, 4. no bytes remain. Each chunk is checked when it is opened.
 *
 * Earlier versions wrote a row per chunk, with the number of the series in the column where a bundle has BUNDLE_SERIES. */
#ifndef STORE_BUNDLE_H
#define STORE_BUNDLE_H

#include "buf.h"
#include "intern.h"

#define BUNDLE_SERIES	0		/* no series has this number */
#define BUNDLE_BYTES	((size_t)256 << 10)	/* a larger one is continued in another row */

/* Appends a chunk to the bundle in `out`. `last` is the series of the previous chunk; 0 for the first one. */
void bundle_put(struct buf *out, uint32_t last, uint32_t series, const void *chunk, size_t size);

struct bundle_reader {
	const uint8_t *p, *end;
	int64_t series;			/* series of the previous chunk */
	bool is_chunk;			/* the row of an earlier version */
	bool ended;
};

/* Begins to read a row whose column `series` has this number. The bytes must stay valid until the last chunk is
 * read. */
void bundle_open(struct bundle_reader *r, int64_t series, const void *data, size_t size);

/* Reads the next chunk. Returns 1, 0 after the last one, or -EBADMSG, which ends the bundle. In rows of earlier
 * versions, the series may be any number. */
int bundle_next(struct bundle_reader *r, int64_t *ret_series, struct str *ret_chunk);

#endif

/* chunk.h: the on-disk format of one series' samples of one hour.
 *
 * A chunk is a sorted list of rows {stack, bucket, values[]}: a stack, a 10-second bucket of the hour, and one value
 * per column of the series. It does not know which series, hour or file it belongs to. Few series and a long hour, or
 * many series with a handful of samples each: both must cost two to three bytes per sample, and byte aligned varints
 * cost four and more, so the rows are a stream of bits.
 *
 *   size     content of a chunk, after it is unpacked (pack.h)
 *   varint   rows, at least 1
 *   varint   first bucket of the hour that occurs, 0 … 359
 *   varint   last bucket - first bucket
 *   varint   total of column 0, zigzag; saturated
 *   1        k of the distances between stacks
 *   1        k of the distances between buckets of one stack
 *            per column:
 *   varint     smallest value, zigzag
 *   1          k of what is above the smallest value; 63: all values are equal and take no bits
 *            per row, as bits, most significant first:
 *   code(k)    stack - stack of the row before (before the first row: 0)
 *   fixed      bucket - first bucket, in as many bits as the widest needs, if the stack is another than that of the
 *              row before, or the row is the first
 *   code(k)    bucket - bucket of the row before - 1, otherwise
 *   code(k)    value - smallest value, per column that is not all equal
 *            zero bits up to the next byte, nothing after them
 *
 * code(k) of v is Exp-Golomb: with q = (v >> k) + 1 of n bits, n - 1 zero bits, the n bits of q, the low k bits of v.
 *
 * A chunk is valid if 1. it unpacks, 2. the header is whole and within the ranges above, 3. rows are strictly
 * ascending by (stack, bucket), 4. stacks are within 32 bits, buckets within first and last, values within int64,
 * 5. the bits end in the last byte.
 */
#ifndef STORE_CHUNK_H
#define STORE_CHUNK_H

#include "batch.h"
#include "buf.h"

#define CHUNK_BUCKETS	360u			/* number of BATCH_BUCKET_NS in an hour */

/* Rows to be encoded as a chunk, in any order; rows with equal stack and bucket are added up. */
struct chunk_rows {
	uint32_t columns;
	uint64_t *keys;				/* stack << 9 | bucket */
	int64_t *values;			/* `columns` per row */
	size_t count, key_capacity, value_capacity;

	/* private */
	struct buf plain;			/* the chunk before it is packed */
};

void chunk_rows_init(struct chunk_rows *rows);
void chunk_rows_done(struct chunk_rows *rows);
void chunk_rows_reset(struct chunk_rows *rows, uint32_t columns);	/* empties it; 1 to PROFILE_COLUMNS columns */
void chunk_rows_add(struct chunk_rows *rows, uint32_t stack, unsigned bucket, const int64_t *values);

/* Sorts and merges the rows, drops those without values, and appends the chunk. Appends nothing and returns false if
 * no row remains. */
bool chunk_encode(struct chunk_rows *rows, struct buf *out);

struct chunk_reader {
	uint32_t columns, rows, row;
	unsigned first_bucket, last_bucket;
	int64_t total;				/* sum of column 0 */

	/* private */
	unsigned bucket_bits, k_stack, k_bucket;
	int64_t smallest[PROFILE_COLUMNS];
	uint8_t k_value[PROFILE_COLUMNS];
	const uint8_t *p, *end;
	uint64_t bits;
	unsigned bit_count;
	uint32_t stack;
	unsigned bucket;
};

/* Reads the header. `data` and `scratch` (memory for unpacking) must stay valid while rows are read. Returns -EBADMSG
 * if the bytes are not a chunk with this number of columns. */
int chunk_open(struct chunk_reader *r, const void *data, size_t size, uint32_t columns, struct buf *scratch);

/* Reads the next row. Returns 1, 0 after the last one, or -EBADMSG. */
int chunk_next(struct chunk_reader *r, uint32_t *ret_stack, unsigned *ret_bucket, int64_t *values);

/* Adds all rows of a chunk to `rows`, or none if it is damaged. */
int chunk_rows_add_chunk(struct chunk_rows *rows, const void *data, size_t size, struct buf *scratch);

#endif

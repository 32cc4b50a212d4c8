/* clickhouse_wire.h: ClickHouse's format RowBinary: rows of values without names, least byte first.
 *
 *	UInt8 … UInt64, Int64, Date (UInt16: days since 1970)	little-endian
 *	String		length (varint of strobe_wire.h), bytes
 *	Array(T)	number of elements (varint), elements
 *
 * After a premature end, zeros are read and `bad` is set. */
#ifndef STORE_CLICKHOUSE_WIRE_H
#define STORE_CLICKHOUSE_WIRE_H

#include "buf.h"
#include "intern.h"
#include "labels.h"
#include "strobe_wire.h"

static inline void row_put(struct buf *b, uint64_t v, unsigned bytes)
{
	uint8_t le[8];

	strobe_wire_put_le(le, v, bytes);
	buf_put(b, le, bytes);
}

static inline void row_put_string(struct buf *b, const void *p, size_t n)
{
	buf_put_varint(b, n);
	buf_put(b, p, n);
}

struct row_reader {
	struct strobe_wire_cursor at;
	bool bad;
};

static inline struct row_reader row_reader_of(const struct buf *b)
{
	const uint8_t *p = (const uint8_t *)b->data;

	return (struct row_reader){ .at = { p, p + b->size } };
}

static inline bool row_more(const struct row_reader *r)
{
	return !r->bad && r->at.p < r->at.end;
}

static inline uint64_t row_get(struct row_reader *r, unsigned bytes)
{
	uint64_t v;

	if ((size_t)(r->at.end - r->at.p) < bytes) {
		r->bad = true;
		r->at.p = r->at.end;
		return 0;
	}
	v = strobe_wire_get_le(r->at.p, bytes);
	r->at.p += bytes;
	return v;
}

/* Reads a count of elements of at least `size` bytes each; one that exceeds the remaining bytes is an error. */
static inline size_t row_get_count(struct row_reader *r, size_t size)
{
	uint64_t n;

	if (!strobe_wire_get_varint(&r->at, &n) || n > (size_t)(r->at.end - r->at.p) / size) {
		r->bad = true;
		r->at.p = r->at.end;
		return 0;
	}
	return (size_t)n;
}

/* Points into the reader's bytes. */
static inline struct str row_get_string(struct row_reader *r)
{
	size_t n = row_get_count(r, 1);
	struct str s = { (const char *)r->at.p, n };

	r->at.p += n;
	return s;
}

/* Put and get the columns `keys` and `vals`; row_get_labels replaces `ret`. */
void row_put_labels(struct buf *b, const struct labels *l);
void row_get_labels(struct row_reader *r, struct labels *ret);

#endif

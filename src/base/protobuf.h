/* protobuf.h: the part of Protocol Buffers' wire format that we need:
 * https://protobuf.dev/programming-guides/encoding.
 *
 *	message		field…
 *	field		varint of (number << 3 | type), then by type
 *	type 0		varint, 7 bits per byte, the lowest first, at most 10 bytes
 *	type 1, 5	8, 4 bytes
 *	type 2		varint of a size, and that many bytes: a string, a message, or packed numbers
 */
#ifndef BASE_PROTOBUF_H
#define BASE_PROTOBUF_H

#include "buf.h"

struct protobuf {
	const uint8_t *p, *end;
};

struct protobuf_field {
	uint32_t number;
	unsigned type;			/* 0, 1, 2 or 5 */
	uint64_t value;			/* for types 0, 1 and 5 */
	struct protobuf bytes;		/* for type 2 */
};

/* Reads the next field; returns false at the end, or if the rest is malformed (then p is not at the end). */
bool protobuf_next(struct protobuf *m, struct protobuf_field *ret);

/* Reads the next packed number, or the only number of a field that is not packed; returns false at the end, or if it
 * is damaged. */
bool protobuf_packed(struct protobuf_field *f, uint64_t *ret);
bool protobuf_packed_ended(const struct protobuf_field *f);	/* whether all were read */

/* Zeros are left out, since a missing field means 0. */
void protobuf_put_number(struct buf *b, uint32_t number, uint64_t value);
void protobuf_put_bytes(struct buf *b, uint32_t number, const void *bytes, size_t n);
void protobuf_put_double(struct buf *b, uint32_t number, double value);
void protobuf_put_doubles(struct buf *b, uint32_t number, const double *values, size_t n);	/* packed */

#endif

/* protobuf.c: reads fields one by one, never beyond the end of the message. */
#include "protobuf.h"

#include <string.h>

static bool take_varint(struct protobuf *m, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 70 && m->p < m->end; shift += 7) {
		uint8_t byte = *m->p++;

		/* The tenth byte only has room for one bit. */
		if (shift == 63 && byte > 1)
			return false;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = v;
			return true;
		}
	}
	return false;
}

static bool take_fixed(struct protobuf *m, unsigned n, uint64_t *ret)
{
	uint64_t v = 0;

	if ((size_t)(m->end - m->p) < n)
		return false;
	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)m->p[i] << (8 * i);
	m->p += n;
	*ret = v;
	return true;
}

bool protobuf_next(struct protobuf *m, struct protobuf_field *ret)
{
	const uint8_t *start = m->p;
	uint64_t key, size;
	bool fine = false;

	if (m->p >= m->end)
		return false;
	*ret = (struct protobuf_field){ 0 };
	if (take_varint(m, &key) && key >> 3 && key >> 3 < 1u << 29) {
		ret->number = (uint32_t)(key >> 3);
		ret->type = key & 7;
		if (ret->type == 0) {
			fine = take_varint(m, &ret->value);
		} else if (ret->type == 1 || ret->type == 5) {
			fine = take_fixed(m, ret->type == 1 ? 8 : 4, &ret->value);
		} else if (ret->type == 2 && take_varint(m, &size) && size <= (size_t)(m->end - m->p)) {
			ret->bytes = (struct protobuf){ m->p, m->p + size };
			m->p += size;
			fine = true;
		}
	}
	if (!fine)
		m->p = start;
	return fine;
}

bool protobuf_packed(struct protobuf_field *f, uint64_t *ret)
{
	if (f->type == 2)
		return take_varint(&f->bytes, ret);
	if (f->number == 0)
		return false;
	f->number = 0;
	*ret = f->value;
	return true;
}

bool protobuf_packed_ended(const struct protobuf_field *f)
{
	return f->type == 2 ? f->bytes.p == f->bytes.end : f->number == 0;
}

void protobuf_put_number(struct buf *b, uint32_t number, uint64_t value)
{
	if (!value)
		return;
	buf_put_varint(b, (uint64_t)number << 3);
	buf_put_varint(b, value);
}

void protobuf_put_bytes(struct buf *b, uint32_t number, const void *bytes, size_t n)
{
	buf_put_varint(b, (uint64_t)number << 3 | 2);
	buf_put_varint(b, n);
	if (n)
		buf_put(b, bytes, n);
}

static void put_fixed(struct buf *b, double value)
{
	uint8_t bytes[8];
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(bits >> (8 * i));
	buf_put(b, bytes, sizeof(bytes));
}

void protobuf_put_double(struct buf *b, uint32_t number, double value)
{
	if (value == 0)
		return;
	buf_put_varint(b, (uint64_t)number << 3 | 1);
	put_fixed(b, value);
}

void protobuf_put_doubles(struct buf *b, uint32_t number, const double *values, size_t n)
{
	buf_put_varint(b, (uint64_t)number << 3 | 2);
	buf_put_varint(b, n * 8);
	for (size_t i = 0; i < n; i++)
		put_fixed(b, values[i]);
}

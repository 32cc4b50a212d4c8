/* message.c: validates bytes; wire types and packed numbers are shared with JSON. */
#include "message_private.h"

#include "text.h"

#include <string.h>

unsigned message_wire_type(enum message_kind k)
{
	switch (k) {
	case MESSAGE_STRING:
	case MESSAGE_BYTES:
	case MESSAGE_OF:
		return 2;
	case MESSAGE_DOUBLE:
		return 1;
	default:
		return 0;
	}
}

bool message_is_packed(const struct message_field *f, const struct protobuf_field *found)
{
	return f->repeated && message_wire_type(f->kind) != 2 && found->type == 2;
}

bool message_packed_next(const struct message_field *f, struct protobuf_field *from, uint64_t *ret)
{
	if (message_wire_type(f->kind) == 0)
		return protobuf_packed(from, ret);
	if ((size_t)(from->bytes.end - from->bytes.p) < 8)
		return false;
	*ret = 0;
	for (unsigned i = 0; i < 8; i++)
		*ret |= (uint64_t)from->bytes.p[i] << (8 * i);
	from->bytes.p += 8;
	return true;
}

const struct message_field *message_field_of(const struct message *m, uint32_t number)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->fields[i].number == number)
			return &m->fields[i];
	return NULL;
}

static bool is_utf8(struct protobuf s)
{
	const char *p = (const char *)s.p, *end = (const char *)s.end;
	uint32_t c;

	while (p < end) {
		unsigned n = text_decode(p, end, &c);

		if (!n)
			return false;
		p += n;
	}
	return true;
}

static int check_field(const struct message *m, const struct message_field *f, struct protobuf_field *found, struct err *err)
{
	bool packed = message_is_packed(f, found);

	if (found->type != message_wire_type(f->kind) && !packed)
		return err_set(err, -EINVAL, "field %u (%s) of %s has wire type %u; this is another message", f->number, f->name,
			       m->name, found->type);
	if (f->kind == MESSAGE_STRING && !is_utf8(found->bytes))
		return err_set(err, -EINVAL, "field %u (%s) of %s is not UTF-8", f->number, f->name, m->name);
	if (f->kind == MESSAGE_OF)
		return message_check(f->of, found->bytes.p, (size_t)(found->bytes.end - found->bytes.p), err);
	if (packed) {
		struct protobuf_field list = *found;
		uint64_t number;

		while (message_packed_next(f, &list, &number))
			;
		if (!protobuf_packed_ended(&list))
			return err_set(err, -EINVAL, "field %u (%s) of %s is truncated", f->number, f->name, m->name);
	}
	return 0;
}

int message_check(const struct message *m, const void *bytes, size_t n, struct err *err)
{
	struct protobuf in = { bytes, (const uint8_t *)bytes + n };
	struct protobuf_field found;
	int r = 0;

	while (r >= 0 && protobuf_next(&in, &found)) {
		const struct message_field *f = message_field_of(m, found.number);

		if (f)
			r = check_field(m, f, &found, err);
	}
	if (r >= 0 && in.p != in.end)
		return err_set(err, -EINVAL, "the bytes are not a %s: they are truncated or malformed", m->name);
	return r;
}

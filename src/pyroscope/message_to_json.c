/* message_to_json.c: writes fields in the order of the table, since JSON needs the elements of a list together and
 * bytes may have them anywhere. */
#include "message_private.h"

#include "json.h"

#include <assert.h>
#include <string.h>

void message_json_name(const char *name, char ret[MESSAGE_NAME_MAX])
{
	size_t n = 0;

	assert(strlen(name) < MESSAGE_NAME_MAX);
	for (const char *c = name; *c; c++) {
		bool raise = *c == '_' && c[1];

		c += raise;
		ret[n++] = raise && *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
	}
	ret[n] = 0;
}

static void put_base64(struct json *j, struct protobuf bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct buf text;

	buf_init(&text);
	for (const uint8_t *p = bytes.p; p < bytes.end; p += 3) {
		size_t left = (size_t)(bytes.end - p);
		uint32_t three = (uint32_t)p[0] << 16 | (left > 1 ? (uint32_t)p[1] << 8 : 0) | (left > 2 ? p[2] : 0);

		buf_putc(&text, digits[three >> 18]);
		buf_putc(&text, digits[three >> 12 & 63]);
		buf_putc(&text, left > 1 ? digits[three >> 6 & 63] : '=');
		buf_putc(&text, left > 2 ? digits[three & 63] : '=');
	}
	json_bytes(j, (struct str){ text.data, text.size });
	buf_done(&text);
}

static void put_enum(struct json *j, const struct message_field *f, uint64_t value)
{
	size_t known = 0;

	while (f->values[known])
		known++;
	if (value < known)
		json_str(j, f->values[value]);
	else
		json_i64(j, (int32_t)value);
}

static void put_number(struct json *j, const struct message_field *f, uint64_t value)
{
	char text[24];
	double number;

	switch (f->kind) {
	case MESSAGE_BOOL:
		json_bool(j, value != 0);
		break;
	case MESSAGE_INT32:
		json_i64(j, (int32_t)value);
		break;
	case MESSAGE_ENUM:
		put_enum(j, f, value);
		break;
	case MESSAGE_DOUBLE:
		memcpy(&number, &value, sizeof(number));
		json_double(j, number);
		break;
	default:
		snprintf(text, sizeof(text), f->kind == MESSAGE_UINT64 ? "%llu" : "%lld", (unsigned long long)value);
		json_str(j, text);
	}
}

static int put_message(struct json *j, const struct message *m, struct protobuf in, struct err *err);

/* Writes one value, or all values of a packed field. */
static int put_value(struct json *j, const struct message_field *f, struct protobuf_field *found, struct err *err)
{
	uint64_t number;

	if (f->kind == MESSAGE_OF)
		return put_message(j, f->of, found->bytes, err);
	if (f->kind == MESSAGE_STRING)
		json_bytes(j, (struct str){ (const char *)found->bytes.p, (size_t)(found->bytes.end - found->bytes.p) });
	else if (f->kind == MESSAGE_BYTES)
		put_base64(j, found->bytes);
	else if (!message_is_packed(f, found))
		put_number(j, f, found->value);
	else
		while (message_packed_next(f, found, &number))
			put_number(j, f, number);
	return 0;
}

static void open_field(struct json *j, const struct message_field *f)
{
	char name[MESSAGE_NAME_MAX];

	message_json_name(f->name, name);
	json_key(j, name);
	if (f->repeated)
		json_open_array(j);
}

static int put_field(struct json *j, const struct message_field *f, struct protobuf in, struct err *err)
{
	struct protobuf_field found, last = { 0 };
	bool open = false;
	int r = 0;

	while (r >= 0 && protobuf_next(&in, &found)) {
		if (found.number != f->number)
			continue;
		if (f->repeated && !open)
			open_field(j, f);
		open = true;
		if (f->repeated)
			r = put_value(j, f, &found, err);
		else
			last = found;
	}
	if (r >= 0 && open && !f->repeated) {
		open_field(j, f);
		r = put_value(j, f, &last, err);
	}
	if (open && f->repeated)
		json_end(j);
	return r;
}

static int put_message(struct json *j, const struct message *m, struct protobuf in, struct err *err)
{
	int r = 0;

	json_open_object(j);
	for (size_t i = 0; r >= 0 && i < m->count; i++)
		r = put_field(j, &m->fields[i], in, err);
	json_end(j);
	return r;
}

int message_to_json(const struct message *m, const void *bytes, size_t n, struct buf *out, struct err *err)
{
	int r = message_check(m, bytes, n, err);
	struct json j;

	if (r < 0)
		return r;
	json_init(&j, out);
	return put_message(&j, m, (struct protobuf){ bytes, (const uint8_t *)bytes + n }, err);
}

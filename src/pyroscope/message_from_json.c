/* message_from_json.c: walks a tree of Jansson's by the table of fields. */
#include "message_private.h"

#include "mem.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static int put_object(struct buf *out, const struct message *m, json_t *object, struct err *err);

static int refuse(const struct message_field *f, const char *wanted, struct err *err)
{
	char name[MESSAGE_NAME_MAX];

	message_json_name(f->name, name);
	return err_set(err, -EINVAL, "the field '%s' is not %s", name, wanted);
}

static int parse_integer(const struct message_field *f, const char *text, uint64_t *ret, struct err *err)
{
	char *end;

	errno = 0;
	*ret = f->kind == MESSAGE_UINT64 ? strtoull(text, &end, 10) : (uint64_t)strtoll(text, &end, 10);
	if (errno || end == text || *end || (f->kind == MESSAGE_UINT64 && *text == '-'))
		return refuse(f, "an integer", err);
	return 0;
}

static int get_integer(const struct message_field *f, json_t *value, uint64_t *ret, struct err *err)
{
	double real;

	if (json_is_string(value))
		return parse_integer(f, json_string_value(value), ret, err);
	if (json_is_integer(value)) {
		*ret = (uint64_t)json_integer_value(value);
		return 0;
	}
	real = json_real_value(value);
	if (!json_is_real(value) || real != floor(real) || fabs(real) > 9e18)
		return refuse(f, "an integer", err);
	*ret = (uint64_t)(int64_t)real;
	return 0;
}

/* An unknown name becomes 0, the default: later versions of the protocol have more names. */
static int get_enum(const struct message_field *f, json_t *value, uint64_t *ret, struct err *err)
{
	if (!json_is_string(value))
		return get_integer(f, value, ret, err);
	*ret = 0;
	for (uint64_t i = 0; f->values[i]; i++)
		if (!strcmp(f->values[i], json_string_value(value)))
			*ret = i;
	return 0;
}

static int put_double(struct buf *out, const struct message_field *f, json_t *value, struct err *err)
{
	double number = json_number_value(value);
	char *end;

	if (json_is_string(value)) {
		number = strtod(json_string_value(value), &end);
		if (end == json_string_value(value) || *end)
			return refuse(f, "a number", err);
	} else if (!json_is_number(value)) {
		return refuse(f, "a number", err);
	}
	protobuf_put_double(out, f->number, number);
	return 0;
}

static int digit_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static int put_base64(struct buf *out, const struct message_field *f, const char *text, struct err *err)
{
	_cleanup_(buf_done) struct buf bytes = { 0 };
	uint32_t bits = 0;
	unsigned n = 0;

	buf_init(&bytes);
	for (; *text && *text != '='; text++) {
		int digit = digit_of(*text);

		if (digit < 0)
			return refuse(f, "base64", err);
		bits = bits << 6 | (uint32_t)digit;
		n += 6;
		if (n >= 8) {
			n -= 8;
			buf_putc(&bytes, (char)(bits >> n));
		}
	}
	if (text[strspn(text, "=")])
		return refuse(f, "base64", err);
	protobuf_put_bytes(out, f->number, bytes.data, bytes.size);
	return 0;
}

static int put_message(struct buf *out, const struct message_field *f, json_t *value, struct err *err)
{
	_cleanup_(buf_done) struct buf inner = { 0 };
	int r;

	if (!json_is_object(value))
		return refuse(f, "an object", err);
	buf_init(&inner);
	r = put_object(&inner, f->of, value, err);
	if (r >= 0)
		protobuf_put_bytes(out, f->number, inner.data, inner.size);
	return r;
}

static int put_text(struct buf *out, const struct message_field *f, json_t *value, struct err *err)
{
	if (!json_is_string(value))
		return refuse(f, "a string", err);
	if (f->kind == MESSAGE_BYTES)
		return put_base64(out, f, json_string_value(value), err);
	protobuf_put_bytes(out, f->number, json_string_value(value), json_string_length(value));
	return 0;
}

/* Zeros are written in lists, where they are elements like others. */
static int put_number(struct buf *out, const struct message_field *f, json_t *value, struct err *err)
{
	uint64_t number = 0;
	int r = 0;

	if (f->kind == MESSAGE_BOOL && !json_is_boolean(value))
		return refuse(f, "true or false", err);
	if (f->kind == MESSAGE_BOOL)
		number = json_is_true(value);
	else if (f->kind == MESSAGE_ENUM)
		r = get_enum(f, value, &number, err);
	else
		r = get_integer(f, value, &number, err);
	if (r < 0 || (!number && !f->repeated))
		return r;
	buf_put_varint(out, (uint64_t)f->number << 3);
	buf_put_varint(out, number);
	return 0;
}

/* PHP's names of anonymous classes have a NUL, so text may; numbers, names of values and base64 end at one. */
static bool has_nul(json_t *value)
{
	return json_is_string(value) && strlen(json_string_value(value)) != json_string_length(value);
}

static int put_value(struct buf *out, const struct message_field *f, json_t *value, struct err *err)
{
	if (f->kind != MESSAGE_STRING && has_nul(value))
		return refuse(f, "text without a NUL byte", err);
	switch (f->kind) {
	case MESSAGE_STRING:
	case MESSAGE_BYTES:
		return put_text(out, f, value, err);
	case MESSAGE_OF:
		return put_message(out, f, value, err);
	case MESSAGE_DOUBLE:
		return put_double(out, f, value, err);
	default:
		return put_number(out, f, value, err);
	}
}

static int put_field(struct buf *out, const struct message_field *f, json_t *value, struct err *err)
{
	int r = 0;

	if (json_is_null(value))
		return 0;
	if (!f->repeated)
		return put_value(out, f, value, err);
	if (!json_is_array(value))
		return refuse(f, "a list", err);
	for (size_t i = 0; r >= 0 && i < json_array_size(value); i++)
		r = put_value(out, f, json_array_get(value, i), err);
	return r;
}

static int put_object(struct buf *out, const struct message *m, json_t *object, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < m->count; i++) {
		char name[MESSAGE_NAME_MAX];
		json_t *value;

		message_json_name(m->fields[i].name, name);
		value = json_object_get(object, name);
		if (!value)
			value = json_object_get(object, m->fields[i].name);
		if (value)
			r = put_field(out, &m->fields[i], value, err);
	}
	return r;
}

int message_from_json(const struct message *m, const char *text, size_t n, struct buf *out, struct err *err)
{
	json_error_t why;
	json_t *object = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	int r;

	if (!object)
		return err_set(err, -EINVAL, "the body is not JSON: %s (line "
					     "%d, column %d)", why.text, why.line, why.column);
	r = json_is_object(object) ? put_object(out, m, object, err) :
		err_set(err, -EINVAL, "the body is not a JSON object");
	json_decref(object);
	return r;
}

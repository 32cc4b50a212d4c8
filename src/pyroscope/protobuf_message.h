/* protobuf_message.h: messages of Protocol Buffers as tables of fields, so that bytes and JSON come from one place.
 *
 * The bytes are the form that programs here read and write (protobuf.h); JSON is translated from and to them by the
 * rules of https://protobuf.dev/programming-guides/json: names in lowerCamelCase, integers of 64 bits as strings, bytes in
 * base64, enums by name, and nothing where a field is zero or empty.
 */
#ifndef PYROSCOPE_PROTOBUF_MESSAGE_H
#define PYROSCOPE_PROTOBUF_MESSAGE_H

#include "buf.h"
#include "err.h"

enum message_kind {
	MESSAGE_STRING, MESSAGE_BYTES, MESSAGE_INT64, MESSAGE_UINT64, MESSAGE_INT32, MESSAGE_BOOL, MESSAGE_DOUBLE,
	MESSAGE_ENUM, MESSAGE_OF,
};

struct message_field {
	uint32_t number;
	const char *name;			/* as in the .proto text; the one of JSON is made of it */
	enum message_kind kind;
	bool repeated;
	const struct message *of;		/* for MESSAGE_OF */
	const char *const *values;		/* for MESSAGE_ENUM: names of 0, 1 …, and NULL at the end */
};

/* No message contains itself, directly or through others. */
struct message {
	const char *name;
	const struct message_field *fields;
	size_t count;
};

/* The field of that number; NULL if the table lacks it. */
const struct message_field *message_field_of(const struct message *m, uint32_t number);

/* Appends the message in JSON; what the table lacks is left out. -EINVAL if the bytes are malformed. */
int message_to_json(const struct message *m, const void *bytes, size_t n, struct buf *out, struct err *err);

/* Appends the message that the text of an object stands for. Names may also be those of the .proto text, integers
 * numbers or strings, enums names or numbers; null is absent, unknown fields are ignored. -EINVAL with a sentence that
 * names the field. */
int message_from_json(const struct message *m, const char *text, size_t n, struct buf *out, struct err *err);

/* Whether the bytes are such a message as far as the table knows its fields: types fit, nothing is cut off, and strings
 * are UTF-8. -EINVAL with a sentence. */
int message_check(const struct message *m, const void *bytes, size_t n, struct err *err);

#endif

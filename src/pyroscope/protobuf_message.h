/* protobuf_message.h: messages of Protocol Buffers as tables of fields, which drive both the binary encoding and JSON.
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
	const char *name;			/* as in the .proto file; the name in JSON is derived from it */
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

/* Returns the field with that number; NULL if the table lacks it. */
const struct message_field *message_field_of(const struct message *m, uint32_t number);

/* Appends the message as JSON, without fields that the table lacks. -EINVAL if the bytes are malformed. */
int message_to_json(const struct message *m, const void *bytes, size_t n, struct buf *out, struct err *err);

/* Appends the message that a JSON object represents. Names may also be those of the .proto file, integers numbers or
 * strings, enums names or numbers; null counts as absent, unknown fields are ignored. -EINVAL with a sentence that
 * names the field. */
int message_from_json(const struct message *m, const char *text, size_t n, struct buf *out, struct err *err);

/* Checks that the bytes are such a message, for the fields in the table: types fit, nothing is truncated, and strings
 * are UTF-8. -EINVAL with a sentence. */
int message_check(const struct message *m, const void *bytes, size_t n, struct err *err);

#endif

/* message_private.h: shared by the files of protobuf_message.h only. */
#ifndef PYROSCOPE_MESSAGE_PRIVATE_H
#define PYROSCOPE_MESSAGE_PRIVATE_H

#include "protobuf_message.h"
#include "protobuf.h"

unsigned message_wire_type(enum message_kind k);

/* message_is_packed tells whether the field that was found holds several numbers; message_packed_next reads the next
 * one (doubles as their bits). */
bool message_is_packed(const struct message_field *f, const struct protobuf_field *found);
bool message_packed_next(const struct message_field *f, struct protobuf_field *from, uint64_t *ret);

#define MESSAGE_NAME_MAX 64u

/* "max_nodes" becomes "maxNodes". */
void message_json_name(const char *name, char ret[MESSAGE_NAME_MAX]);

#endif

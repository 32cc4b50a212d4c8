/* push_messages.h: the request of Pyroscope's push.v1, as a table, and its reader. */
#ifndef EXCHANGE_PUSH_MESSAGES_H
#define EXCHANGE_PUSH_MESSAGES_H

#include "protobuf_message.h"
#include "pushed.h"

extern const struct message message_push_request, message_push_response;

enum { PUSH_SERIES = 1 };
enum { PUSH_SERIES_LABELS = 1, PUSH_SERIES_SAMPLES };
enum { PUSH_SAMPLE_PROFILE = 1, PUSH_SAMPLE_ID };

/* Adds all profiles of a PushRequest. -EINVAL with a sentence: if a series lacks __name__ or service_name or has a
 * label twice, or if a profile is damaged; -E2BIG or -EFBIG above a limit. */
int push_request(struct pushed *p, const void *bytes, size_t n, struct err *err);

#endif

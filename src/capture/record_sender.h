/* record_sender.h: sends profiles of a recording to the daemon, and queues what it cannot accept yet. */
#ifndef CAPTURE_RECORD_SENDER_H
#define CAPTURE_RECORD_SENDER_H

#include "err.h"
#include "profile.h"
#include "strobe_wire.h"

struct record_sender;

/* `address` is as in daemon_socket_new. */
int record_sender_new(struct record_sender **ret, const char *address, struct err *err);
struct record_sender *record_sender_free(struct record_sender *s);	/* NULL is fine; returns NULL */

/* Queues a profile, which may be empty, and frees it. Returns -E2BIG if it does not fit into a message. */
int record_sender_add(struct record_sender *s, struct profile *p, struct err *err);

/* Reports lost samples and the reason to the daemon, in a separate message, unless there are none. Profiles dropped
 * because the queue is full are automatically reported as STROBE_DROP_NO_DAEMON. */
void record_sender_lose(struct record_sender *s, const struct labels *labels, enum strobe_drop reason, uint64_t samples);

/* Sends everything queued. After an error it stays queued, up to RECORD_SENDER_MAX bytes. */
#define RECORD_SENDER_MAX	((size_t)64 << 20)
int record_sender_flush(struct record_sender *s, struct err *err);

/* Profiles sent, and bytes dropped because the queue was full. */
uint64_t record_sender_sent(const struct record_sender *s);
uint64_t record_sender_lost_bytes(const struct record_sender *s);

#endif

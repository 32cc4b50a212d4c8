/* push_source.h: profiles that others send by HTTP, handed over in the loop's thread.
 *
 * Threads that have read and checked a push give its messages (wire/strobe_wire.h) and wait for the loop, which takes all of
 * them, or none because the queue has no room for all: then the sender is to retry. A push that was taken is in the collector's
 * open batch, as a datagram of the unix socket is, and is committed within about a second. */
#ifndef COLLECT_PUSH_SOURCE_H
#define COLLECT_PUSH_SOURCE_H

#include "source.h"

int push_source_open(struct loop *loop, const struct source_receiver *receiver, struct source **ret, struct err *err);

/* Any thread but the loop's; the bytes stay the caller's. 0, or, with a sentence, if nothing was taken: -EAGAIN as the queue
 * is full or the daemon shuts down, -E2BIG as the push alone exceeds the limit of the queue. */
int push_source_submit(struct source *s, enum source_push_protocol protocol, const void *messages, size_t n, struct err *err);

#endif

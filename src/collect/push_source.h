/* push_source.h: profiles that others send by HTTP, handed over in the loop's thread.
 *
 * Threads that have read and checked a push submit its messages (wire/strobe_wire.h) and wait for the loop, which accepts
 * all of them, or none if the queue has no room for all: then the sender should retry. An accepted push is in the
 * collector's open batch, like a datagram of the unix socket, and is committed within about a second. */
#ifndef COLLECT_PUSH_SOURCE_H
#define COLLECT_PUSH_SOURCE_H

#include "source.h"

int push_source_open(struct loop *loop, const struct source_receiver *receiver, struct source **ret, struct err *err);

/* Any thread but the loop's; the bytes stay the caller's. 0, or, with a sentence, if nothing was accepted: -EAGAIN if the queue
 * is full or the daemon shuts down, -E2BIG if the push alone exceeds the limit of the queue. */
int push_source_submit(struct source *s, enum source_push_protocol protocol, const void *messages, size_t n, struct err *err);

#endif

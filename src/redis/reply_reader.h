/* reply_reader.h: hiredis' reader with limits on sizes and depths.
 *
 * It is fed in slices of 16 KB, because it moves unread bytes to the front after each reply. */
#ifndef REDIS_REPLY_READER_H
#define REDIS_REPLY_READER_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>

struct reply_reader;
struct redisReply;

struct reply_reader *reply_reader_new(size_t reply_max);
struct reply_reader *reply_reader_free(struct reply_reader *r);		/* NULL is fine; returns NULL */

/* Returns 1 with a reply, which the caller frees (freeReplyObject); call again. 0: all `*n` bytes are used, and more
 * are needed. Negative: the peer does not speak Redis' protocol, or a reply is larger than `reply_max`; the reader is
 * then unusable. */
int reply_reader_next(struct reply_reader *r, const char **bytes, size_t *n, struct redisReply **ret, struct err *err);

/* Tells whether it has no bytes of an incomplete reply. */
bool reply_reader_is_empty(const struct reply_reader *r);

/* Call after a reply: returns the bytes of the last call that are not part of it. */
void reply_reader_take_rest(struct reply_reader *r, const char **bytes, size_t *n);

#endif

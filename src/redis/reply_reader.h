/* reply_reader.h: hiredis' reader with bounds: what a server sends decides neither sizes nor depths unchecked.
 *
 * It is fed in slices of 16 KB, because for each reply it moves what it has not read yet to the front. */
#ifndef REDIS_REPLY_READER_H
#define REDIS_REPLY_READER_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>

struct reply_reader;
struct redisReply;

struct reply_reader *reply_reader_new(size_t reply_max);
struct reply_reader *reply_reader_free(struct reply_reader *r);		/* NULL is fine; returns NULL */

/* 1: a reply, the caller's (freeReplyObject); call again. 0: all `*n` bytes are used up, more are needed. Negative:
 * this is no Redis, or a reply is larger than `reply_max`; the reader is of no more use. */
int reply_reader_next(struct reply_reader *r, const char **bytes, size_t *n, struct redisReply **ret, struct err *err);

/* True if it has no bytes of a reply that is under way. */
bool reply_reader_is_empty(const struct reply_reader *r);

/* After a reply: gives back what was fed and does not belong to it, to whom the bytes of the last call belong. */
void reply_reader_give_back(struct reply_reader *r, const char **bytes, size_t *n);

#endif

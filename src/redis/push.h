/* push.h: parses published messages in place, which saves two thirds of the time per message: copies and small
 * allocations. All other replies are parsed by reply_reader.h. */
#ifndef REDIS_PUSH_H
#define REDIS_PUSH_H

#include "intern.h"

/* If the `n` bytes begin with a complete message of version 2 of the protocol, returns its size, with channel and
 * text pointing into it:
 *
 *	*3 "message" channel text		*4 "pmessage" pattern channel text
 *
 * Otherwise returns 0. */
size_t push_parse(const char *bytes, size_t n, struct str *channel, struct str *text);

#endif

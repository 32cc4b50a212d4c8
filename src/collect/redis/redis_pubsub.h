/* redis_pubsub.h: folded lines that are published on channels of a Redis, as by Arc Lamp's client.
 *
 *	redis://[user:password@]host[:port][/database]?channel=excimer,excimer-wall
 *
 * Parameters: channel=a,b and pattern=x*,y* (at least one of both), password-file=FILE, and those of source_url.h. A
 * message holds one line or several. Its channel becomes the label "profiler". A channel or a pattern that another
 * source has from the same server is refused: each message would count twice.
 *
 * Redis buffers nothing for a disconnected subscriber, and disconnects one that reads too slowly (client-output-buffer-limit
 * pubsub). So this empties the socket first and buffers up to 128 MB of unparsed input, keeps reading while the collector is
 * full, whose drops are counted, and reconnects within a second. */
#ifndef COLLECT_REDIS_PUBSUB_H
#define COLLECT_REDIS_PUBSUB_H

#include "source.h"

int redis_pubsub_open(const char *url, struct loop *loop, const struct source_receiver *receiver, struct source **ret,
		      struct err *err);

#endif

/* redis_stream.h: reads a stream of a Redis as a member of a consumer group; nothing is lost and nothing counts twice.
 *
 *	redis://[user:password@]host[:port][/database]?stream=KEY&group=GROUP
 *		[&consumer=NAME]	who we are in the group; the name of the machine. Each collector needs its own
 *		[&keys=K]		the load is shared by K streams named {0}KEY, {1}KEY …, on any nodes of a cluster
 *		[&claim-idle=TIME]	entries of a consumer that was not seen for so long are claimed; 60 s
 *		[&trim=yes|no]		whether entries that all groups have acknowledged are removed; yes
 *		[&label.NAME=VALUE] [&clock=wall|cpu] [&period=TIME]	of folded lines
 *
 * A missing stream or group is created, from the first entry on. At the start come the entries that were delivered
 * to us before and not acknowledged, with their ack tokens; then new ones. An entry is acknowledged (XACK) when its ack
 * token is returned, that is, when it is durable. Entries with nothing of ours in them are acknowledged and counted.
 *
 * Two collectors must not be one consumer, or each would receive the other's entries in flight. So each holds a lease,
 * a key beside the stream (its name with ":consumer:GROUP:NAME") that is over half a minute after its holder has gone.
 * It has the identity of the state directory as its value: a collector that is started again has its lease at once,
 * another one waits, and says so. For the same reason a consumer counts as gone only if it has not talked to Redis for
 * claim-idle; a collector that waits for its disk keeps talking.
 *
 * One case remains: a collector that is suspended for longer than claim-idle with entries in its memory (SIGSTOP, a
 * sleeping machine) and then resumes stores entries that another one has claimed meanwhile. Streams are trimmed by
 * others (MAXLEN) whether their entries were read or not; known losses are counted. */
#ifndef COLLECT_REDIS_STREAM_H
#define COLLECT_REDIS_STREAM_H

#include "source.h"

int redis_stream_open(const char *url, struct loop *loop, const struct source_receiver *receiver, struct source **ret,
		      struct err *err);

#endif

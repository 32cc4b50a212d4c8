/* forward.h: adds entries of the spool to a stream of Redis, each once.
 *
 * Entries go by a script that runs in Redis as one step: it knows number and id of the last FORWARD_REMEMBERED entries
 * of this instance, skips those that it has, adds the others with XADD and remembers them. So when a reply is
 * lost, and everything is sent again, nothing is added twice. An id covers the content of its entry: a process resumed from
 * an earlier state (the snapshot of a virtual machine) reuses numbers for other entries, and these are new.
 * The script (forward.lua, called by its hash, and sent where Redis does not have it) keeps its record in a key of its own, in the
 * same slot of a cluster, for 29 to 30 days after the last entry:
 *
 *	strobe		{strobe}:seen:INSTANCE
 *	{3}strobe	{3}strobe:seen:INSTANCE
 *
 * An entry has the fields `strobe` (messages, compressed by zstd), `id` (16 hexadecimal digits, the same whenever it is
 * sent) and `host`.
 */
#ifndef RELAY_FORWARD_H
#define RELAY_FORWARD_H

#include "redis_url.h"
#include "spool.h"

#define FORWARD_ENTRIES		64u	/* in one command */
#define FORWARD_REMEMBERED	256u	/* more than a spool may forget by a power loss (relay.c) plus one command */

/* The fate of an entry. */
enum forward_result {
	FORWARD_ADDED,
	FORWARD_KNOWN,		/* skipped: the stream already had it */
	FORWARD_RENUMBERED,	/* added, although another entry had its number */
};

struct forward;

int forward_new(const struct redis_url *url, const char *key, const char *host, struct forward **ret, struct err *err);
struct forward *forward_free(struct forward *f);		/* NULL is fine; returns NULL */

/* Sends 1 to FORWARD_ENTRIES entries of one instance, in their order; waits at most some seconds for the reply. 0: the
 * stream has them, and `ret` holds the fate of each. -EMSGSIZE: the only one is larger than this Redis accepts. Any
 * other error: it is unknown which of them were added, and all must be sent again. */
int forward_send(struct forward *f, const struct spool_entry *entries, size_t count, enum forward_result *ret,
		 struct err *err);

/* Cancels calls in flight and all later ones. Any thread. */
void forward_cancel(struct forward *f);

#endif

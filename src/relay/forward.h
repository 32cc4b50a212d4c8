/* forward.h: entries from the spool into a stream of Redis, each once.
 *
 * Entries go by a script that runs in Redis as one step: it looks at the number of the last entry that it has of this
 * instance, leaves out what it has, adds the others with XADD and notes their number. So when an answer is lost, and
 * everything is sent again, nothing is there twice. The number is kept under a key of its own, in the same slot of a
 * cluster, for 30 days after the last entry:
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

#define FORWARD_ENTRIES	64u		/* in one question */

struct forward;

int forward_new(const struct redis_url *url, const char *key, const char *host, struct forward **ret, struct err *err);
struct forward *forward_free(struct forward *f);		/* NULL is fine; returns NULL */

/* Sends 1 to FORWARD_ENTRIES entries of one instance, in their order; waits some seconds for the answer at most. 0: the
 * stream has them, `*ret_known` of them from before. -EMSGSIZE: the only one is larger than this Redis takes. Any other
 * error: it is not known which of them it has, and all are to be sent again. */
int forward_send(struct forward *f, const struct spool_entry *entries, size_t count, uint64_t *ret_known, struct err *err);

/* From any thread: ends what is under way, and all that comes. */
void forward_cancel(struct forward *f);

#endif

/* relay.h: a sink that forwards a host's samples to a stream of Redis, through a spool on disk.
 *
 *	redis://[user:password@]host[:port][/database]?stream=KEY[&keys=K][&window=SECONDS][&spool=SIZE][&host=NAME]
 *
 * Batches are merged for `window` seconds (10), become entries of the spool, and a thread forwards them in order
 * (forward.h). A batch is durable when the collector's commit returns; the state of the broker does not concern
 * the collector. The spool holds SIZE bytes (1G) at most; beyond it the oldest are dropped and counted.
 *
 * With keys=K the stream is K of them, `{0}KEY` to `{K-1}KEY`, and a host always uses the same one.
 */
#ifndef RELAY_RELAY_H
#define RELAY_RELAY_H

#include "collector.h"
#include "spool.h"

struct relay;

struct relay_counters {
	struct spool_counters spool;
	_Atomic uint64_t spool_limit;			/* bytes */
	_Atomic uint64_t entries_forwarded, bytes_forwarded;
	_Atomic uint64_t entries_deduplicated;			/* skipped, since the stream had them: a reply had been lost */
	_Atomic uint64_t entries_renumbered;		/* forwarded entries with the number of another one */
	_Atomic uint64_t failures;			/* failed commands */
	_Atomic int64_t last_forward_ns;		/* wall clock; 0 if never */
	_Atomic bool is_up;				/* the last attempt succeeded, or there was none */
};

/* The spool is a directory below `state_dir`, named after host, port, database and stream; earlier versions left out the
 * database, and `takes_old_spool` renames such a one. A broker that cannot be reached is no
 * error: samples wait. -EBUSY if another process uses the spool. */
int relay_open(const char *url, const char *state_dir, bool takes_old_spool, struct relay **ret, struct err *err);

struct collector_sink relay_sink(struct relay *r);

/* Closes the window and sends what it can within 3 seconds; nothing may be committed afterwards. Returns how many entries wait
 * in the spool for the next start. A window that cannot be closed counts as one. */
uint64_t relay_stop(struct relay *r);

/* Stops it if that is not done. NULL is fine; returns NULL. */
struct relay *relay_close(struct relay *r);

const char *relay_url(const struct relay *r);		/* without password */
const struct relay_counters *relay_counters(const struct relay *r);

/* "connected", "cannot connect to …; 1,200 samples wait" and whether it is up; any thread; `text` may be cut. */
bool relay_state(struct relay *r, char *text, size_t size);

#endif

/* open_batch.h: a batch while it is being filled: one profile per series and bucket.
 *
 * It knows nothing of threads and time; the collector decides when it is closed. Messages with the same labels,
 * clock, period, columns and bucket are merged. */
#ifndef COLLECT_OPEN_BATCH_H
#define COLLECT_OPEN_BATCH_H

#include "batch.h"
#include "buf.h"

struct open_batch {
	struct batch batch;			/* `entries` and `count` are right at any time */
	size_t capacity;
	struct intern series;			/* key of a series and bucket; its number is the entry's */
	uint64_t samples, bytes;		/* bytes is what the profiles take in memory, roughly */
	struct open_batch *next;		/* for the collector's queue */
};

struct open_batch *open_batch_new(uint64_t id);
struct open_batch *open_batch_free(struct open_batch *b);	/* NULL is fine; returns NULL */

/* Adds a message to its series in the bucket of `time_ns`. A series above `max_series` goes to the one whose only
 * label is entry=other, and *ret_folded is set. Returns -ENOSPC, and adds nothing, when there are twice as many. */
int open_batch_add(struct open_batch *b, const struct strobe_wire_message *m, int64_t time_ns, unsigned max_series,
		   bool *ret_folded);

/* How many samples a message holds: what its column "samples" adds up to. Other receivers count so too. */
uint64_t open_batch_samples_of(const struct strobe_wire_message *m);

/* What adding a message can cost in memory at most, roughly. */
uint64_t open_batch_cost_of(const struct strobe_wire_message *m);

#endif

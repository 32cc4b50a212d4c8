/* batch_ids.h: the ids of committed batches, by which a sink recognizes one that is delivered again.
 *
 * Ids are kept in the order in which they were added, BATCH_IDS_MAX at most. Their owner drops those that nobody can
 * deliver again; where they are saved is its affair, too.
 */
#ifndef PROFILE_BATCH_IDS_H
#define PROFILE_BATCH_IDS_H

#include "map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BATCH_IDS_MAX	((size_t)1 << 18)	/* four times as many as the collector has in flight */

struct batch_ids {
	uint64_t *ids;			/* the oldest first */
	size_t count;
	size_t capacity;
	struct map known;
};

void batch_ids_init(struct batch_ids *b);
void batch_ids_done(struct batch_ids *b);

bool batch_ids_has(const struct batch_ids *b, uint64_t id);	/* 0 is no id and never there */
void batch_ids_add(struct batch_ids *b, uint64_t id);		/* 0, and one that is there, change nothing */

/* Drops all ids but the last `last` ones and those in `open`. */
void batch_ids_keep(struct batch_ids *b, const uint64_t *open, size_t open_count, size_t last);

#endif

/* batch_ids.h: the ids of committed batches, by which a sink recognizes redelivered batches.
 *
 * At most BATCH_IDS_MAX ids are kept, in the order in which they were added. Their owner saves them, and drops those
 * that can no longer be redelivered.
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

bool batch_ids_has(const struct batch_ids *b, uint64_t id);	/* always false for 0, which means no id */
void batch_ids_add(struct batch_ids *b, uint64_t id);		/* does nothing for 0 and for known ids */

/* Drops all ids but the last `last` ones and those in `open`. */
void batch_ids_keep(struct batch_ids *b, const uint64_t *open, size_t open_count, size_t last);

#endif

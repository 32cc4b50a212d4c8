/* suspects.h: series that were in refused requests, and are sent apart from the others.
 *
 * When a receiver refuses a request of many series, it may not tell which of them it refuses, nor whether it has stored
 * the others. Pyroscope stored none before version 1.15, and stores them since. To send all of them again could count
 * them twice, so from then on they are suspects: later batches send them in small requests, until only those remain
 * that the receiver refuses. */
#ifndef EXPORT_SUSPECTS_H
#define EXPORT_SUSPECTS_H

#include "batch.h"
#include "map.h"

#include <stdbool.h>

struct suspects {
	struct map series;
};

void suspects_init(struct suspects *s);
void suspects_done(struct suspects *s);

bool suspects_has(const struct suspects *s, const struct batch_entry *e);
void suspects_add(struct suspects *s, const struct batch_entry *e);
void suspects_remove(struct suspects *s, const struct batch_entry *e);

#endif

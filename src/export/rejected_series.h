/* rejected_series.h: series that were in rejected requests, and are sent apart from the others.
 *
 * When a receiver rejects a request of many series, it may not tell which of them it rejects, nor whether it has stored
 * the others. Pyroscope stored none before version 1.15, and stores them since. To send all of them again could count
 * them twice, so from then on they are suspects: later batches send them in small requests, until only those remain
 * that the receiver rejects. */
#ifndef EXPORT_REJECTED_SERIES_H
#define EXPORT_REJECTED_SERIES_H

#include "batch.h"
#include "map.h"

#include <stdbool.h>

struct rejected_series {
	struct map series;
};

void rejected_series_init(struct rejected_series *s);
void rejected_series_done(struct rejected_series *s);

bool rejected_series_has(const struct rejected_series *s, const struct batch_entry *e);
void rejected_series_add(struct rejected_series *s, const struct batch_entry *e);
void rejected_series_remove(struct rejected_series *s, const struct batch_entry *e);

#endif

/* refused_series.h: series that were in refused requests, and are sent apart from the others.
 *
 * When a receiver refuses a request of many series, it may not tell which of them it refuses, nor whether it has stored
 * the others. Pyroscope stored none before version 1.15, and stores them since. To send all of them again could count
 * them twice, so from then on they are suspects: later batches send them in small requests, until only those remain
 * that the receiver refuses. */
#ifndef EXPORT_REFUSED_SERIES_H
#define EXPORT_REFUSED_SERIES_H

#include "batch.h"
#include "map.h"

#include <stdbool.h>

struct refused_series {
	struct map series;
};

void refused_series_init(struct refused_series *s);
void refused_series_done(struct refused_series *s);

bool refused_series_has(const struct refused_series *s, const struct batch_entry *e);
void refused_series_add(struct refused_series *s, const struct batch_entry *e);
void refused_series_remove(struct refused_series *s, const struct batch_entry *e);

#endif

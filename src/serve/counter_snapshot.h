/* counter_snapshot.h: consistent snapshots of counters that other threads increment.
 *
 * Each counter is correct by itself, but a sample increments several of them one after another. They are read until
 * none has changed in between and they add up, which usually succeeds at once. After a second the last values
 * are returned unchanged, so that a wrong sum would be noticed. */
#ifndef SERVE_COUNTER_SNAPSHOT_H
#define SERVE_COUNTER_SNAPSHOT_H

#include "collector.h"
#include "source.h"

struct source_snapshot {
	uint64_t received, stored, dropped, in_flight;			/* received is the sum of the others */
};

struct sink_snapshot {
	uint64_t handed, stored, queued, dropped_queue, dropped_rejected;	/* handed is the sum of the others */
};

struct collector_snapshot {
	uint64_t received, stored, queued, dropped_queue, dropped_rejected;	/* the same */
};

struct source_snapshot snapshot_source(const struct source_counters *c);
struct sink_snapshot snapshot_sink(const struct sink_counters *c);
struct collector_snapshot snapshot_collector(const struct collector_counters *c);

/* Sums labels that only runs keep, of series and of pushes; pushes: NULL if they are refused. */
uint64_t counters_labels_dropped(const struct collector_counters *c, const struct source *pushes);

#endif

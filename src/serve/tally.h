/* tally.h: consistent snapshots of counters that other threads increment.
 *
 * Each counter is correct by itself, but a sample increments several of them one after another. They are read until
 * none has changed in between and they add up, which usually succeeds at once. After a second the last values
 * are returned unchanged, so that a wrong sum would be noticed. */
#ifndef SERVE_TALLY_H
#define SERVE_TALLY_H

#include "collector.h"
#include "source.h"

struct source_tally {
	uint64_t received, stored, dropped, in_flight;			/* received is the sum of the others */
};

struct sink_tally {
	uint64_t handed, stored, queued, dropped_queue, dropped_rejected;	/* handed is the sum of the others */
};

struct collector_tally {
	uint64_t received, stored, queued, dropped_queue, dropped_rejected;	/* the same */
};

struct source_tally tally_source(const struct source_counters *c);
struct sink_tally tally_sink(const struct sink_counters *c);
struct collector_tally tally_collector(const struct collector_counters *c);

/* Sums labels that only runs keep, of series and of pushes; pushes: NULL if they are refused. */
uint64_t tally_labels_dropped(const struct collector_counters *c, const struct source *pushes);

#endif

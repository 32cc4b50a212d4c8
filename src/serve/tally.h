/* tally.h: sums that add up, read while other threads count.
 *
 * Each counter is right by itself, but those of one sample are changed one after another. Here they are read until
 * nothing moved meanwhile and the sum is right, which is nearly always at once; after some tries what is there is shown
 * as it is, so that a wrong sum would be seen. */
#ifndef SERVE_TALLY_H
#define SERVE_TALLY_H

#include "collector.h"
#include "source.h"

struct source_tally {
	uint64_t received, stored, dropped, in_flight;			/* received is the sum of the others */
};

struct sink_tally {
	uint64_t handed, stored, queued, dropped_queue, dropped_unfit;	/* handed is the sum of the others */
};

struct collector_tally {
	uint64_t received, stored, queued, dropped_queue, dropped_unfit;	/* the same */
};

struct source_tally tally_source(const struct source_counters *c);
struct sink_tally tally_sink(const struct sink_counters *c);
struct collector_tally tally_collector(const struct collector_counters *c);

#endif

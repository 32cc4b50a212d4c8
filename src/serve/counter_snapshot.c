/* counter_snapshot.c: reads counters repeatedly, and accepts values that did not change. */

#include "counter_snapshot.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#define TRIES	1000u
#define TRIES_AT_ONCE	100u
#define PAUSE_US	1000u	/* between later ones, since the other thread may have been preempted halfway */
#define NUMBERS	5u

/* The first number is the sum of the others. */
static bool adds_up(const uint64_t *v)
{
	uint64_t sum = 0;

	for (unsigned i = 1; i < NUMBERS; i++)
		sum += v[i];
	return v[0] == sum;
}

static void read_all(_Atomic uint64_t *const *from, uint64_t *v)
{
	for (unsigned i = 0; i < NUMBERS; i++)
		v[i] = from[i] ? *from[i] : 0;
}

static void take(_Atomic uint64_t *const *from, uint64_t *v)
{
	uint64_t again[NUMBERS];

	for (unsigned i = 0; i < TRIES; i++) {
		read_all(from, v);
		read_all(from, again);
		if (!memcmp(v, again, sizeof(again)) && adds_up(v))
			return;
		if (i < TRIES_AT_ONCE)
			sched_yield();
		else
			usleep(PAUSE_US);
	}
}

struct source_snapshot snapshot_source(const struct source_counters *counters)
{
	struct source_counters *c = (struct source_counters *)counters;
	_Atomic uint64_t *const from[NUMBERS] = {
		&c->samples_received, &c->samples_stored, &c->samples_dropped, &c->samples_in_flight, NULL,
	};
	uint64_t v[NUMBERS];

	take(from, v);
	return (struct source_snapshot){ v[0], v[1], v[2], v[3] };
}

/* The counters that sinks and the collector share, behind their sum. */
#define COUNTERS_OF(c, sum) \
	{ &(c)->sum, &(c)->samples_stored, &(c)->samples_queued, &(c)->samples_dropped_queue, &(c)->samples_dropped_rejected }

struct sink_snapshot snapshot_sink(const struct sink_counters *counters)
{
	struct sink_counters *c = (struct sink_counters *)counters;
	_Atomic uint64_t *const from[NUMBERS] = COUNTERS_OF(c, samples_handed);
	uint64_t v[NUMBERS];

	take(from, v);
	return (struct sink_snapshot){ v[0], v[1], v[2], v[3], v[4] };
}

struct collector_snapshot snapshot_collector(const struct collector_counters *counters)
{
	struct collector_counters *c = (struct collector_counters *)counters;
	_Atomic uint64_t *const from[NUMBERS] = COUNTERS_OF(c, samples_received);
	uint64_t v[NUMBERS];

	take(from, v);
	return (struct collector_snapshot){ v[0], v[1], v[2], v[3], v[4] };
}

uint64_t counters_labels_dropped(const struct collector_counters *c, const struct source *pushes)
{
	return c->labels_dropped + (pushes ? pushes->counters.push_ids_dropped : 0);
}

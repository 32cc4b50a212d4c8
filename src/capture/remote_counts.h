/* remote_counts.h: counters of a recording that reads memory (remote_sampler.h). */
#ifndef CAPTURE_REMOTE_COUNTS_H
#define CAPTURE_REMOTE_COUNTS_H

#include "bpf/event.h"
#include <stdbool.h>

/* The results of ticks and of observations of threads. Failed reads are in `counters`, as with the programs. */
struct remote_counts {
	u64 ticks, late;		/* late: skipped, as the one before took too long */
	u64 observations;		/* each thread examined; one of the next five */
	u64 asleep;			/* and only running threads are sampled, or it sleeps since the last look */
	u64 kept;
	u64 left_out;			/* waits outside of PHP functions */
	u64 slept;			/* ran at the tick, and slept before it could be read */
	u64 torn;			/* ran at each attempt to read it */
	u64 ended;
	u64 unreadable;			/* its memory could not be read, or it has no PHP yet */
	u64 torn_attempts;		/* readings that were discarded; most were followed by a good one */
	u64 cpu_ns, sampled_ns;		/* on CPU by the scheduler's account, and the part that a stack was found for */
	bool exact;			/* the account has nanoseconds, not steps of 10 ms */
	bool proved;			/* each reading was proved to be of one moment */
	unsigned closed;		/* PHP processes that may not be inspected */
	const char *closed_why;		/* "" if there are none */
};

#endif

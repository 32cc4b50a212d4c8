/* remote_counts.h: counters of a recording that reads memory (remote_sampler.h). */
#ifndef CAPTURE_REMOTE_COUNTS_H
#define CAPTURE_REMOTE_COUNTS_H

#include "bpf/event.h"
#include <stdbool.h>

/* The results of ticks and of observations of threads. Failed reads are in `counters`, as with the BPF programs. */
struct remote_counts {
	u64 ticks, late;		/* late: skipped, since the previous one took too long */
	u64 observations;		/* threads examined; each has one of the next five results */
	u64 asleep;			/* only running threads are sampled, or it still sleeps */
	u64 kept;
	u64 left_out;			/* waits outside PHP functions */
	u64 slept;			/* ran at the tick, but slept before it could be read */
	u64 torn;			/* ran during each attempt to read it */
	u64 ended;
	u64 unreadable;			/* its memory could not be read, or it has no PHP yet */
	u64 torn_attempts;		/* discarded readings; most were followed by a good one */
	u64 cpu_ns, sampled_ns;		/* on CPU by the scheduler's accounting, and the part with a stack */
	bool exact;			/* the accounting has nanoseconds, not steps of 10 ms */
	bool proved;			/* each reading was proved to be from one moment */
	unsigned closed;		/* PHP processes that may not be inspected */
	const char *closed_why;		/* "" if there are none */
};

#endif

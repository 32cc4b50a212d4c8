/* request_trace.h: requests and units that are traced as a whole and become runs.
 *
 * Requests that carry the secret of strobe.trigger_secret; of all others, and of units, a random share,
 * strobe.trace_rate; and those for which code requests it. At the end strobe.trace_keep decides which of the random
 * share are kept, and the program may discard a trace before, but not that of the secret. A child forked in the
 * meantime sends its own run, which begins with the fork.
 */
#ifndef STROBE_REQUEST_TRACE_H
#define STROBE_REQUEST_TRACE_H

#include "api_thread.h"

/* The request begins: it is traced if it carries the secret, or at random. */
void request_trace_start(void);

/* Whether work that begins now is traced at random, by strobe.trace_rate. */
bool request_trace_draw(struct api_thread *a);

/* Begins the trace of work that has none. `own_fiber`: other fibers are excluded. False, which is counted, if it
 * cannot be traced. */
bool request_trace_begin(struct api_thread *a, struct work *w, const char *source, bool own_fiber);

/* The work ends in the current scope: its trace becomes a run, or is discarded. Does nothing without a trace. */
void request_trace_end(struct api_thread *a, struct work *w);

/* Drops the trace of work. False if there is none, or it is that of the secret. */
bool request_trace_discard(struct work *w);

/* Whether the running request, or the unit that runs in it, is traced. */
bool request_trace_active(void);

/* Requests and units since the process began. */
struct request_trace_counts {
	uint64_t traced, not_kept, no_memory, no_observer;
};

void request_trace_counts(struct request_trace_counts *ret);

#endif

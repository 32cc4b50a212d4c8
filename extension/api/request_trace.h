/* request_trace.h: requests and units that are traced as a whole and become runs.
 *
 * Traced are requests with the secret of strobe.trigger_secret, a random share (strobe.trace_rate) of all other
 * requests and of units, and those for which code requests it. At the end strobe.trace_keep decides which of the
 * random share are kept. The program may discard a trace before, except one triggered by the secret. A child forked
 * in the meantime sends its own run, which begins with the fork.
 */
#ifndef STROBE_REQUEST_TRACE_H
#define STROBE_REQUEST_TRACE_H

#include "api_thread.h"

/* Begins the request, which is traced if it carries the secret, or at random. */
void request_trace_start(void);

/* Decides at random, by strobe.trace_rate, whether to trace work that begins now. */
bool request_trace_draw(struct api_thread *a);

/* Begins the trace of work that has none. `own_fiber`: other fibers are excluded. If it cannot be traced, counts that
 * and returns false. */
bool request_trace_begin(struct api_thread *a, struct work *w, const char *source, bool own_fiber);

/* Ends the trace of work in the current scope, which becomes a run or is discarded. Does nothing without a trace. */
void request_trace_end(struct api_thread *a, struct work *w);

/* Drops the trace of work. False if there is none, or if the secret triggered it. */
bool request_trace_discard(struct work *w);

/* Whether the running request, or the current unit, is traced. */
bool request_trace_active(void);

/* Requests and units since the process began. */
struct request_trace_counts {
	uint64_t traced, not_kept, no_memory, no_observer;
};

void request_trace_counts(struct request_trace_counts *ret);

#endif

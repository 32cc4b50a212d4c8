/* request_trace.h: requests that are traced from their first to their last moment, and become runs.
 *
 * Those that carry the secret of strobe.trigger_secret, and a random share, strobe.trace_rate, of all. A child that is
 * forked meanwhile sends a run of its own, which begins with the fork.
 */
#ifndef STROBE_REQUEST_TRACE_H
#define STROBE_REQUEST_TRACE_H

#include <stdbool.h>
#include <stdint.h>

void request_trace_start(void);
void request_trace_end(void);

/* Whether the running request is traced. */
bool request_trace_active(void);

/* Requests since the process began. */
struct request_trace_counts {
	uint64_t traced, no_memory, no_observer;
};

void request_trace_counts(struct request_trace_counts *ret);

#endif

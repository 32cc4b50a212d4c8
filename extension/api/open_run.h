/* open_run.h: announces unfinished traces to the daemon.
 *
 * A killed process sends nothing at its end. So each trace that will become a run is announced when it begins, and
 * the daemon counts it as lost if its connection ends before the run has arrived. With strobe.trace_flush, which
 * `strobe run --trace` sets, measurements are handed over periodically, and survive if the process is killed.
 */
#ifndef STROBE_OPEN_RUN_H
#define STROBE_OPEN_RUN_H

#include "api_thread.h"

/* Call this when the trace of `w` has begun: assigns the id of its future run. */
void open_run_begin(struct api_thread *a, struct work *w);

/* The same in a forked child, where the trace restarts. `owner` is the work; a callback for trace_options. */
void open_run_began_anew(void *owner);

/* Call this before the trace ends: stops handing over. */
void open_run_end(struct work *w);

/* Call this if there will be no run, or if it is lost and already counted. */
void open_run_discard(struct api_thread *a, struct work *w);

#endif

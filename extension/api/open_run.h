/* open_run.h: announces unfinished traces to the daemon.
 *
 * A process that is killed sends nothing at its end. So each trace that is to become a run is announced when it
 * begins, and the daemon counts it as lost if its connection ends before the run has come. With strobe.trace_flush,
 * which `strobe run --trace` sets, the measurements so far are handed over periodically, and survive a killed process.
 */
#ifndef STROBE_OPEN_RUN_H
#define STROBE_OPEN_RUN_H

#include "api_thread.h"

/* The trace of `w` has begun: it gets the id that its run will have. */
void open_run_begin(struct api_thread *a, struct work *w);

/* The same in a forked child, where the trace restarts. The owner is the work; for trace_options. */
void open_run_began_anew(void *owner);

/* The trace is about to end: stops handing over. */
void open_run_end(struct work *w);

/* There will be no run, or it is lost and already counted. */
void open_run_discard(struct api_thread *a, struct work *w);

#endif

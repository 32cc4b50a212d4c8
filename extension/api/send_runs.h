/* send_runs.h: sends finished trees to the daemon as runs of this request. */
#ifndef STROBE_SEND_RUNS_H
#define STROBE_SEND_RUNS_H

#include "api_thread.h"
#include "run_message.h"

/* Returns the current status of the response; 0 if there is no client request. */
int runs_status(void);

/* Fills `l` with labels for runs that end now: those of samples, and the status. */
void runs_labels(struct request_labels *l);

/* Removes the secret of strobe.trigger_secret from values, since programs may put their URL into a label. */
void runs_hide_secret(struct request_labels *l);

/* Returns the source of the trace of `w`. strobe.labels may override it: `strobe run --trace` uses that to separate
 * its runs. */
const char *runs_source(const struct work *w, const struct request_labels *labels);

/* Sends `t` with these labels; attributes replace labels with the same keys. `name` and `attributes` may be NULL.
 * `id` is that of the run; if empty, a new one is stored there. Returns 0, or the STROBE_DROP_ reason of a loss,
 * which has been counted. */
int runs_send(struct api_thread *a, const struct call_tree *t, const char *source, const char *name,
	      const struct request_labels *labels, const struct request_labels *attributes, char id[33]);

/* Sends what the trace of `w` has measured so far, with the current labels of its run. The next such message, or the
 * run itself, replaces it, so nothing is lost if sending fails. */
void runs_send_open(struct api_thread *a, const struct call_tree *t, const struct work *w, const struct request_labels *labels);

/* Call this after passing data to the sender: queued data is then sent at safe points. */
void runs_drain(struct api_thread *a);

/* Counts a run that could not be created. */
void runs_lost(struct api_thread *a, int reason);

/* Numbers of runs since the process began: sent, and lost by reason. */
struct runs_counts {
	uint64_t sent, lost[STROBE_DROP_REASONS];
};

void runs_counts(struct runs_counts *ret);

#endif

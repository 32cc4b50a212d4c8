/* send_runs.h: sends finished trees to the daemon as runs of this request. */
#ifndef STROBE_RUNS_H
#define STROBE_RUNS_H

#include "api_thread.h"
#include "run_message.h"

/* The status of the response, as it is now; 0 if there is no request of a client. */
int runs_status(void);

/* Fills `l` with what describes runs that are made now: the labels of samples, and the status. */
void runs_labels(struct request_labels *l);

/* Removes the secret of strobe.trigger_secret from values: programs may have put their URL into a label. */
void runs_hide_secret(struct request_labels *l);

/* The source of the trace of `w`. strobe.labels may set another: `strobe run --trace` keeps its runs separate this
 * way. */
const char *runs_source(const struct work *w, const struct request_labels *labels);

/* Sends `t` with these labels, and attributes in place of labels with the same keys. `name` and `attributes` may be NULL.
 * `id` is that of the run; if it is empty a new one is written there. Returns 0, or the STROBE_DROP_ reason for which it is
 * lost, and counted. */
int runs_send(struct api_thread *a, const struct call_tree *t, const char *source, const char *name,
	      const struct request_labels *labels, const struct request_labels *attributes, char id[33]);

/* Sends what the trace of `w` has seen up to now, with the labels that hold for its run, which its run, or the next of these,
 * replaces. If it cannot be sent nothing is lost. */
void runs_send_open(struct api_thread *a, const struct call_tree *t, const struct work *w, const struct request_labels *labels);

/* Data was given to the sender: from now on, queued data is sent at safe points. */
void runs_drain(struct api_thread *a);

/* Counts a run that could not be created. */
void runs_lost(struct api_thread *a, int reason);

/* Runs since the process began: sent, and lost by reason. */
struct runs_counts {
	uint64_t sent, lost[STROBE_DROP_REASONS];
};

void runs_counts(struct runs_counts *ret);

#endif

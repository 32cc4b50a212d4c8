/* work.h: a unit of work that is sampled and traced as a whole: the request, or a unit that the program begins in it.
 *
 * Its labels are in its scope (scopes.h). Sampling and tracing are decided per unit of work, and it may end as a run.
 */
#ifndef STROBE_WORK_H
#define STROBE_WORK_H

#include "request_labels.h"
#include "timers.h"
#include "trace_keep.h"
#include "tracer.h"

#include <stdatomic.h>

#define WORK_ATTRIBUTES 24u

struct work {
	bool sampled;
	bool failed;			/* an uncaught exception, or a fatal error */
	bool unfinished;		/* it was left open, for example by an exception */
	int64_t start_ns;		/* CLOCK_MONOTONIC */

	/* request_trace.c */
	struct trace_session *session;	/* NULL: it is not traced */
	const char *source;		/* why it is traced: "trigger", "sampled" or "code" */
	struct trace_keep keep;		/* for traces begun by code */
	char id[33];			/* id of its future run; "" before it is assigned */

	/* open_run.c */
	struct {
		struct strobe_timer timer;
		int64_t next_ns;	/* CLOCK_MONOTONIC: no hand-over before */
		pid_t pid;		/* the process that announced the run */
		struct open_run_info *published;	/* belongs to the watcher that reports it while the thread cannot; NULL: none */
		_Atomic uint32_t sequence;	/* changes with each modification; 0: being modified, or absent */
	} open;

	struct request_labels *attributes;	/* attributes of its runs; NULL: none */
};

#endif

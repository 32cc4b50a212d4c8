/* fpm_worker.h: reads php-fpm's own data about a worker: its state, since when, and the number of requests served.
 *
 * Master and workers share a table, from which the status page is generated. No symbol leads to it, but each worker's
 * record contains its pid and start time, so it can be found in the worker's own memory.
 */
#ifndef CAPTURE_FPM_WORKER_H
#define CAPTURE_FPM_WORKER_H

#include "bpf/event.h"
#include <stdbool.h>
#include <sys/types.h>

/* With php-fpm's numbers. */
enum fpm_stage {
	FPM_ACCEPTING = 1,		/* waits for a request */
	FPM_READING_HEADERS,
	FPM_GETTING_INFO,
	FPM_EXECUTING,
	FPM_ENDING,
	FPM_FINISHED,
};

struct fpm_worker {
	enum fpm_stage stage;
	u64 requests;			/* started so far */
	int64_t accepted_ns;		/* when the last one was accepted, CLOCK_MONOTONIC */
};

/* Returns false if the process has no such record. */
bool fpm_worker_read(pid_t pid, struct fpm_worker *ret);

#endif

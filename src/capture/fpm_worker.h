/* fpm_worker.h: php-fpm's own data about a worker: its state, since when, and the number of requests served.
 *
 * Master and workers share a table, which the status page comes from. It has no name that could be looked up, but each
 * worker's record holds its number and the second in which it began, and is found by them in the worker's own memory.
 */
#ifndef CAPTURE_FPM_WORKER_H
#define CAPTURE_FPM_WORKER_H

#include "bpf/event.h"
#include <stdbool.h>
#include <sys/types.h>

/* As php-fpm numbers them. */
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
	u64 requests;			/* begun so far */
	int64_t accepted_ns;		/* when the last one came, CLOCK_MONOTONIC */
};

/* False if the process has no such record. */
bool fpm_worker_read(pid_t pid, struct fpm_worker *ret);

#endif

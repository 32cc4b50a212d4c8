/* jobs.h: runs jobs in child processes, so memory is released and crashes are contained. */
#ifndef ARCLAMP_JOBS_H
#define ARCLAMP_JOBS_H

#include "err.h"

#include <stdint.h>

#define JOBS_MAX	64u

struct job_result {
	int code;		/* set by the job; -ECHILD if the process ended without a result */
	unsigned count;		/* for use by the caller */
	char text[1024];	/* a message, or "" */
};

struct jobs {
	unsigned at_once;	/* 1 to JOBS_MAX */
	uint64_t memory_bytes;	/* limit per job; 0: none */
	int nice;		/* niceness of the jobs */
	void *data;

	/* Runs in the job's process. */
	void (*work)(void *data, size_t number, struct job_result *result);

	/* Called in the parent before a job begins and after it has ended. `started` may be NULL. */
	void (*started)(void *data, size_t number);
	void (*ended)(void *data, size_t number, const struct job_result *result);
};

/* Runs jobs 0 to count - 1, in this order. */
int jobs_run(const struct jobs *j, size_t count, struct err *err);

#endif

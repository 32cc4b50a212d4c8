/* workers.h: a pool of threads for slow jobs, so that the HTTP threads are always responsive.
 *
 * It is independent of HTTP and profiles: a job is a function with its data. Jobs wait in a short queue, and are
 * refused immediately if it is full. Stopping the pool signals a descriptor, which jobs poll, and is complete when
 * the last job is done.
 */
#ifndef SERVE_WORKERS_H
#define SERVE_WORKERS_H

#include "err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define WORKERS_MAX	8u

struct workers;

/* `threads` is WORKERS_MAX at most; `waiting` is the capacity of the queue. */
int workers_new(unsigned threads, unsigned waiting, struct workers **ret, struct err *err);

/* Queues a call of `run(job)` by one of the threads. False if the queue is full or the pool is stopping. Any
 * thread. */
bool workers_add(struct workers *w, void (*run)(void *job), void *job);

/* Becomes readable when jobs should give up. */
int workers_stop_fd(const struct workers *w);

/* Signals running and queued jobs to give up, and accepts no more; queued jobs are still called. Call it once, before
 * workers_free. */
void workers_stop(struct workers *w);
struct workers *workers_free(struct workers *w);	/* NULL is fine; returns NULL */

#endif

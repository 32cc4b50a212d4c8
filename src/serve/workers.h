/* workers.h: a pool of threads for slow jobs, so that the HTTP threads are always responsive.
 *
 * It is independent of HTTP and profiles: a job is a function with its data. Jobs wait in a short queue, and are
 * refused at once when it is full. Stopping the pool signals a descriptor, which jobs poll, and is complete when the
 * last job is done.
 */
#ifndef SERVE_WORKERS_H
#define SERVE_WORKERS_H

#include "err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define WORKERS_MAX	8u

struct workers;

/* So many threads, WORKERS_MAX at most, and room for so many jobs that wait. */
int workers_new(unsigned threads, unsigned waiting, struct workers **ret, struct err *err);

/* Has `run(job)` called by one of the threads, soon. False, and nothing is called, if too many wait already, or if it is
 * ending. Any thread. */
bool workers_add(struct workers *w, void (*run)(void *job), void *job);

/* To be polled for reading: there is something once jobs are to give up. */
int workers_stop_fd(const struct workers *w);

/* Jobs end, also those that wait, which are called as all others; then no more are taken. Call it once, before
 * workers_free. */
void workers_stop(struct workers *w);
struct workers *workers_free(struct workers *w);	/* NULL is fine; returns NULL */

#endif

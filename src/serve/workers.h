/* workers.h: what takes long is done by threads that are there for it, so that the threads of HTTP always answer.
 *
 * It knows nothing of HTTP or profiles: a job is a function and what it works on. Jobs wait in a short queue; what finds
 * it full is refused at once. The end is told by a descriptor, which jobs look at, and comes when the last is done.
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

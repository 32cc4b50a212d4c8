/* uploads.h: what takes long is done by threads that are there for it, so that the threads of HTTP always answer.
 *
 * It knows nothing of HTTP or profiles: a job is a function and what it works on. Jobs wait in a short queue; what finds
 * it full is refused at once. The end is told by a descriptor, which jobs look at, and comes when the last is done.
 */
#ifndef SERVE_UPLOADS_H
#define SERVE_UPLOADS_H

#include "err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define UPLOAD_THREADS	2u
#define UPLOADS_WAITING	8u

struct uploads;

int uploads_new(struct uploads **ret, struct err *err);

/* Has `run(job)` called by one of the threads, soon. False, and nothing is called, if too many wait already, or if it is
 * ending. Any thread. */
bool uploads_add(struct uploads *u, void (*run)(void *job), void *job);

/* To be polled for reading: there is something once jobs are to give up. */
int uploads_stop_fd(const struct uploads *u);

/* Jobs end, also those that wait, which are called as all others; then no more are taken. Call it once, before
 * uploads_free. */
void uploads_stop(struct uploads *u);
struct uploads *uploads_free(struct uploads *u);	/* NULL is fine; returns NULL */

#endif

/* lock.h: a mutex that knows which thread holds it.
 *
 * So functions can state what they require from their caller: assert(lock_is_held(&c->lock)). Taking it twice, which
 * would block forever, and releasing another thread's lock fail assertions, too. */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

struct lock {
	pthread_mutex_t mutex;
	_Atomic(const void *) holder;		/* identifies the thread; NULL: not held */
};

#define LOCK_INITIALIZER { PTHREAD_MUTEX_INITIALIZER, NULL }

void lock_init(struct lock *l);
void lock_done(struct lock *l);			/* must not be held */

void lock_take(struct lock *l);
void lock_release(struct lock *l);
bool lock_is_held(const struct lock *l);	/* by the calling thread */

/* Releases the lock while it waits for `condition`; wake-ups may be spurious. Waits until `until` at most, by the
 * condition's clock; NULL: without a limit. */
void lock_wait(struct lock *l, pthread_cond_t *condition, const struct timespec *until);

#endif

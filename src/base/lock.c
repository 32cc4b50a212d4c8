/* lock.c: only the thread that holds the mutex writes `holder`, so any thread can tell whether it is the holder. */
#include "lock.h"

#include <assert.h>
#include <stdatomic.h>

/* Its address identifies a thread: no two live threads have the same. */
static _Thread_local char mark;

static void set_holder(struct lock *l, const void *holder)
{
	atomic_store_explicit(&l->holder, holder, memory_order_relaxed);
}

void lock_init(struct lock *l)
{
	pthread_mutex_init(&l->mutex, NULL);
	set_holder(l, NULL);
}

void lock_done(struct lock *l)
{
	assert(!atomic_load_explicit(&l->holder, memory_order_relaxed));
	pthread_mutex_destroy(&l->mutex);
}

bool lock_is_held(const struct lock *l)
{
	return atomic_load_explicit(&l->holder, memory_order_relaxed) == &mark;
}

void lock_take(struct lock *l)
{
	assert(!lock_is_held(l));
	pthread_mutex_lock(&l->mutex);
	set_holder(l, &mark);
}

void lock_release(struct lock *l)
{
	assert(lock_is_held(l));
	set_holder(l, NULL);
	pthread_mutex_unlock(&l->mutex);
}

void lock_wait(struct lock *l, pthread_cond_t *condition, const struct timespec *until)
{
	assert(lock_is_held(l));
	set_holder(l, NULL);
	if (until)
		pthread_cond_timedwait(condition, &l->mutex, until);
	else
		pthread_cond_wait(condition, &l->mutex);
	set_holder(l, &mark);
}

/* test_lock.c: tests which thread holds a lock, and that wrong use aborts. */
#include "lock.h"
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TEST(a_lock_is_held_by_the_thread_that_took_it_until_it_is_released)
{
	struct lock l = LOCK_INITIALIZER;

	CHECK(!lock_is_held(&l));
	lock_take(&l);
	CHECK(lock_is_held(&l));
	lock_release(&l);
	CHECK(!lock_is_held(&l));
	lock_done(&l);
}

static void *is_held(void *data)
{
	return lock_is_held(data) ? data : NULL;
}

TEST(a_lock_is_not_held_by_other_threads)
{
	struct lock l;
	pthread_t thread;
	void *held = &l;

	lock_init(&l);
	lock_take(&l);
	CHECK_INT(pthread_create(&thread, NULL, is_held, &l), 0);
	pthread_join(thread, &held);
	CHECK(!held);
	lock_release(&l);
	lock_done(&l);
}

struct shared {
	struct lock lock;
	pthread_cond_t changed;
	bool taken;
};

static void *take(void *data)
{
	struct shared *s = data;

	lock_take(&s->lock);
	s->taken = true;
	pthread_cond_signal(&s->changed);
	lock_release(&s->lock);
	return NULL;
}

TEST(waiting_releases_the_lock_to_others_and_takes_it_again)
{
	struct shared s = { LOCK_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
	pthread_t thread;

	lock_take(&s.lock);
	CHECK_INT(pthread_create(&thread, NULL, take, &s), 0);
	while (!s.taken)
		lock_wait(&s.lock, &s.changed, NULL);
	CHECK(lock_is_held(&s.lock));
	lock_release(&s.lock);
	pthread_join(thread, NULL);
	lock_done(&s.lock);
}

TEST(waiting_ends_at_the_deadline)
{
	struct shared s = { LOCK_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	lock_take(&s.lock);
	lock_wait(&s.lock, &s.changed, &now);
	CHECK(lock_is_held(&s.lock));
	lock_release(&s.lock);
}

/* Returns the signal that ends a child that calls `what`; 0 if that returns. */
static int signal_of(void (*what)(struct lock *l))
{
	struct lock l = LOCK_INITIALIZER;
	int status = 0;
	pid_t child = fork();

	if (!child) {
		close(STDERR_FILENO);		/* hides its message */
		alarm(10);
		what(&l);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void take_twice(struct lock *l)
{
	lock_take(l);
	lock_take(l);
}

TEST(taking_a_lock_twice_aborts_instead_of_deadlocking)
{
	CHECK_INT(signal_of(take_twice), SIGABRT);
}

TEST(releasing_a_lock_that_is_not_held_aborts)
{
	CHECK_INT(signal_of(lock_release), SIGABRT);
}

TEST_MAIN()

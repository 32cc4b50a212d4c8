/* ticker.c: the thread behind ticker.h. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "ticker.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK_SIZE (64 * 1024)

/* `deadline` and `sleep_until` are the two sides of a handshake: whoever moves the deadline stores it and then looks
 * whether the thread sleeps longer than that; the thread stores how long it means to sleep and then looks whether
 * the deadline has moved. All are sequentially consistent, so one of the two always sees the other. */
static struct {
	pthread_t thread;
	_Atomic bool running, stop;
	_Atomic uint32_t started;		/* a futex too: 1 once the thread runs our code */
	_Atomic uint32_t word;			/* the futex: changed to wake the thread */
	_Atomic int64_t deadline, period;
	_Atomic bool cpu;
	_Atomic int64_t sleep_until;		/* CLOCK_MONOTONIC */
	_Atomic bool fired;
	clockid_t cpu_clock;
	void (*fire)(void);
} ticker;

static int64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t ticker_now(bool cpu)
{
	return read_clock(cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC);
}

static void wake(void)
{
	atomic_fetch_add(&ticker.word, 1);
	syscall(SYS_futex, &ticker.word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void wait_until(uint32_t word, int64_t until)
{
	struct timespec t = { until / 1000000000, until % 1000000000 };

	syscall(SYS_futex, &ticker.word, FUTEX_WAIT_BITSET_PRIVATE, word, until == TICKER_NEVER ? NULL : &t, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

/* Fires if it is time. Returns until when to sleep. */
static int64_t step(int64_t deadline)
{
	bool cpu = atomic_load(&ticker.cpu);
	int64_t period = atomic_load(&ticker.period);
	int64_t now = read_clock(CLOCK_MONOTONIC);
	int64_t left;

	if (deadline == TICKER_NEVER)
		return TICKER_NEVER;
	left = deadline - (cpu ? read_clock(ticker.cpu_clock) : now);
	if (left > 0) {
		/* CPU time passes at most as fast as real time; a blocked thread's does not pass at all. */
		if (cpu && left < period / 2)
			left = period / 2;
		return now + left;
	}
	/* Not taken since the last time: whoever takes it moves the deadline, and that wakes us. */
	if (atomic_load(&ticker.fired))
		return TICKER_NEVER;
	atomic_store(&ticker.fired, true);
	ticker.fire();
	return now + left % period + period;
}

static void *run(void *unused)
{
	(void)unused;
	atomic_store(&ticker.started, 1);
	syscall(SYS_futex, &ticker.started, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	while (!atomic_load(&ticker.stop)) {
		uint32_t word = atomic_load(&ticker.word);
		int64_t deadline = atomic_load(&ticker.deadline);
		int64_t until = step(deadline);

		int64_t moved;

		atomic_store(&ticker.sleep_until, until);
		moved = atomic_load(&ticker.deadline);
		if (moved == deadline || (!atomic_load(&ticker.cpu) && moved >= until))
			wait_until(word, until);
	}
	return NULL;
}

int ticker_start(void (*fire)(void))
{
	pthread_attr_t attr;
	sigset_t all, before;
	int r;

	if (atomic_load(&ticker.running))
		return 0;
	if (pthread_getcpuclockid(pthread_self(), &ticker.cpu_clock))
		ticker.cpu_clock = CLOCK_PROCESS_CPUTIME_ID;
	ticker.fire = fire;
	atomic_store(&ticker.stop, false);
	atomic_store(&ticker.started, 0);
	atomic_store(&ticker.fired, false);
	atomic_store(&ticker.deadline, TICKER_NEVER);
	atomic_store(&ticker.sleep_until, 0);

	if ((r = pthread_attr_init(&attr)))
		return r;
	pthread_attr_setstacksize(&attr, STACK_SIZE > PTHREAD_STACK_MIN ? STACK_SIZE : PTHREAD_STACK_MIN);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&ticker.thread, &attr, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (r)
		return r;
	pthread_setname_np(ticker.thread, "strobe-ticker");
	atomic_store(&ticker.running, true);
	return 0;
}

void ticker_stop(void)
{
	if (!atomic_load(&ticker.running))
		return;
	atomic_store(&ticker.stop, true);
	wake();
	pthread_join(ticker.thread, NULL);
	atomic_store(&ticker.running, false);
}

void ticker_settle(void)
{
	const struct timespec step = { 0, 10 * 1000 * 1000 };

	for (int i = 0; i < 10 && atomic_load(&ticker.running) && !atomic_load(&ticker.started); i++)
		syscall(SYS_futex, &ticker.started, FUTEX_WAIT_PRIVATE, 0, &step, NULL, 0);
}

void ticker_forget(void)
{
	atomic_store(&ticker.running, false);
	atomic_store(&ticker.deadline, TICKER_NEVER);
	atomic_store(&ticker.fired, false);
}

void ticker_set(int64_t deadline_ns, int64_t period_ns, bool cpu)
{
	int64_t wake_by = cpu ? 0 : deadline_ns;

	atomic_store_explicit(&ticker.period, period_ns, memory_order_relaxed);
	atomic_store_explicit(&ticker.cpu, cpu, memory_order_relaxed);
	atomic_store(&ticker.deadline, deadline_ns);
	if (cpu)
		wake_by = read_clock(CLOCK_MONOTONIC) + deadline_ns - read_clock(CLOCK_THREAD_CPUTIME_ID);
	if (atomic_load(&ticker.sleep_until) > wake_by)
		wake();
}

void ticker_clear(void)
{
	atomic_store(&ticker.deadline, TICKER_NEVER);
	atomic_store(&ticker.fired, false);
}

bool ticker_take(void)
{
	return atomic_load(&ticker.fired) && atomic_exchange(&ticker.fired, false);
}

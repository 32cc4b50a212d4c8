/* ticker.c: the ticker of the extension without PHP, for ThreadSanitizer and AddressSanitizer (tests/php/run ticker).
 *
 * Threads come, get ticks at targets in memory of their own, and free it as soon as they have left; meanwhile others
 * fork, and the children start a ticker of their own. No tick may be late for ever. Every other thread is looked at, too, until it has
 * left, by a ticker that has none of the program's descriptors.
 */

#include "ticker.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STOPS		20000
#define THREADS		8
#define LIVES		150
#define FORKS		30
#define TICKS		8
#define PERIOD_NS	200000
#define PATIENCE_NS	20000000000LL

static _Atomic int ticks, late, looks, wrong_files;
static _Thread_local struct ticker_slot *own;

static int64_t fire(void *target, bool works, _Atomic bool *fired)
{
	(void)works;
	atomic_store(fired, true);
	atomic_store((_Atomic bool *)target, true);
	return TICKER_NEVER;
}

static int64_t look(void *target, const struct ticker_slot *slot, int64_t cpu_ns)
{
	atomic_load((_Atomic bool *)target);
	if (atomic_fetch_add(&looks, 1) % 64 == 0)
		ticker_settles(slot);
	if (fcntl(STDOUT_FILENO, F_GETFD) >= 0 || cpu_ns < 0)
		atomic_fetch_add(&wrong_files, 1);
	return 0;
}

static void before(void)
{
	ticker_settle();
}

static void in_child(void)
{
	ticker_forget(&own, 1);
}

/* Waits for ticks of a clock, as PHP's VM does: it looks at a flag. */
static void wait_for_ticks(_Atomic bool *flag, unsigned clock, int count)
{
	int64_t end = ticker_now(0) + PATIENCE_NS;
	int64_t at = ticker_now(clock) + PERIOD_NS;

	ticker_set(own, clock, (struct ticker_deadline){ at, PERIOD_NS });
	ticker_wake_by(ticker_now(0) + PERIOD_NS);
	while (count > 0) {
		if (!clock)
			sched_yield();
		if (ticker_now(0) > end) {
			atomic_fetch_add(&late, 1);
			return;
		}
		if (!atomic_exchange(flag, false) || !ticker_take(own))
			continue;
		count--;
		atomic_fetch_add(&ticks, 1);
		at = ticker_now(clock) + PERIOD_NS;
		ticker_set(own, clock, (struct ticker_deadline){ at, PERIOD_NS });
		ticker_wake_by(ticker_now(0) + PERIOD_NS);
	}
}

static void live(unsigned clock, int count)
{
	_Atomic bool *flag = calloc(1, sizeof(*flag));

	own = ticker_join(flag);
	if (!flag || !own || ticker_start(fire))
		abort();
	if (count % 2)
		ticker_watch(own, PERIOD_NS / 2, look);
	wait_for_ticks(flag, clock, count);
	ticker_leave(own);
	own = NULL;
	free(flag);
}

/* AddressSanitizer takes locks of its own while a thread is made or ends, and that of GCC 12 does not release them in a child that is
 * forked meanwhile: threads of the child then wait for ever. */
static pthread_barrier_t together;

static void meet(void)
{
#ifdef __SANITIZE_ADDRESS__
	pthread_barrier_wait(&together);
#endif
}

static void *threads_life(void *argument)
{
	unsigned number = (unsigned)(uintptr_t)argument;

	meet();
	for (unsigned i = 0; i < LIVES; i++)
		live(number % 4 == 3, (int)((number + i) % TICKS));
	meet();
	return NULL;
}

/* A child goes on in its own slot. */
static void *forks_life(void *unused)
{
	(void)unused;
	meet();
	for (int i = 0; i < FORKS; i++) {
		_Atomic bool *flag = calloc(1, sizeof(*flag));
		int status;
		pid_t pid;

		own = ticker_join(flag);
		if (!flag || !own || ticker_start(fire))
			abort();
		ticker_watch(own, PERIOD_NS / 2, look);
		wait_for_ticks(flag, 0, 2);
		pid = fork();
		if (pid == 0) {
			alarm(60);
			atomic_store(&late, 0);		/* that of the parent */
			if (ticker_start(fire))
				_exit(2);
			wait_for_ticks(flag, 0, 3);
			live(0, 2);
			_exit(atomic_load(&late) ? 1 : 0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
			printf("child: %d\n", pid < 0 ? -1 : status);
			atomic_fetch_add(&late, 1);
		}
		ticker_leave(own);
		own = NULL;
		free(flag);
	}
	meet();
	return NULL;
}

static int64_t no_fire(void *target, bool works, _Atomic bool *fired)
{
	(void)target;
	(void)works;
	atomic_store(fired, true);
	return TICKER_NEVER;
}

/* Whoever stops it just when it looks for something to do is heard: else this never ends. */
static void start_and_stop(void)
{
	for (int i = 0; i < STOPS; i++) {
		ticker_start(no_fire);
		for (int n = i % 50 * 20; n; n--)
			atomic_signal_fence(memory_order_seq_cst);
		if (i % 2)
			ticker_settle();
		ticker_stop();
	}
}

int main(void)
{
	pthread_t threads[THREADS], forks;
	bool ok;

	start_and_stop();
	pthread_atfork(before, NULL, in_child);
	pthread_barrier_init(&together, NULL, THREADS + 1);
	for (int round = 0; round < 2; round++) {
		for (uintptr_t i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, threads_life, (void *)i);
		pthread_create(&forks, NULL, forks_life, NULL);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		pthread_join(forks, NULL);
		ticker_stop();
	}
	ok = !atomic_load(&late) && atomic_load(&looks) && !atomic_load(&wrong_files);
	printf("%s: %d ticks, %d late, %d looks, %d with the descriptors of others\n", ok ? "ok" : "not ok", atomic_load(&ticks),
	       atomic_load(&late), atomic_load(&looks), atomic_load(&wrong_files));
	return !ok;
}

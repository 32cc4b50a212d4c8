/* ticker.c: the thread behind ticker.h. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "ticker.h"
#include "futex.h"
#include "guarded_read.h"
#include "unshare_files.h"
#include "short_slice.h"
#include "thread_state.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define STACK_SIZE (128 * 1024)

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* A CPU deadline that is nearly reached is checked again after this long at the earliest. */
#define CPU_GRAIN_NS 50000

/* A PHP thread waits at most this long for `fire` to return. */
#define FINISH_NS 20000

/* The value of `sleep_until` while the ticker scans the slots. */
#define AWAKE INT64_MIN

enum state { NONE, STARTING, RUNNING };

/* Slots are never freed while the ticker runs, so that it may walk the list at any time. */
struct ticker_slot {
	struct ticker_slot *next;
	_Atomic bool used;
	_Atomic(void *) target;			/* NULL: do not fire */
	_Atomic bool firing;			/* the ticker may be about to use the target that it has read */
	_Atomic bool fired;
	_Atomic int64_t at[TICKER_CLOCKS];
	_Atomic int64_t gap[TICKER_CLOCKS];
	_Atomic clockid_t cpu_clock;
	_Atomic pid_t thread;
	_Atomic int64_t watch_ns;		/* interval for checking the thread; 0: never */
	_Atomic(ticker_watcher *) watcher;
	_Atomic bool is_watching;		/* like `firing`, for `watcher`, which may take longer */

	/* Private to the ticker, while CPU time is over and the thread has not been seen working. */
	int64_t cpu_ns;				/* CPU time at the ticker's last check */
	int64_t pause_ns;			/* pause until the next check; 0: not checked yet */
	int64_t probe_ns;			/* CLOCK_MONOTONIC: end of a short sleep to see whether CPU time
						 * grows; 0: not sleeping */
	int64_t watch_due_ns;			/* CLOCK_MONOTONIC: the next call of `watcher` */
};

/* `sleep_until` and the deadlines form a handshake. A PHP thread stores the deadline and then checks whether the
 * ticker sleeps longer than that. The ticker reads `word`, marks itself awake, reads the deadlines, stores how long
 * it intends to sleep, and sleeps unless the word has changed. All accesses are sequentially consistent: either the
 * ticker sees the deadline, or the PHP thread sees the ticker awake or asleep and changes the word. */
static struct {
	pthread_t thread;
	_Atomic int state;
	_Atomic bool stop;
	_Atomic uint32_t started;		/* another futex: 1 once the thread runs our code */
	_Atomic uint32_t word;			/* the futex: changed to wake the thread */
	_Atomic int64_t sleep_until;		/* CLOCK_MONOTONIC */
	_Atomic(struct ticker_slot *) slots;
	ticker_fire *fire;
} ticker;

static bool read_clock(clockid_t clock, int64_t *ret)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return false;
	*ret = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	return true;
}

int64_t ticker_now(unsigned clock)
{
	int64_t now = 0;

	read_clock(clock ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
	return now;
}

static void pause_for(long ns)
{
	const struct timespec t = { 0, ns };

	nanosleep(&t, NULL);
}

/* --- the thread */

static void wait_until(uint32_t word, int64_t until)
{
	struct timespec t = { until / 1000000000, until % 1000000000 };

	futex_wait(&ticker.word, word, until == TICKER_NEVER ? NULL : &t);
}

static int64_t after(int64_t now, int64_t ns)
{
	return now == TICKER_NEVER || ns >= TICKER_NEVER - now ? TICKER_NEVER : now + ns;
}

/* A late thread is probed this many times per period, and less often while it uses no CPU time at all, but at least
 * once in this many periods. */
#define LOOKS		4
#define LONGEST_PAUSE	4

/* After this many periods a tick is delivered even if the thread was never seen working. */
#define LATEST		16

/* A probe that overslept by more than this is inconclusive, since the thread may have stopped working in between. */
#define OVERSLEPT_NS	(2 * CPU_GRAIN_NS)

/* Returns the time until the deadline, 0 or less if it has passed; TICKER_NEVER if there is none. CPU time passes at
 * most as fast as real time, and not at all in a blocked thread, so the result is only when to check again. */
static int64_t left_of(struct ticker_slot *s, unsigned clock, int64_t now)
{
	int64_t at = atomic_load(&s->at[clock]);
	int64_t half = atomic_load(&s->gap[clock]) / 2;
	int64_t left;

	if (at == TICKER_NEVER)
		return TICKER_NEVER;
	if (clock && !read_clock(atomic_load(&s->cpu_clock), &now))
		return TICKER_NEVER;		/* its thread has ended */
	left = at - now;
	if (clock && left > 0) {
		left = left > half ? left : half;
		left = left > CPU_GRAIN_NS ? left : CPU_GRAIN_NS;
	}
	return left;
}

/* The ticker notices with a delay that a period of CPU time is over. By then the thread may be blocked, and a tick
 * would note the blocked function instead of the one that worked. So the tick is held back until the thread is seen
 * working: its CPU time grows between two reads or, in case the ticker has preempted it, while the ticker sleeps for
 * a moment. Returns how long to pause before probing again; 0 if the thread works, or if it has not been seen working
 * for too long: `*ret_works` tells which. */
static int64_t wait_for_work(struct ticker_slot *s, int64_t late, int64_t gap, bool *ret_works)
{
	clockid_t clock = atomic_load(&s->cpu_clock);
	int64_t before = 0, now = 0, grown;
	bool probed = s->probe_ns, overslept = probed && ticker_now(0) > s->probe_ns + OVERSLEPT_NS;

	s->probe_ns = 0;
	*ret_works = gap <= 0 || !read_clock(clock, &before) || !read_clock(clock, &now) || now != before;
	grown = now - s->cpu_ns;
	s->cpu_ns = now;
	*ret_works |= probed && !overslept && grown >= CPU_GRAIN_NS / 2;
	if (*ret_works || late > LATEST * gap) {
		s->pause_ns = 0;
		return 0;
	}
	if (!probed && (!s->pause_ns || grown)) {
		s->probe_ns = ticker_now(0) + CPU_GRAIN_NS;
		s->pause_ns = gap / LOOKS;
		return CPU_GRAIN_NS;
	}
	if (!probed)
		s->pause_ns = MIN(s->pause_ns * 2, LONGEST_PAUSE * gap);
	return MAX(s->pause_ns, CPU_GRAIN_NS);
}

/* If the tick is not taken, returns how long after the next deadline another one is wanted. */
static int64_t fire(struct ticker_slot *s, bool works)
{
	int64_t later = TICKER_NEVER;
	void *target;

	atomic_store(&s->firing, true);
	target = atomic_load(&s->target);
	if (target)
		later = ticker.fire(target, works, &s->fired);
	atomic_store(&s->firing, false);
	return later;
}

/* Fires the slot if a deadline has passed. Returns until when it needs no attention. */
static int64_t step(struct ticker_slot *s)
{
	bool was_fired = atomic_load(&s->fired), due = false, works = false;
	int64_t now = ticker_now(0), until = TICKER_NEVER, later;

	for (unsigned clock = 0; clock < TICKER_CLOCKS; clock++) {
		int64_t left = left_of(s, clock, now);

		if (left == TICKER_NEVER)
			continue;
		if (left <= 0) {
			int64_t gap = atomic_load(&s->gap[clock]);
			bool by_clock = true;
			int64_t pause = clock ? wait_for_work(s, -left, gap, &by_clock) : 0;

			due |= !pause;
			works |= !pause && by_clock;
			left = pause ? pause : gap > 0 ? left % gap + gap : TICKER_NEVER;
		}
		if (after(now, left) < until)
			until = after(now, left);
	}
	if (!due)
		return until;
	later = fire(s, works);
	/* Not taken since the last time: taking it moves a deadline, which wakes us. */
	return was_fired ? after(until, later) : until;
}

/* Whether the ticker's thread has its own table of descriptors, which it gets before its first call of a watcher. */
enum files { NOT_TAKEN, TAKEN, NOT_TO_BE_HAD };

static bool have_files(enum files *files)
{
	if (*files == NOT_TAKEN)
		*files = unshare_files() ? TAKEN : NOT_TO_BE_HAD;
	return *files == TAKEN;
}

/* Calls the watcher if one is set and due. Returns when it is next due. */
static int64_t watch(struct ticker_slot *s, enum files *files)
{
	int64_t every = atomic_load(&s->watch_ns), now, pause = 0, cpu;
	ticker_watcher *watcher;
	void *target;

	if (!every || !have_files(files))
		return TICKER_NEVER;
	now = ticker_now(0);
	if (now < s->watch_due_ns)
		return s->watch_due_ns;
	atomic_store(&s->is_watching, true);
	target = atomic_load(&s->target);
	watcher = atomic_load(&s->watcher);
	if (target && watcher && read_clock(atomic_load(&s->cpu_clock), &cpu))
		pause = watcher(target, s, cpu);
	atomic_store(&s->is_watching, false);
	return s->watch_due_ns = ticker_now(0) + MAX(every, pause);
}

bool ticker_settles(const struct ticker_slot *s)
{
	clockid_t clock = atomic_load(&s->cpu_clock);
	pid_t thread = atomic_load(&s->thread);
	int64_t before, now, until;

	if (thread_sleeps(thread))
		return true;
	if (!read_clock(clock, &before))
		return false;
	until = ticker_now(0) + TICKER_SETTLE_MAX_NS;
	do {
		pause_for(TICKER_SETTLED_NS / 2);
		if (thread_sleeps(thread))
			return true;
		if (!read_clock(clock, &now))
			return false;
		if (now - before >= TICKER_SETTLED_NS)
			return true;
	} while (ticker_now(0) < until);
	return false;
}

static void *run(void *unused)
{
	enum files files = NOT_TAKEN;
	const char *reason;

	(void)unused;
	/* A seccomp filter that forbids that system call may kill the process. */
	if (guarded_read_works(&reason))
		request_short_slice();
	atomic_store(&ticker.started, 1);
	futex_wake(&ticker.started, INT_MAX);
	for (;;) {
		/* Read before the scan: later changes modify the word, too, and end the sleep. */
		uint32_t word = atomic_load(&ticker.word);
		int64_t until = TICKER_NEVER;

		if (atomic_load(&ticker.stop))
			return NULL;
		atomic_store(&ticker.sleep_until, AWAKE);
		for (struct ticker_slot *s = atomic_load(&ticker.slots); s; s = s->next) {
			int64_t slot_until = step(s);

			until = MIN(until, slot_until);
			slot_until = watch(s, &files);
			until = MIN(until, slot_until);
		}
		atomic_store(&ticker.sleep_until, until);
		wait_until(word, until);
	}
}

/* --- its life */

static int make_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int r;

	if ((r = pthread_attr_init(&attr)))
		return r;
	pthread_attr_setstacksize(&attr, STACK_SIZE > PTHREAD_STACK_MIN ? STACK_SIZE : PTHREAD_STACK_MIN);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&ticker.thread, &attr, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (!r)
		pthread_setname_np(ticker.thread, "strobe-ticker");
	return r;
}

int ticker_start(ticker_fire *fire)
{
	int r, none;

	for (;;) {
		if (atomic_load_explicit(&ticker.state, memory_order_acquire) == RUNNING)
			return 0;
		none = NONE;
		if (atomic_compare_exchange_strong(&ticker.state, &none, STARTING))
			break;
		if (none == STARTING)
			pause_for(20000);	/* another thread is creating it */
	}
	ticker.fire = fire;
	atomic_store(&ticker.stop, false);
	atomic_store(&ticker.started, 0);
	atomic_store(&ticker.sleep_until, AWAKE);
	r = make_thread();
	atomic_store(&ticker.state, r ? NONE : RUNNING);
	return r;
}

static void wake(void)
{
	atomic_fetch_add(&ticker.word, 1);
	futex_wake(&ticker.word, 1);
}

void ticker_stop(void)
{
	struct ticker_slot *s, *next;

	if (atomic_load(&ticker.state) == RUNNING) {
		atomic_store(&ticker.stop, true);
		wake();
		pthread_join(ticker.thread, NULL);
		atomic_store(&ticker.state, NONE);
	}
	for (s = atomic_exchange(&ticker.slots, NULL); s; s = next) {
		next = s->next;
		free(s);
	}
}

void ticker_settle(void)
{
	for (int i = 0; i < 10 && atomic_load(&ticker.state) != NONE && !atomic_load(&ticker.started); i++) {
		int64_t until = ticker_now(0) + 10 * 1000 * 1000;
		struct timespec t = { until / 1000000000, until % 1000000000 };

		futex_wait(&ticker.started, 0, &t);
	}
}

static void find_cpu_clock(struct ticker_slot *s)
{
	clockid_t clock;

	if (pthread_getcpuclockid(pthread_self(), &clock))
		clock = CLOCK_PROCESS_CPUTIME_ID;
	atomic_store(&s->cpu_clock, clock);
	atomic_store(&s->thread, (pid_t)syscall(SYS_gettid));
}

static void clear(struct ticker_slot *s)
{
	for (unsigned clock = 0; clock < TICKER_CLOCKS; clock++)
		atomic_store(&s->at[clock], TICKER_NEVER);
	atomic_store(&s->fired, false);
}

static bool is_among(const struct ticker_slot *s, struct ticker_slot *const *own, unsigned count)
{
	while (count--)
		if (own[count] == s)
			return true;
	return false;
}

void ticker_forget(struct ticker_slot *const *own, unsigned count)
{
	atomic_store(&ticker.state, NONE);
	for (struct ticker_slot *s = atomic_load(&ticker.slots); s; s = s->next) {
		atomic_store(&s->firing, false);
		atomic_store(&s->is_watching, false);
		clear(s);
		if (is_among(s, own, count)) {
			find_cpu_clock(s);	/* the thread has a different id here */
		} else {
			atomic_store(&s->watch_ns, 0);
			atomic_store(&s->target, NULL);
			atomic_store(&s->used, false);
		}
	}
}

/* --- the slots */

static struct ticker_slot *reuse_slot(void)
{
	for (struct ticker_slot *s = atomic_load(&ticker.slots); s; s = s->next)
		if (!atomic_load(&s->used) && !atomic_exchange(&s->used, true))
			return s;
	return NULL;
}

static struct ticker_slot *new_slot(void)
{
	struct ticker_slot *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	atomic_store(&s->used, true);
	clear(s);
	s->next = atomic_load(&ticker.slots);
	while (!atomic_compare_exchange_weak(&ticker.slots, &s->next, s))
		;
	return s;
}

struct ticker_slot *ticker_join(void *target)
{
	struct ticker_slot *s = reuse_slot();

	if (!s && !(s = new_slot()))
		return NULL;
	find_cpu_clock(s);
	atomic_store(&s->target, target);
	return s;
}

bool ticker_finish(const struct ticker_slot *s)
{
	int64_t until;

	if (!atomic_load(&s->firing))
		return true;
	until = ticker_now(0) + FINISH_NS;
	while (atomic_load(&s->firing))
		if (ticker_now(0) >= until)
			return false;
	return true;
}

/* The ticker uses the target only for microseconds, so there is hardly ever anything to wait for. */
void ticker_quiesce(const struct ticker_slot *s)
{
	while (atomic_load(&s->firing))
		pause_for(20000);
}

void ticker_leave(struct ticker_slot *s)
{
	clear(s);
	atomic_store(&s->watch_ns, 0);
	atomic_store(&s->target, NULL);
	ticker_quiesce(s);
	while (atomic_load(&s->is_watching))
		pause_for(20000);
	clear(s);
	atomic_store(&s->used, false);
}

void ticker_set(struct ticker_slot *s, unsigned clock, struct ticker_deadline d)
{
	atomic_store_explicit(&s->gap[clock], d.gap_ns, memory_order_relaxed);
	atomic_store(&s->at[clock], d.at_ns);
}

void ticker_watch(struct ticker_slot *s, int64_t every_ns, ticker_watcher *watcher)
{
	atomic_store(&s->watcher, watcher);
	atomic_store(&s->watch_ns, every_ns);
	if (every_ns)
		ticker_wake_by(ticker_now(0) + every_ns);
}

void ticker_wake_by(int64_t wake_by_ns)
{
	int64_t until = atomic_load(&ticker.sleep_until);

	if (until == AWAKE) {
		atomic_fetch_add(&ticker.word, 1);	/* it then scans again before falling asleep */
		until = atomic_load(&ticker.sleep_until);
		if (until == AWAKE)
			return;
	}
	if (until > wake_by_ns)
		wake();
}

bool ticker_take(struct ticker_slot *s)
{
	return atomic_load_explicit(&s->fired, memory_order_relaxed) && atomic_exchange(&s->fired, false);
}

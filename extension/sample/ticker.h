/* ticker.h: one thread per process that waits for the deadlines of all timers of all PHP threads.
 *
 * It knows nothing of PHP. Each PHP thread has a slot, in which it publishes the next deadline of each of its clocks.
 * The ticker sleeps on a futex until the earliest of all, calls `fire` (which may only read and write memory), which
 * sets the flag of the slot, and waits for the deadline after that without any call from the PHP thread. If the flag
 * has not been taken by then, `fire` decides how much later to try again, or never: then the slot is ignored until
 * its deadline is moved. A blocked process causes few wake-ups or none.
 *
 * All signals are blocked in the thread and it uses none, so no system call of the application is ever interrupted.
 * A thread can also be checked periodically, even without timers. Only that causes permanent wake-ups.
 *
 * There are no locks, so a fork at any moment leaves nothing locked in the child.
 *
 * Linux only (futex, per-thread CPU clocks): another system needs another ticker.c.
 */
#ifndef STROBE_TICKER_H
#define STROBE_TICKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define TICKER_NEVER	INT64_MAX
#define TICKER_CLOCKS	2		/* 0: CLOCK_MONOTONIC, 1: CPU time of the slot's thread */

struct ticker_slot;

struct ticker_deadline {
	int64_t at_ns;			/* TICKER_NEVER: none */
	int64_t gap_ns;			/* time until the following deadline; 0: none */
};

/* Allocates a slot for the calling thread; NULL without memory. `target` is passed to fire, and is no longer accessed
 * once ticker_leave has returned. Slots are reused, and freed by ticker_stop. */
struct ticker_slot *ticker_join(void *target);
void ticker_leave(struct ticker_slot *slot);

/* Called in the ticker's thread when a deadline has passed. It must set `*fired` after its own notes are complete and
 * before it raises the PHP thread's flag, so that they are there when the tick is taken. `works` is false if CPU time
 * is over but the thread was not seen using any for several periods: the code running now did not use that time.
 * Returns how long after the next deadline to call it again if an earlier tick has not been taken either;
 * TICKER_NEVER: not at all. */
typedef int64_t ticker_fire(void *target, bool works, _Atomic bool *fired);

/* Called periodically in the ticker's thread, with a target, its slot and the CPU time of its thread. Returns the
 * minimum pause until the next call. Before the first call the ticker's thread gets its own file descriptors
 * (unshare_files.h); if that fails, nothing is checked. */
typedef int64_t ticker_watcher(void *target, const struct ticker_slot *slot, int64_t cpu_ns);

/* Makes the ticker, which must be running, check the slot at this interval; 0: stops that. */
void ticker_watch(struct ticker_slot *slot, int64_t every_ns, ticker_watcher *watcher);

/* For a watcher: returns whether everything that the slot's thread was about to do at the time of the call has now
 * been done, provided that it takes less than TICKER_SETTLED_NS of CPU time and does not block. That is certain if
 * the thread sleeps, or has worked that long in between. Waits up to TICKER_SETTLE_MAX_NS, because on a busy machine
 * the thread may have to wait for a CPU. */
#define TICKER_SETTLED_NS 1000000
#define TICKER_SETTLE_MAX_NS 20000000
bool ticker_settles(const struct ticker_slot *slot);

/* Starts the thread unless it is running; may be called by any thread. Returns 0 or an errno (EAGAIN if no more
 * threads are allowed). All callers must pass the same `fire`. */
int ticker_start(ticker_fire *fire);

/* Stops the thread, if this process has one, waits for it, and frees all slots. Call it before the code is unloaded. */
void ticker_stop(void);

/* Call it before a fork: waits, at most a tenth of a second, for a thread that is just starting. During that time the
 * C library (or a sanitizer) may hold locks, which would never be released in the child. */
void ticker_settle(void);

/* Call it in the child after a fork: the thread no longer exists, and the caller is the only remaining owner of
 * slots, those in `own` (each may be NULL). Async-signal-safe. */
void ticker_forget(struct ticker_slot *const *own, unsigned count);

/* Moves a deadline of the calling thread's slot. `wake_by_ns` is the CLOCK_MONOTONIC time by which the ticker must
 * check the slot; it is woken, by a system call, only if it would sleep longer. */
void ticker_set(struct ticker_slot *slot, unsigned clock, struct ticker_deadline d);
void ticker_wake_by(int64_t wake_by_ns);

/* Waits until the ticker is not about to fire the slot, which must not have a deadline any more. */
void ticker_quiesce(const struct ticker_slot *slot);

/* Waits until the ticker is not firing the slot, but at most 20 us, since it may have been preempted. Returns false
 * on timeout. */
bool ticker_finish(const struct ticker_slot *slot);

/* Whether the slot has been fired since the last call. */
bool ticker_take(struct ticker_slot *slot);

/* Reads a clock for the calling thread, in nanoseconds. */
int64_t ticker_now(unsigned clock);

#endif

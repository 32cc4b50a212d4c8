/* ticker.h: one thread per process that waits for the deadlines of all timers of all PHP threads.
 *
 * It knows nothing of PHP. Each PHP thread has a slot, in which it publishes the next deadline of each of its clocks.
 * The ticker sleeps on a futex until the earliest of all, calls `fire` (which must only look and store to memory), which
 * sets the flag of the slot, and waits for the deadline after that without any call from the PHP thread. If the flag has
 * still not been taken by then, `fire` says how much later to look again, or never: then the slot is ignored until its
 * deadline is moved. A waiting process has no wake-ups, or few.
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
	int64_t gap_ns;			/* time until the deadline after it; 0: there is none */
};

/* A slot for the calling thread; NULL if there is no memory. `target` is passed to fire, and is no longer accessed
 * once ticker_leave has returned. Slots are reused, and freed by ticker_stop. */
struct ticker_slot *ticker_join(void *target);
void ticker_leave(struct ticker_slot *slot);

/* Called in the ticker's thread when a deadline has passed. It must set `*fired` after its own notes are complete and before it raises
 * the PHP thread's flag, so that they are there when the tick is taken. `works` is false if CPU time is over but the thread
 * was not seen
 * using any for several periods: what it runs now did not use that time. Returns how much later than at the next deadline it
 * wants to be called again if an earlier tick has not been taken either; TICKER_NEVER for not at all. */
typedef int64_t ticker_fire(void *target, bool works, _Atomic bool *fired);

/* Called periodically in the ticker's thread, with a target, its slot and the CPU time of its thread. Returns the
 * minimum pause until the next call. By then the ticker's thread has file descriptors of its own (unshare_files.h);
 * without them, nothing is checked. */
typedef int64_t ticker_watcher(void *target, const struct ticker_slot *slot, int64_t cpu_ns);

/* From now on the ticker, which must have been started, checks the slot at this interval; 0: stops. */
void ticker_watch(struct ticker_slot *slot, int64_t every_ns, ticker_watcher *watcher);

/* For a watcher: whether all that the slot's thread was about to do when this was called has been done when it returns, as long as that
 * takes less than TICKER_SETTLED_NS of its time and waits for nothing. It has if the thread sleeps, or has worked for so long
 * meanwhile, for which this waits up to TICKER_SETTLE_MAX_NS: on a busy machine, a thread waits for its turn. */
#define TICKER_SETTLED_NS 1000000
#define TICKER_SETTLE_MAX_NS 20000000
bool ticker_settles(const struct ticker_slot *slot);

/* Starts the thread if it does not run; may be called by any thread. Returns 0 or an errno (EAGAIN when no more
 * threads are allowed). All callers give the same `fire`. */
int ticker_start(ticker_fire *fire);

/* Ends the thread, if this process has one, waits for it, and frees all slots: before the code is unloaded. */
void ticker_stop(void);

/* Before a fork: waits, a tenth of a second at most, for a thread that has only just been made. While it starts, the C
 * library (or a sanitizer) may hold locks for it, which would never be released in the child. */
void ticker_settle(void);

/* In the child after a fork: the thread no longer exists, and of the slots' owners only the caller is left; its
 * slots are `own` (any of them may be NULL). Async-signal-safe. */
void ticker_forget(struct ticker_slot *const *own, unsigned count);

/* Moves a deadline of the calling thread's slot. `wake_by_ns` is the time of CLOCK_MONOTONIC at which the ticker has to
 * check the slot at the latest; it is woken, by a system call, only if it would sleep longer. */
void ticker_set(struct ticker_slot *slot, unsigned clock, struct ticker_deadline d);
void ticker_wake_by(int64_t wake_by_ns);

/* Waits until the ticker is not about to fire the slot, which has no deadline any more. */
void ticker_quiesce(const struct ticker_slot *slot);

/* Waits until the ticker is not firing the slot, but no longer than 20 us: it may have been preempted. Returns whether it is not. */
bool ticker_finish(const struct ticker_slot *slot);

/* Whether the slot has been fired since the last call. */
bool ticker_take(struct ticker_slot *slot);

/* The time of a clock for the calling thread, in nanoseconds. */
int64_t ticker_now(unsigned clock);

#endif

/* ticker.h: one thread per process that says when it is time for the next sample.
 *
 * It knows nothing of PHP. The thread sleeps on a futex until the deadline, sets a flag and calls `fire` (which must
 * only store to memory), and goes on to the next deadline without any call from the sampled thread. If the flag has
 * still not been taken by then (the sampled thread is blocked), it sleeps until somebody moves the deadline: a
 * process that waits costs no wake-ups.
 *
 * All signals are blocked in the thread and it uses none, so no system call of the application is ever interrupted.
 * There are no locks, so a fork at any moment leaves nothing locked in the child.
 *
 * Linux only (futex, per-thread CPU clocks): another system needs another ticker.c.
 */
#ifndef STROBE_TICKER_H
#define STROBE_TICKER_H

#include <stdbool.h>
#include <stdint.h>

#define TICKER_NEVER INT64_MAX

/* Starts the thread for the calling thread's samples if it does not run. Returns 0 or an errno (EAGAIN when no more
 * threads are allowed). */
int ticker_start(void (*fire)(void));

/* Ends the thread, if this process has one, and waits for it: before the code is unloaded. */
void ticker_stop(void);

/* Before a fork: waits, a tenth of a second at most, for a thread that has only just been made. While it starts, the C
 * library (or a sanitizer) may hold locks for it, which in the child nobody would ever release. */
void ticker_settle(void);

/* In the child after a fork: there is no thread any more. Async-signal-safe. */
void ticker_forget(void);

/* Fires when the clock reaches `deadline_ns`: CLOCK_MONOTONIC, or the CPU time of the thread that called
 * ticker_start if `cpu`. `period_ns` is how far the next deadline will be. */
void ticker_set(int64_t deadline_ns, int64_t period_ns, bool cpu);

/* No more ticks. Costs no system call. */
void ticker_clear(void);

/* Whether it has fired since the last call. */
bool ticker_take(void);

/* The time of the clock that the ticker goes by, in nanoseconds. */
int64_t ticker_now(bool cpu);

#endif

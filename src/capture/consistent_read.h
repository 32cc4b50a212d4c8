/* consistent_read.h: reads memory of a thread while it does not run, without stopping it.
 *
 * A stack read from another CPU while its thread runs may be torn: half of it is from one moment, half from a later
 * one. A debugger would stop the thread; that requires signals and privileges, and leaves it stopped if the debugger
 * dies. Instead the reader moves to the CPU on which the thread runs. While the reader runs there, the thread waits
 * for its turn, as it would for any other program, so its memory does not change. The scheduler's accounting proves
 * it: if no CPU has started to run the thread between two observations, and it is still assigned to the reader's own
 * CPU, it has not run. The memory of a sleeping thread does not change either, which is proved the same way.
 *
 * A reader that may not choose its CPU reads several times, and all readings must be equal. That detects almost all
 * torn stacks, but not all.
 */
#ifndef CAPTURE_CONSISTENT_READ_H
#define CAPTURE_CONSISTENT_READ_H

#include "thread_watch.h"

enum consistent_read {
	CONSISTENT_READ_OK,		/* the data are from one moment */
	CONSISTENT_READ_ASLEEP,		/* not read: the thread is asleep, and only running threads are wanted */
	CONSISTENT_READ_TORN,		/* the thread ran during each attempt */
	CONSISTENT_READ_ENDED,
};

#define CONSISTENT_READ_ATTEMPTS	8u

/* Calls `read`, repeatedly if the thread ran in the meantime. `read` returns a fingerprint of the data, which is
 * compared if the CPU cannot be chosen. `snapshot` is the thread's current state, and is updated to its state at the
 * time of the reading; failed attempts are added to `ret_torn`. Afterwards the caller is bound to a CPU; see
 * consistent_read_end. */
enum consistent_read consistent_read(const struct thread_watch *w, bool only_running, uint64_t (*read)(void *data), void *data,
				struct thread_snapshot *snapshot, uint64_t *ret_torn);

/* Tells whether this thread could move to each CPU so far. */
bool consistent_read_is_proven(void);

/* Releases this thread from its CPU, as before the first reading. */
void consistent_read_end(void);

#endif

/* consistent_read.h: reads memory of a thread while it does not run, without stopping it.
 *
 * A stack that is read from another CPU while its thread runs may be torn: half of it is of one moment, half of a later
 * one. A debugger stops the thread; that takes signals and rights, and leaves it stopped if the debugger dies. Instead the
 * reader moves to the CPU on which the thread runs. While the reader runs there, the thread waits for its turn, as it does
 * for any other program, so its memory does not change. The scheduler's account is the proof: if no CPU has begun to run the
 * thread between two observations, and it still belongs to the reader's own CPU, it has not run. The memory of a sleeping
 * thread does not change either, which is proved in the same way.
 *
 * A reader that may not choose its CPU reads several times, and all readings must be the same. That finds almost all
 * torn stacks, not all of them.
 */
#ifndef CAPTURE_CONSISTENT_READ_H
#define CAPTURE_CONSISTENT_READ_H

#include "thread_watch.h"

enum consistent_read {
	CONSISTENT_READ_OK,		/* the data are of one moment */
	CONSISTENT_READ_ASLEEP,		/* not read: it sleeps by now, and only running threads are wanted */
	CONSISTENT_READ_TORN,		/* it ran meanwhile, at each attempt */
	CONSISTENT_READ_ENDED,
};

#define CONSISTENT_READ_ATTEMPTS	8u

/* Calls `read`, again if the thread ran meanwhile. `read` returns a number made of what it read, which is compared where the
 * CPU cannot be chosen. `snapshot` is how the thread was found just now, and becomes how it was found when it was read; `ret_torn`
 * grows by the attempts that failed. Afterwards the caller is bound to a CPU; see consistent_read_end. */
enum consistent_read consistent_read(const struct thread_watch *w, bool only_running, uint64_t (*read)(void *data), void *data,
				struct thread_snapshot *snapshot, uint64_t *ret_torn);

/* Whether this thread could move to each CPU so far. */
bool consistent_read_is_proven(void);

/* Binds this thread to no CPU, as before the first reading. */
void consistent_read_end(void);

#endif

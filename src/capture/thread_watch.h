/* thread_watch.h: the kernel's data about a thread: whether it runs, where, and how long it has run and waited.
 *
 * Two small files of /proc are kept open for each thread, since opening them takes longer than reading them.
 * Everybody may read them, even those of other users' processes.
 */
#ifndef CAPTURE_THREAD_WATCH_H
#define CAPTURE_THREAD_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct thread_watch {
	pid_t pid, tid;
	int stat, schedstat;		/* -1: not open */
};

struct thread_snapshot {
	char state;			/* R runs or waits for a CPU, S and D sleep, T and t are stopped, Z and X have ended */
	int cpu;			/* the CPU on which it runs, waits, or last ran */
	uint64_t runs;			/* how often a CPU started to run it; unchanged if it has not run since */
	uint64_t cpu_ns, delay_ns;	/* on CPU, and waiting for one, since the thread started */
	bool exact;			/* scheduler's accounting; otherwise cpu_ns has steps of 10 ms, delay_ns is 0 */
};

/* Returns 0 or -errno; -ESRCH if the thread does not exist. */
int thread_watch_open(struct thread_watch *w, pid_t pid, pid_t tid);
void thread_watch_close(struct thread_watch *w);

/* Reads everything; returns false once the thread has ended. While it runs, the times are those of the scheduler's
 * last tick. */
bool thread_watch_read(const struct thread_watch *w, struct thread_snapshot *ret);

/* Reads only the times: half the cost. State and cpu of `ret` stay unchanged. */
bool thread_watch_account(const struct thread_watch *w, struct thread_snapshot *ret);

/* Tells whether a thread in this state neither runs nor waits for a CPU. */
bool thread_state_is_asleep(char state);

#endif

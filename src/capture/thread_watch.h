/* thread_watch.h: the kernel's data about a thread: whether it runs, where, and how long it has run and waited.
 *
 * Two small files of /proc are kept open for each thread, since opening them costs more than reading them. Everybody may
 * read them, also of other users' processes.
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
	int cpu;			/* on which it runs, waits, or ran last */
	uint64_t runs;			/* number of times that a CPU began to run it; unchanged if it has not run meanwhile */
	uint64_t cpu_ns, delay_ns;	/* on CPU, and waiting for one, since the thread began */
	bool exact;			/* by the scheduler's account; otherwise cpu_ns has steps of 10 ms and delay_ns is 0 */
};

/* Returns 0 or -errno; -ESRCH if there is no such thread. */
int thread_watch_open(struct thread_watch *w, pid_t pid, pid_t tid);
void thread_watch_close(struct thread_watch *w);

/* Reads all of it; false once the thread has ended. While it runs, the times are those of the scheduler's last tick. */
bool thread_watch_read(const struct thread_watch *w, struct thread_snapshot *ret);

/* Only the times, without state and cpu: half the cost. State and cpu of `ret` stay unchanged. */
bool thread_watch_account(const struct thread_watch *w, struct thread_snapshot *ret);

/* Whether a thread in this state does not run and waits for no CPU. */
bool thread_state_is_asleep(char state);

#endif

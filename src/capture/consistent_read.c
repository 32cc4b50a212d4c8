/* consistent_read.c: moves to the thread's CPU with sched_setaffinity, and verifies that the thread did not run in
 * the meantime. */

#include "consistent_read.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READINGS	4u		/* readings that must be equal if there is no proof */
#define SLICE_NS	100000u

static struct {
	bool begun, refused;
	int cpu;			/* -1: not bound */
	cpu_set_t before;
} self = { .cpu = -1 };

/* With a short slice, a thread that wakes up runs at once rather than after the current thread's slice (Linux 6.12;
 * older kernels ignore it, and prefer threads that have slept). Only the turn is short, not the wait for the next one. */
static void ask_for_short_slices(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} a = { .size = sizeof(a), .policy = SCHED_OTHER, .nice = getpriority(PRIO_PROCESS, 0), .runtime = SLICE_NS };

	if (sched_getscheduler(0) == SCHED_OTHER)
		syscall(SYS_sched_setattr, 0, &a, 0);
}

static bool pin_to(int cpu)
{
	cpu_set_t one;

	if (!self.begun) {
		self.begun = true;
		sched_getaffinity(0, sizeof(self.before), &self.before);
		ask_for_short_slices();
	}
	if (cpu == self.cpu)
		return true;
	CPU_ZERO(&one);
	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return false;
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0) {
		self.refused = true;
		return false;
	}
	self.cpu = cpu;
	return true;
}

bool consistent_read_is_proven(void)
{
	return !self.refused;
}

void consistent_read_end(void)
{
	if (self.cpu >= 0)
		sched_setaffinity(0, sizeof(self.before), &self.before);
	self.cpu = -1;
	self.begun = self.refused = false;
}

/* Tells whether the thread did not run between the two snapshots. */
static bool has_not_run(const struct thread_snapshot *before, const struct thread_snapshot *after)
{
	if (after->runs != before->runs)
		return false;
	return thread_state_is_asleep(before->state) || (before->cpu == self.cpu && after->cpu == self.cpu);
}

static bool reads_the_same(uint64_t (*read)(void *data), void *data)
{
	uint64_t first = read(data);

	for (unsigned i = 1; i < READINGS; i++)
		if (read(data) != first)
			return false;
	return true;
}

/* Makes one attempt, if the thread may be read now. */
static enum consistent_read attempt(const struct thread_watch *w, bool only_running, uint64_t (*read)(void *data), void *data,
			       struct thread_snapshot *snapshot)
{
	struct thread_snapshot after;
	bool here = true;

	if (!thread_state_is_asleep(snapshot->state) && snapshot->cpu != self.cpu) {
		here = pin_to(snapshot->cpu);
		if (here && !thread_watch_read(w, snapshot))
			return CONSISTENT_READ_ENDED;
	}
	if (thread_state_is_asleep(snapshot->state) && only_running)
		return CONSISTENT_READ_ASLEEP;
	if (!here)
		return reads_the_same(read, data) ? CONSISTENT_READ_OK : CONSISTENT_READ_TORN;
	read(data);
	after = *snapshot;
	if (!thread_watch_read(w, &after))
		return CONSISTENT_READ_ENDED;
	return has_not_run(snapshot, &after) ? CONSISTENT_READ_OK : CONSISTENT_READ_TORN;
}

enum consistent_read consistent_read(const struct thread_watch *w, bool only_running, uint64_t (*read)(void *data), void *data,
				struct thread_snapshot *snapshot, uint64_t *ret_torn)
{
	enum consistent_read result = attempt(w, only_running, read, data, snapshot);

	for (unsigned i = 1; i < CONSISTENT_READ_ATTEMPTS && result == CONSISTENT_READ_TORN; i++) {
		++*ret_torn;
		if (!thread_watch_read(w, snapshot))
			return CONSISTENT_READ_ENDED;
		result = attempt(w, only_running, read, data, snapshot);
	}
	*ret_torn += result == CONSISTENT_READ_TORN;
	return result;
}

/* test_consistent_read.c: tests that reads of a thread that never sleeps are consistent. */

#include "consistent_read.h"
#include "remote_memory.h"
#include "test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define READINGS	300u

/* The child keeps these equal except for a moment, millions of times a second. */
static struct {
	volatile u64 first, second;
} *pair;

static pid_t start(void (*run)(void))
{
	pid_t pid;

	if (!pair)
		pair = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pair->first = pair->second = 0;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
		_exit(0);
	}
	while (!pair->first)
		sched_yield();
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void change(void)
{
	for (;;) {
		pair->first++;
		pair->second++;
	}
}

static void sleep_long(void)
{
	pair->first++;
	sleep(1000);
}

struct reading {
	u64 first, second;
};

/* Pauses between the two reads; a running thread changes them thousands of times in between. */
static uint64_t read_both(void *data)
{
	struct reading *r = data;

	r->first = pair->first;
	for (volatile int i = 0; i < 300000; i++)
		;
	r->second = pair->second;
	return r->first ^ r->second;
}

TEST(a_running_thread_does_not_advance_while_it_is_read)
{
	pid_t pid = start(change);
	struct thread_watch w;
	unsigned n = 0;

	CHECK_INT(thread_watch_open(&w, pid, pid), 0);
	for (unsigned i = 0; i < READINGS; i++) {
		struct thread_snapshot snapshot;
		struct reading r;
		uint64_t torn = 0;

		CHECK(thread_watch_read(&w, &snapshot));
		if (consistent_read(&w, true, read_both, &r, &snapshot, &torn) != CONSISTENT_READ_OK)
			continue;
		n++;
		CHECK(r.first - r.second <= 1);
	}
	CHECK(n > READINGS / 2);
	CHECK(consistent_read_is_proven());
	consistent_read_end();
	thread_watch_close(&w);
	end(pid);
}

/* As in containers whose CPUs are assigned by others. */
static bool forbid_choosing_a_cpu(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { 4, code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static unsigned readings;

static uint64_t read_changing(void *data)
{
	return readings++;
}

static uint64_t read_constant(void *data)
{
	readings++;
	return 1;
}

/* Returns 0 if all readings are correct. */
static int compare_readings(pid_t pid)
{
	struct thread_watch w;
	struct thread_snapshot snapshot;
	uint64_t torn = 0;

	if (thread_watch_open(&w, pid, pid) < 0 || !thread_watch_read(&w, &snapshot))
		return 1;
	if (consistent_read(&w, true, read_changing, NULL, &snapshot, &torn) != CONSISTENT_READ_TORN || torn != CONSISTENT_READ_ATTEMPTS)
		return 2;
	readings = 0;
	if (consistent_read(&w, true, read_constant, NULL, &snapshot, &torn) != CONSISTENT_READ_OK || readings != 4)
		return 3;
	return consistent_read_is_proven() ? 4 : 0;
}

TEST(repeated_reads_are_compared_if_cpu_affinity_is_unavailable)
{
	pid_t pid = start(change), reader = fork();
	int status;

	if (!reader)
		_exit(forbid_choosing_a_cpu() ? compare_readings(pid) : 77);
	waitpid(reader, &status, 0);
	end(pid);
	if (WEXITSTATUS(status) == 77)
		SKIP("system calls cannot be filtered here");
	CHECK_INT(WEXITSTATUS(status), 0);
}

TEST(a_sleeping_thread_is_read_only_on_request)
{
	pid_t pid = start(sleep_long);
	struct thread_watch w;
	struct thread_snapshot snapshot;
	struct reading r;
	uint64_t torn = 0;

	CHECK_INT(thread_watch_open(&w, pid, pid), 0);
	do {
		CHECK(thread_watch_read(&w, &snapshot));
	} while (snapshot.state != 'S');
	CHECK_INT(consistent_read(&w, true, read_both, &r, &snapshot, &torn), CONSISTENT_READ_ASLEEP);
	CHECK_INT(consistent_read(&w, false, read_both, &r, &snapshot, &torn), CONSISTENT_READ_OK);
	CHECK_INT(torn, 0);
	end(pid);
	CHECK(!thread_watch_read(&w, &snapshot));
	thread_watch_close(&w);
}

TEST(the_reader_restores_its_cpu_affinity)
{
	pid_t pid = start(change);
	cpu_set_t before, after;
	struct thread_watch w;
	struct thread_snapshot snapshot;
	struct reading r;
	uint64_t torn = 0;

	sched_getaffinity(0, sizeof(before), &before);
	CHECK_INT(thread_watch_open(&w, pid, pid), 0);
	CHECK(thread_watch_read(&w, &snapshot));
	consistent_read(&w, true, read_both, &r, &snapshot, &torn);
	sched_getaffinity(0, sizeof(after), &after);
	CHECK_INT(CPU_COUNT(&after), 1);
	consistent_read_end();
	sched_getaffinity(0, sizeof(after), &after);
	CHECK(CPU_EQUAL(&before, &after));
	thread_watch_close(&w);
	end(pid);
}

TEST(a_name_with_blanks_and_parentheses_hides_no_field)
{
	pid_t pid = start(sleep_long);
	struct thread_watch w;
	struct thread_snapshot snapshot;

	end(pid);
	prctl(PR_SET_NAME, "a) Z 1 (b");
	CHECK_INT(thread_watch_open(&w, getpid(), getpid()), 0);
	CHECK(thread_watch_read(&w, &snapshot));
	CHECK_INT(snapshot.state, 'R');
	CHECK(snapshot.cpu >= 0 && snapshot.cpu < CPU_SETSIZE);
	CHECK(snapshot.runs > 0);
	thread_watch_close(&w);
	CHECK_INT(thread_watch_open(&w, getpid(), 1 << 30), -ESRCH);
}

TEST_MAIN()

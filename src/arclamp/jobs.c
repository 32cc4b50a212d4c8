/* jobs.c: forks jobs, and collects their results in shared memory. */

#include "jobs.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Lives in shared memory; a job writes only its result. */
struct slot {
	pid_t pid;		/* 0: free */
	size_t number;
	struct job_result result;
};

/* Skipped with ASan, which reserves terabytes of address space. */
static void limit_memory(uint64_t bytes)
{
#if !defined(__SANITIZE_ADDRESS__)
	struct rlimit limit = { bytes, bytes };

	if (bytes)
		setrlimit(RLIMIT_DATA, &limit);
#endif
}

static void __attribute__((noreturn)) work(const struct jobs *j, struct slot *s, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (j->nice && nice(j->nice) < 0)
		errno = 0;
	limit_memory(j->memory_bytes);
	s->result.code = 0;
	j->work(j->data, s->number, &s->result);
	_exit(0);
}

static int start(const struct jobs *j, struct slot *s, size_t number, struct err *err)
{
	pid_t parent = getpid(), pid;

	*s = (struct slot){ .number = number, .result.code = -ECHILD };
	if (j->started)
		j->started(j->data, number);
	pid = fork();
	if (pid < 0)
		return err_set(err, -errno, "cannot start a process: %s", strerror(errno));
	if (pid == 0)
		work(j, s, parent);
	s->pid = pid;
	return 0;
}

static void end(const struct jobs *j, struct slot *s, int status)
{
	if (WIFSIGNALED(status)) {
		s->result.code = -ECHILD;
		snprintf(s->result.text, sizeof(s->result.text), "the process was ended by signal %d%s",
			 WTERMSIG(status), WTERMSIG(status) == SIGKILL ? ", perhaps because it ran out of memory" : "");
	} else if (WEXITSTATUS(status)) {
		s->result.code = -ECHILD;
		snprintf(s->result.text, sizeof(s->result.text), "the process exited with %d; allow more than %llu MB "
								 "with --memory",
			 WEXITSTATUS(status), (unsigned long long)(j->memory_bytes >> 20));
	}
	s->pid = 0;
	j->ended(j->data, s->number, &s->result);
}

/* Waits until a job ends. */
static void wait_one(const struct jobs *j, struct slot *slots)
{
	int status;
	pid_t pid;

	do
		pid = waitpid(-1, &status, 0);
	while (pid < 0 && errno == EINTR);
	for (unsigned i = 0; i < j->at_once; i++)
		if (slots[i].pid && (slots[i].pid == pid || pid < 0))
			end(j, &slots[i], pid < 0 ? 0 : status);
}

static struct slot *free_slot(const struct jobs *j, struct slot *slots)
{
	for (unsigned i = 0; i < j->at_once; i++)
		if (!slots[i].pid)
			return &slots[i];
	return NULL;
}

static unsigned running(const struct jobs *j, const struct slot *slots)
{
	unsigned n = 0;

	for (unsigned i = 0; i < j->at_once; i++)
		n += slots[i].pid != 0;
	return n;
}

int jobs_run(const struct jobs *j, size_t count, struct err *err)
{
	size_t size = j->at_once * sizeof(struct slot);
	struct slot *slots = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), *s;
	int r = 0;

	if (slots == MAP_FAILED)
		return err_set(err, -errno, "cannot share memory: %s", strerror(errno));
	for (size_t i = 0; i < count && r == 0; i++) {
		while (!(s = free_slot(j, slots)))
			wait_one(j, slots);
		r = start(j, s, i, err);
	}
	while (running(j, slots))
		wait_one(j, slots);
	munmap(slots, size);
	return r;
}

/* upload_read.c: fork, limits, a file in memory for what was read, and a pipe whose end is the child's. */
#include "upload_read.h"

#include "clock.h"
#include "confine.h"
#include "format.h"
#include "io.h"
#include "wire_profile.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PROFILE_MAX	((size_t)256 << 20)	/* bytes of a body, once decompressed */
#define RESULT_MAX	((size_t)512 << 20)	/* bytes of the messages that it becomes */

/* What the child writes first; messages follow. */
struct reply {
	int code;
	struct err err;
};

/* --- The child --- */

static void confine(pid_t parent, size_t memory)
{
	confine_die_with(parent);
	confine_give_way();
	confine_limit(RLIMIT_CORE, 0);
	confine_cpu(UPLOAD_SECONDS);
	confine_limit(RLIMIT_FSIZE, RESULT_MAX);
	confine_memory(memory);
}

static void __attribute__((noreturn)) work(const char *body, size_t n, int result)
{
	struct profile *p = profile_new();
	struct reply reply = { 0 };
	struct buf messages;

	buf_init(&messages);
	reply.code = format_load_limited("the body", body, n, PROFILE_MAX, p, &reply.err);
	if (reply.code > 0)		/* half a profile would pass for a whole one later */
		reply.code = -EINVAL;
	if (reply.code >= 0 && !profile_has_samples(p))
		reply.code = err_set(&reply.err, -EINVAL, "the profile holds no values: %u stacks, none with anything "
				     "in it", profile_stacks(p));
	if (reply.code >= 0)
		reply.code = wire_profile_write(p, &messages, &reply.err);
	if (reply.code >= 0 && messages.overflow)
		reply.code = err_set(&reply.err, -EFBIG, "the profile is too large to be stored as a run");
	if (io_write_all(result, &reply, sizeof(reply), NULL) < 0 ||
	    (reply.code >= 0 && io_write_all(result, messages.data, messages.size, NULL) < 0))
		_exit(1);
	_exit(0);
}

/* --- The parent --- */

static int say_time(struct err *err)
{
	return err_set(err, -ETIMEDOUT, "reading the profile takes more than %d seconds, which is the limit; make it "
		       "smaller, or use 'strobe import' on the daemon's machine", UPLOAD_SECONDS);
}

static int say_memory(size_t memory, struct err *err)
{
	return err_set(err, -ENOMEM, "reading the profile takes more than %zu MB of memory, which is the limit; make it "
		       "smaller, or use 'strobe import' on the daemon's machine", memory >> 20);
}

/* Until the child has closed its end. */
static int wait_for_end(int child, int stop_fd, struct err *err)
{
	int64_t end_ns = clock_monotonic_ns() + UPLOAD_SECONDS * NS_PER_SECOND;

	for (;;) {
		int64_t left = end_ns - clock_monotonic_ns();
		struct pollfd p[] = { { .fd = child, .events = POLLIN }, { .fd = stop_fd, .events = POLLIN } };

		if (left <= 0)
			return say_time(err);
		if (poll(p, 2, (int)(left / 1000000) + 1) <= 0)
			continue;
		if (p[0].revents)
			return 0;
		if (p[1].revents)
			return err_set(err, -ECANCELED, "the daemon ends before the profile was read; send it again");
	}
}

static int say_how_it_ended(int status, size_t memory, struct err *err)
{
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU))
		return say_time(err);
	/* Memory ends with 2 (base/mem.h), and where the machine has none left with SIGKILL; that of a library may end
	 * otherwise. */
	if ((WIFEXITED(status) && WEXITSTATUS(status) == 2) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
		return say_memory(memory, err);
	if (WIFSIGNALED(status))
		return err_set(err, -EINVAL, "the process that reads the profile crashed (%s), which is a bug of "
			       "strobe", strsignal(WTERMSIG(status)));
	return err_set(err, -EIO, "the process that reads the profile ended with %d", WEXITSTATUS(status));
}

static int take_result(int result, struct profile *p, struct err *err)
{
	struct stat st;
	struct reply reply;
	const char *all;
	size_t size;
	int r = 0;

	if (fstat(result, &st) < 0 || (size_t)st.st_size < sizeof(reply))
		return err_set(err, -EIO, "the process that reads the profile said nothing");
	size = (size_t)st.st_size;
	all = mmap(NULL, size, PROT_READ, MAP_PRIVATE, result, 0);
	if (all == MAP_FAILED)
		return err_set(err, -EIO, "cannot look at what was read: %s", strerror(errno));
	memcpy(&reply, all, sizeof(reply));
	if (reply.code < 0)
		r = err_set(err, reply.code, "%s", reply.err.text);
	else
		r = format_read_bytes(&format_strobe, p, all + sizeof(reply), size - sizeof(reply), err);
	munmap((void *)all, size);
	return r;
}

int upload_read(const char *body, size_t n, size_t memory, int stop_fd, struct profile *p, struct err *err)
{
	_cleanup_(fd_closep) int result = -1, ours = -1, theirs = -1;
	pid_t parent = getpid(), pid;
	int ends[2], status = 0, r;

	result = memfd_create("profile", MFD_CLOEXEC);
	if (result < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return err_set(err, -EIO, "cannot prepare a process that reads the profile: %s", strerror(errno));
	ours = ends[0];
	theirs = ends[1];
	pid = fork();
	if (pid == 0) {
		/* Both ends that the child keeps are its own; the pipe closes when it ends, whatever it ends of. */
		confine_be_quiet();
		dup2(theirs, STDIN_FILENO);
		confine_close_others(result, result);
		confine(parent, memory);
		work(body, n, result);
	}
	if (pid < 0)
		return err_set(err, -EIO, "cannot start a process that reads the profile: %s", strerror(errno));
	fd_closep(&theirs);
	theirs = -1;
	r = wait_for_end(ours, stop_fd, err);
	if (r < 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r < 0)
		return r;
	return status ? say_how_it_ended(status, memory, err) : take_result(result, p, err);
}

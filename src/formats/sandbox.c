/* sandbox.c: forks, sets limits, uses a file in memory, and a pipe that closes when the child ends. */
#include "sandbox.h"

#include "clock.h"
#include "confine.h"
#include "format.h"
#include "io.h"
#include "mem.h"
#include "wire_profile.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PROFILE_MAX	((size_t)256 << 20)	/* limit of a profile, decompressed */

/* The child's first write; messages follow. */
struct reply {
	int code;
	struct err err;
};

/* --- The child --- */

static void confine(pid_t parent, size_t memory)
{
	confine_die_with(parent);
	confine_prefer_oom_kill();
	confine_limit(RLIMIT_CORE, 0);
	confine_cpu(SANDBOX_SECONDS);
	confine_limit(RLIMIT_FSIZE, SANDBOX_MESSAGES_MAX);
	confine_memory(memory);
}

/* The file may have grown since its size was checked. */
static int read_file(struct sandbox_input *in, struct err *err)
{
	char *bytes = xmalloc(SANDBOX_FILE_MAX + 1);

	for (in->n = 0; in->n <= SANDBOX_FILE_MAX;) {
		ssize_t n = read(in->fd, bytes + in->n, SANDBOX_FILE_MAX + 1 - in->n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, -EIO, "cannot read %s: %s", in->name, strerror(errno));
		if (n == 0)
			break;
		in->n += (size_t)n;
	}
	in->bytes = bytes;
	return in->n <= SANDBOX_FILE_MAX ? 0 :
					   err_set(err, -EFBIG, "%s is above %zu MB", in->name, SANDBOX_FILE_MAX >> 20);
}

static int read_profile(struct sandbox_input *in, struct buf *messages, struct err *err)
{
	struct profile *p = profile_new();
	int code = in->fd >= 0 ? read_file(in, err) : 0;

	profile_keep_chart(p, true);
	profile_keep_lines(p, true);
	if (code >= 0)
		code = format_load_limited(in->name, in->bytes, in->n, PROFILE_MAX, p, err);
	if (code > 0)		/* an incomplete profile would later be mistaken for a complete one */
		code = -EINVAL;
	if (code >= 0 && !profile_has_samples(p))
		code = err_set(err, -EINVAL, "the profile has no values: all of its %u stacks are empty",
			       profile_stacks(p));
	if (code >= 0)
		code = in->write ? in->write(in->data, p, messages, err) : wire_profile_write(p, messages, err);
	if (code >= 0 && messages->overflow)
		code = err_set(err, -EFBIG, "the profile is too large to be stored as a run");
	return code;
}

static void __attribute__((noreturn)) work(struct sandbox_input *in, int result)
{
	struct reply reply = { 0 };
	struct buf messages;

	buf_init(&messages);
	reply.code = read_profile(in, &messages, &reply.err);
	if (io_write_all(result, &reply, sizeof(reply), NULL) < 0 ||
	    (reply.code >= 0 && io_write_all(result, messages.data, messages.size, NULL) < 0))
		_exit(1);
	_exit(0);
}

/* --- The parent --- */

int sandbox_start(struct sandbox *a, const struct sandbox_input *in, struct err *err)
{
	_cleanup_(fd_closep) int result = -1, ours = -1, theirs = -1;
	pid_t parent = getpid();
	int ends[2];

	result = memfd_create("profile", MFD_CLOEXEC);
	if (result < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return err_set(err, -EIO, "cannot prepare a process that reads the profile: %s", strerror(errno));
	ours = ends[0];
	theirs = ends[1];
	a->pid = fork();
	if (a->pid == 0) {
		struct sandbox_input own = *in;
		int keep = own.fd >= 0 ? own.fd : result;

		/* The child has the only copies of these ends, so the pipe closes when it ends, for any reason. */
		confine_be_quiet();
		dup2(theirs, STDIN_FILENO);
		confine_close_others(result, keep);
		confine(parent, in->memory);
		work(&own, result);
	}
	if (a->pid < 0)
		return err_set(err, -EIO, "cannot start a process that reads the profile: %s", strerror(errno));
	a->done = TAKE_FD(ours);
	a->result = TAKE_FD(result);
	a->memory = in->memory;
	a->end_ns = clock_monotonic_ns() + SANDBOX_SECONDS * NS_PER_SECOND;
	return 0;
}

static int err_time(struct err *err)
{
	return err_set(err, -ETIMEDOUT, "reading the profile exceeds the limit of %d seconds; make it "
					"smaller, or use 'strobe import' on the daemon's machine",
		       SANDBOX_SECONDS);
}

static int err_memory(size_t memory, struct err *err)
{
	return err_set(err, -ENOMEM, "reading the profile exceeds the limit of %zu MB of memory; make it "
		       "smaller, or use 'strobe import' on the daemon's machine", memory >> 20);
}

static int err_ended(const struct sandbox *a, int status, bool late, struct err *err)
{
	if (late || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
		return err_time(err);
	/* When memory runs out, the child exits with 2 (base/mem.h), or is killed by SIGKILL if the machine has none
	 * left; libraries may fail in other ways. */
	if ((WIFEXITED(status) && WEXITSTATUS(status) == 2) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
		return err_memory(a->memory, err);
	if (WIFSIGNALED(status))
		return err_set(err, -EINVAL, "the process that reads the profile crashed (%s), which "
					     "is a bug in strobe", strsignal(WTERMSIG(status)));
	return err_set(err, -EIO, "the process that reads the profile exited with status %d", WEXITSTATUS(status));
}

static int take_result(int result, const char **ret, size_t *ret_size, struct err *err)
{
	struct stat st;
	struct reply *reply;
	char *all;
	int code;

	if (fstat(result, &st) < 0 || (size_t)st.st_size < sizeof(*reply))
		return err_set(err, -EIO, "the process that reads the profile returned nothing");
	all = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, result, 0);
	if (all == MAP_FAILED)
		return err_set(err, -EIO, "cannot stat the result: %s", strerror(errno));
	reply = (struct reply *)all;
	code = reply->code < 0 ? err_set(err, reply->code, "%s", reply->err.text) : 0;
	*ret = all + sizeof(*reply);
	*ret_size = (size_t)st.st_size - sizeof(*reply);
	if (code < 0) {
		sandbox_free_messages(*ret, *ret_size);
		*ret = NULL;
	}
	return code;
}

void sandbox_free_messages(const char *messages, size_t size)
{
	if (messages)
		munmap((char *)messages - sizeof(struct reply), size + sizeof(struct reply));
}

int sandbox_end(struct sandbox *a, const char **ret, size_t *ret_size, struct err *err)
{
	bool late = clock_monotonic_ns() >= a->end_ns;
	int status = 0, r;

	*ret = NULL;
	*ret_size = 0;
	kill(a->pid, SIGKILL);		/* harmless if it has ended, since nobody has waited for it */
	while (waitpid(a->pid, &status, 0) < 0 && errno == EINTR)
		;
	r = status ? err_ended(a, status, late, err) : take_result(a->result, ret, ret_size, err);
	close(a->done);
	close(a->result);
	return r;
}

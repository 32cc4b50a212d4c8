/* bounded.c: fork, a pipe and a deadline. */
#include "bounded.h"

#include "clock.h"
#include "io.h"
#include "mem.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define FIELDS		5
#define RECORDS_MAX	((size_t)4 << 20)	/* bytes of all findings */
#define WAIT_NS		(200 * 1000000LL)	/* to reap a child that was killed */

/* --- records */

/* Splits `count` NUL-terminated texts off; false if they are incomplete. */
static bool take_texts(const char **p, const char *end, const char **texts, size_t count)
{
	const char *at = *p;

	for (size_t i = 0; i < count; i++) {
		const char *stop = memchr(at, '\0', (size_t)(end - at));

		if (!stop)
			return false;
		texts[i] = at;
		at = stop + 1;
	}
	*p = at;
	return true;
}

/* Removes complete records from the front of `in`, and stores the last subject in `*subject`. */
static void take_records(struct findings *f, struct buf *in, char **subject)
{
	const char *p = in->data, *end = p + in->size, *texts[FIELDS];

	while (p < end) {
		const char *body = p + 1;
		bool is_place = *p == 'L';

		if (!take_texts(&body, end, texts, is_place ? 1 : FIELDS))
			break;
		if (is_place) {
			free(*subject);
			*subject = xstrdup(texts[0]);
		} else {
			findings_add(f, (enum level)(*p - '0'), texts[0], texts[1], texts[2], texts[4], "%s", texts[3]);
		}
		p = body;
	}
	memmove(in->data, p, (size_t)(end - p));
	in->size = (size_t)(end - p);
}

/* --- the child */

static void become(int fd, void (*check)(struct findings *f, const void *data), const void *data)
{
	struct findings own;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	findings_init(&own);
	own.fd = fd;
	check(&own, data);
	findings_done(&own);
	_exit(0);
}

/* Reads until the child closes the pipe, or -ETIMEDOUT. */
static int read_findings(struct findings *f, int fd, int64_t until, char **subject)
{
	_cleanup_(buf_done) struct buf in = { 0 };

	buf_init(&in);
	for (;;) {
		int r = io_wait_readable(fd, until);
		char *room;
		ssize_t n;

		if (r < 0)
			return r;
		if (in.size > RECORDS_MAX)
			return -E2BIG;
		room = buf_reserve(&in, 4096);
		n = read(fd, room, 4096);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		buf_wrote(&in, (size_t)n);
		take_records(f, &in, subject);
	}
}

/* Gives up on a child that hangs in the kernel, which cannot be killed. */
static int wait_a_moment(pid_t pid)
{
	int64_t until = clock_monotonic_ns() + WAIT_NS;
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0 && clock_monotonic_ns() < until)
		poll(NULL, 0, 5);
	return status;
}

static void wait_for_end(struct findings *f, const char *area, pid_t pid, const char *subject)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		findings_add(f, LEVEL_WARNING, area, "killed", subject ? subject : area, "run it outside of this container",
			     "the check was killed by a system call filter (seccomp)");
	else if (WIFSIGNALED(status) || WEXITSTATUS(status))
		findings_add(f, LEVEL_WARNING, area, "killed", subject ? subject : area, NULL,
			     "the check ended with %s %d", WIFSIGNALED(status) ? "signal" : "status",
			     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

void bounded_check(struct findings *f, const char *area, int64_t timeout_ns, void (*check)(struct findings *f, const void *data),
		  const void *data)
{
	_cleanup_(fd_closep) int reader = -1, writer = -1;
	_cleanup_(freep) char *subject = NULL;
	int fds[2];
	pid_t pid;

	fflush(NULL);
	if (pipe2(fds, O_CLOEXEC) < 0 || (reader = fds[0], writer = fds[1], pid = fork()) < 0) {
		findings_add(f, LEVEL_WARNING, area, "fork", area, NULL, "cannot be checked: %s", strerror(errno));
		return;
	}
	if (pid == 0)
		become(writer, check, data);
	close(TAKE_FD(writer));
	if (read_findings(f, reader, clock_monotonic_ns() + timeout_ns, &subject) == 0) {
		wait_for_end(f, area, pid, subject);
		return;
	}
	kill(pid, SIGKILL);
	wait_a_moment(pid);
	findings_add(f, LEVEL_WARNING, area, "timeout", subject ? subject : area, "check that its file system still responds",
		     "did not answer within %d seconds; the rest of this part was not checked", (int)(timeout_ns / NS_PER_SECOND));
}

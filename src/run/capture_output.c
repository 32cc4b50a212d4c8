/* capture_output.c: runs a program with fork, execve, a pipe and a deadline. */

#include "capture_output.h"

#include "io.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#define OUTPUT_MAX	(1024 * 1024)

static void become(const char *const *argv, int out)
{
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execv(argv[0], (char *const *)argv);
	_exit(127);
}

/* Reads until the end, or the deadline. */
static int read_all(int fd, int64_t until, struct buf *out)
{
	char chunk[4096];

	for (;;) {
		int r = io_wait_readable(fd, until);
		ssize_t n;

		if (r < 0)
			return r;
		n = read(fd, chunk, sizeof(chunk));
		if (n <= 0)
			return n < 0 ? -errno : 0;
		if (out->size < OUTPUT_MAX)
			buf_put(out, chunk, (size_t)n);
	}
}

int capture_output(const char *const *argv, int64_t timeout_ns, struct buf *out, struct err *err)
{
	_cleanup_(fd_closep) int reader = -1, writer = -1;
	int fds[2], status = 0, r;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(err, -errno, "cannot create a pipe: %s", strerror(errno));
	reader = fds[0];
	writer = fds[1];
	pid = fork();
	if (pid < 0)
		return err_set(err, -errno, "cannot start '%s': %s", argv[0], strerror(errno));
	if (pid == 0)
		become(argv, writer);
	close(TAKE_FD(writer));

	r = read_all(reader, clock_monotonic_ns() + timeout_ns, out);
	if (r < 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r == -ETIMEDOUT)
		return err_set(err, r, "'%s' did not answer within %d seconds", argv[0],
			       (int)(timeout_ns / NS_PER_SECOND));
	if (r < 0)
		return err_set(err, r, "cannot read what '%s' prints: %s", argv[0], strerror(-r));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

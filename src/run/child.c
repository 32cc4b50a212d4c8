/* child.c: fork, exec, signals, wait. */

#include "child.h"

#include <assert.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT };

static int exit_code(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void reap(struct child *c)
{
	int status;

	if (c->over || c->pid <= 0 || wait4(c->pid, &status, WNOHANG, &c->usage) != c->pid)
		return;
	c->over = true;
	c->exit_code = exit_code(status);
	c->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	c->ended(c);
}

/* The kernel itself sends the terminal's signals, to the whole foreground group. */
static void forward(const struct child *c, const struct signalfd_siginfo *i)
{
	if (!c->over && c->pid > 0 && i->ssi_code != SI_KERNEL)
		kill(c->pid, (int)i->ssi_signo);
}

static void on_signals(struct watch *w, uint32_t events)
{
	struct child *c = (struct child *)((char *)w - offsetof(struct child, signals));
	struct signalfd_siginfo i;

	while (read(w->fd, &i, sizeof(i)) == sizeof(i)) {
		if (i.ssi_signo == SIGCHLD)
			reap(c);
		else
			forward(c, &i);
	}
}

int child_init(struct child *c, struct loop *loop, struct err *err)
{
	_cleanup_(fd_closep) int fd = -1;
	sigset_t set;
	int r;

	c->loop = loop;
	c->signals.fd = -1;
	c->signals.ready = on_signals;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(forwarded); i++)
		sigaddset(&set, forwarded[i]);
	/* If our parent ignored SIGCHLD, the exit code would be lost. */
	signal(SIGCHLD, SIG_DFL);
	if (sigprocmask(SIG_BLOCK, &set, &c->original) < 0)
		return err_set(err, -errno, "cannot block signals: %s", strerror(errno));
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		return err_set(err, -errno, "cannot receive signals: %s", strerror(errno));
	c->signals.fd = fd;
	r = loop_add(loop, &c->signals, EPOLLIN, err);
	if (r < 0)
		c->signals.fd = -1;
	else
		(void)TAKE_FD(fd);
	return r;
}

static void become(const struct child *c, const char *path, char **argv, const char *scan_dir, int status_fd)
{
	sigprocmask(SIG_SETMASK, &c->original, NULL);
	if (setenv("PHP_INI_SCAN_DIR", scan_dir, 1) == 0)
		execv(path, argv);
	(void)!write(status_fd, &errno, sizeof(errno));
	_exit(127);
}

int child_start(struct child *c, const char *path, char **argv, const char *scan_dir, int *ret_code, struct err *err)
{
	_cleanup_(fd_closep) int reader = -1, writer = -1;
	int fds[2], error = 0;

	assert(c->signals.fd >= 0 && c->ended);
	*ret_code = 125;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(err, -errno, "cannot create a pipe: %s", strerror(errno));
	reader = fds[0];
	writer = fds[1];
	c->pid = fork();
	if (c->pid < 0)
		return err_set(err, -errno, "cannot start '%s': %s", path, strerror(errno));
	if (c->pid == 0)
		become(c, path, argv, scan_dir, writer);
	close(TAKE_FD(writer));

	/* The pipe closes by itself when the new program starts. */
	if (read(reader, &error, sizeof(error)) != sizeof(error))
		return 0;
	waitpid(c->pid, NULL, 0);
	c->pid = 0;
	*ret_code = error == ENOENT ? 127 : 126;
	if (error == ENOEXEC)
		return err_set(err, -error, "cannot execute '%s': it is not a program and has no #! line", path);
	return err_set(err, -error, "cannot execute '%s': %s", path, strerror(error));
}

void child_done(struct child *c)
{
	int fd = c->signals.fd;

	if (fd < 0)
		return;
	loop_remove(c->loop, &c->signals);
	close(fd);
}

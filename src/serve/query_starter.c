/* query_starter.c: one end of a socket in the daemon, the other in a process that forks for each message.
 *
 * A message brings two descriptors: the file for the answer, and an end of a connection of the query's own. The daemon
 * sends the request over it, and the query the response; the starter keeps a copy of this end to report the exit
 * status and to notice when the daemon gives up. */
#include "query_starter.h"

#include "confine.h"
#include "io.h"
#include "log.h"
#include "mem.h"
#include "query_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define CHILDREN_MAX	32u
#define SAY_LIMIT	"the limit of --query-memory; select a shorter range or fewer labels"

struct query_starter {
	int control;
	pid_t pid;
};

/* --- The starter --- */

struct child {
	pid_t pid;
	int channel;
};

struct starter {
	int control;
	const struct query_start *start;
	struct child children[CHILDREN_MAX];
	unsigned count;
};

static void note_signal(int signo)
{
	(void)signo;		/* only interrupts ppoll */
}

static void send_end(int channel, int status)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	query_put_ended(&b, status);
	send(channel, b.data, b.size, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(channel);
}

static void reap(struct starter *s)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		unsigned i = 0;

		while (i < s->count && s->children[i].pid != pid)
			i++;
		if (i == s->count)
			continue;
		send_end(s->children[i].channel, status);
		s->children[i] = s->children[--s->count];
	}
}

/* False when the daemon has closed its end. */
static bool take_message(int control, int fds[2])
{
	union { char bytes[CMSG_SPACE(2 * sizeof(int))]; struct cmsghdr align; } ancillary;
	char byte;
	struct iovec io = { &byte, 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = ancillary.bytes,
			    .msg_controllen = sizeof(ancillary.bytes) };
	ssize_t n = recvmsg(control, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;

	fds[0] = fds[1] = -1;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(2 * sizeof(int)))
		memcpy(fds, CMSG_DATA(c), 2 * sizeof(int));
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void start(struct starter *s, int channel, int body)
{
	pid_t self = getpid(), pid;

	if (s->start->before_fork)
		s->start->before_fork(s->start->data);
	pid = s->count < CHILDREN_MAX ? fork() : -1;
	if (pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		signal(SIGCHLD, SIG_DFL);
		prctl(PR_SET_NAME, "strobe-query");
		confine_be_quiet();
		confine_close_others(channel, body);
		query_child(self, channel, body, s->start);
	}
	close(body);
	if (pid < 0)
		send_end(channel, -1);
	else
		s->children[s->count++] = (struct child){ pid, channel };
}

static void __attribute__((noreturn)) serve(struct starter *s)
{
	struct pollfd p[1 + CHILDREN_MAX];
	sigset_t chld, none;
	int fds[2];

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	sigemptyset(&none);
	signal(SIGCHLD, note_signal);
	for (;;) {
		unsigned count = s->count;

		p[0] = (struct pollfd){ .fd = s->control, .events = POLLIN };
		for (unsigned i = 0; i < count; i++)	/* only for POLLHUP: the data is not for the starter */
			p[1 + i] = (struct pollfd){ .fd = s->children[i].channel };
		if (ppoll(p, 1 + count, NULL, &none) > 0) {
			for (unsigned i = 0; i < count; i++)
				if (p[1 + i].revents)
					kill(s->children[i].pid, SIGKILL);
			if (p[0].revents && !take_message(s->control, fds))
				break;
			if (p[0].revents && fds[0] >= 0)
				start(s, fds[0], fds[1]);
		}
		reap(s);
	}
	for (unsigned i = 0; i < s->count; i++)
		kill(s->children[i].pid, SIGKILL);
	_exit(0);
}

/* Signals to the whole process group, from a terminal or a supervisor, are for the daemon; the starter exits when the
 * daemon does. */
static void __attribute__((noreturn)) be_starter(struct starter *s, pid_t daemon)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	confine_die_with(daemon);
	prctl(PR_SET_NAME, "strobe-queries");
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	confine_close_others(s->control, s->control);
	serve(s);
}

/* --- The daemon --- */

int query_starter_new(const struct query_start *start, struct query_starter **ret, struct err *err)
{
	struct query_starter *s;
	pid_t daemon = getpid(), pid;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_set(err, -errno, "cannot prepare the process that starts queries: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		struct starter starter = { .control = ends[1], .start = start };

		be_starter(&starter, daemon);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return err_set(err, -EAGAIN, "cannot start the process that starts queries: %s", strerror(errno));
	}
	s = xcalloc(1, sizeof(*s));
	*s = (struct query_starter){ ends[0], pid };
	*ret = s;
	return 0;
}

pid_t query_starter_pid(const struct query_starter *s)
{
	return s->pid;
}

bool query_starter_is_up(const struct query_starter *s)
{
	struct pollfd p = { .fd = s->control };

	return poll(&p, 1, 0) == 0;
}

struct query_starter *query_starter_free(struct query_starter *s)
{
	if (!s)
		return NULL;
	close(s->control);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(s);
	return NULL;
}

static int send_descriptors(int control, int channel, int body)
{
	union { char bytes[CMSG_SPACE(2 * sizeof(int))]; struct cmsghdr align; } ancillary = { 0 };
	char byte = 0;
	struct iovec io = { &byte, 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = ancillary.bytes,
			    .msg_controllen = sizeof(ancillary.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int fds[] = { channel, body };

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(c), fds, sizeof(fds));
	return sendmsg(control, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static enum query_result say_not_started(struct err *err, int error)
{
	err_set(err, -EIO, "cannot start a process for the query: %s", error == EPIPE || error == ECONNRESET ?
		"the process that starts them has exited; restart strobe" : strerror(error));
	return QUERY_NOT_STARTED;
}

static enum query_result describe_exit(int status, const struct query_limits *l, struct err *err)
{
	if (status == -1)
		return say_not_started(err, EAGAIN);
	if ((WIFEXITED(status) && WEXITSTATUS(status) == MEM_EXIT_STATUS) ||
	    (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)) {
		err_set(err, -ENOMEM, "the query takes more than %llu MB of memory, " SAY_LIMIT,
			(unsigned long long)(l->memory >> 20));
		return QUERY_OUT_OF_MEMORY;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == QUERY_EXIT_ANSWER) {
		err_set(err, -EFBIG, "the answer is above %llu MB compressed, " SAY_LIMIT,
			(unsigned long long)(l->answer >> 20));
		return QUERY_OUT_OF_MEMORY;
	}
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
		err_set(err, -ETIMEDOUT, "the query exceeds the limit of %g seconds; select a "
					 "shorter range or fewer labels", l->milliseconds / 1e3);
		return QUERY_OUT_OF_TIME;
	}
	if (WIFSIGNALED(status))
		err_set(err, -EIO, "the process of the query crashed (%s), which is a bug in strobe",
			strsignal(WTERMSIG(status)));
	else
		err_set(err, -EIO, "the process of the query exited with status %d", WEXITSTATUS(status));
	return QUERY_CRASHED;
}

/* Listens until the last message. */
static enum query_result listen_to(int channel, const struct query_limits *l, struct store *store, struct response *r,
				   uint64_t *ret_size, struct err *err)
{
	_cleanup_(freep) char *bytes = xmalloc(QUERY_MESSAGE_MAX);
	bool answered = false;

	for (;;) {
		ssize_t n = recv(channel, bytes, QUERY_MESSAGE_MAX, 0);
		const char *why;
		int64_t day_ns;
		int status;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return say_not_started(err, EPIPE);
		if (query_get_damage(bytes, (size_t)n, &day_ns, &why))
			store_note_damage(store, day_ns, why);
		else if (query_get_answer(bytes, (size_t)n, r, ret_size))
			answered = true;
		else if (query_get_ended(bytes, (size_t)n, &status))
			return status == 0 && answered ? QUERY_DONE : describe_exit(status, l, err);
	}
}

enum query_result query_starter_run(struct query_starter *s, const struct query_limits *l, const struct request *q,
				    const char *php_socket, struct store *store, int body, struct response *r,
				    uint64_t *ret_size, struct err *err)
{
	_cleanup_(fd_closep) int ours = -1, theirs = -1;
	_cleanup_(buf_done) struct buf b = { 0 };
	int ends[2], e;

	buf_init(&b);
	query_put_request(&b, l, q, php_socket);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return say_not_started(err, errno);
	ours = ends[0];
	theirs = ends[1];
	if (send(ours, b.data, b.size, MSG_NOSIGNAL) < 0)
		return say_not_started(err, errno);
	e = send_descriptors(s->control, theirs, body);
	if (e < 0)
		return say_not_started(err, -e);
	fd_closep(&theirs);
	theirs = -1;
	return listen_to(ours, l, store, r, ret_size, err);
}

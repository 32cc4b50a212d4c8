/* graphviz.c: Graphviz in a child process. */

#include "graphviz.h"

#include "clock.h"
#include "io.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#ifdef HAVE_GRAPHVIZ
#include <graphviz/gvc.h>
#endif

/* What the child ends with. */
enum { DRAWN = 0, NO_GRAPH = 10, NO_LAYOUT, NO_PICTURE, NOT_WRITTEN };

#ifdef HAVE_GRAPHVIZ

bool graphviz_known(void)
{
	return true;
}

/* Under AddressSanitizer every process has terabytes of address space. */
#if defined(__SANITIZE_ADDRESS__)
#define LIMIT_MEMORY false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIMIT_MEMORY false
#endif
#endif
#ifndef LIMIT_MEMORY
#define LIMIT_MEMORY true
#endif

/* Bytes of address space that this process has; 0 if that cannot be known. */
static size_t address_space(void)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	unsigned long pages = 0;

	buf_init(&b);
	if (io_read_file("/proc/self/statm", &b, 4096, NULL) < 0 || sscanf(b.data, "%lu", &pages) != 1)
		return 0;
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void limit(int what, rlim_t n)
{
	struct rlimit r = { n, n };

	setrlimit(what, &r);
}

static void confine(const struct graphviz_limits *l)
{
	size_t had = address_space();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, (rlim_t)(l->wall_ms / 1000 + 1));
	if (LIMIT_MEMORY && had)
		limit(RLIMIT_AS, had + l->memory);
}

/* Its own words go nowhere: fonts it did not find, labels that are too long for a box. */
static void be_quiet(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
}

static int draw(const char *dot, const char *format, int fd)
{
	GVC_t *context = gvContext();
	Agraph_t *graph = agmemread(dot);
	unsigned int n = 0;
	char *bytes = NULL;

	if (!graph)
		return NO_GRAPH;
	if (gvLayout(context, graph, "dot"))
		return NO_LAYOUT;
	if (gvRenderData(context, graph, format, &bytes, &n) || !bytes)
		return NO_PICTURE;
	return io_write_all(fd, bytes, n, NULL) < 0 ? NOT_WRITTEN : DRAWN;
}

static pid_t start(const char *dot, const char *format, const struct graphviz_limits *l, int *ret_fd, struct err *err)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0) {
		int e = errno;

		close(ends[0]);
		close(ends[1]);
		return err_set(err, -e, "cannot start a process for Graphviz: %s", strerror(e));
	}
	if (pid == 0) {
		be_quiet();
		confine(l);
		_exit(draw(dot, format, ends[1]));
	}
	close(ends[1]);
	*ret_fd = ends[0];
	return pid;
}

/* Appends what comes until the end, or until it takes too long or is too much. */
static int receive(int fd, const struct graphviz_limits *l, struct buf *out)
{
	int64_t end = clock_monotonic_ns() + l->wall_ms * INT64_C(1000000);
	size_t before = out->size;

	for (;;) {
		int64_t left = end - clock_monotonic_ns();
		struct pollfd p = { .fd = fd, .events = POLLIN };
		char *room = buf_reserve(out, 1 << 16);
		ssize_t n;

		if (left <= 0)
			return -ETIMEDOUT;
		if (!room || out->size - before > l->output)
			return -EFBIG;
		if (poll(&p, 1, (int)(left / 1000000) + 1) <= 0)
			continue;
		n = read(fd, room, 1 << 16);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			out->size += (size_t)n;
	}
}

static int judge(int status, const char *format, struct err *err)
{
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
		return err_set(err, -ETIMEDOUT, "Graphviz took too long");
	if (WIFSIGNALED(status))
		return err_set(err, -ECANCELED, "Graphviz, which lays the graph out, crashed (%s)", strsignal(WTERMSIG(status)));
	switch (WEXITSTATUS(status)) {
	case DRAWN:
		return 0;
	case NO_GRAPH:
		return err_set(err, -EINVAL, "Graphviz could not read the graph");
	case NO_LAYOUT:
		return err_set(err, -EINVAL, "Graphviz has no layout 'dot' here; is the package libgvc6 or graphviz installed "
			       "as a whole?");
	case NO_PICTURE:
		return err_set(err, -EINVAL, "Graphviz cannot draw '%s' here", format);
	default:
		return err_set(err, -ECANCELED, "Graphviz, which lays the graph out, ended with %d", WEXITSTATUS(status));
	}
}

int graphviz_draw(const char *dot, const char *format, const struct graphviz_limits *limits, struct buf *out,
		  struct err *err)
{
	_cleanup_(fd_closep) int fd = -1;
	size_t before = out->size;
	int status, r;
	pid_t pid = start(dot, format, limits, &fd, err);

	if (pid < 0)
		return pid;
	r = receive(fd, limits, out);
	if (r < 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(err, -errno, "lost the process of Graphviz: %s", strerror(errno));
	if (r == -ETIMEDOUT)
		err_set(err, r, "Graphviz took longer than %d ms", limits->wall_ms);
	else if (r == -EFBIG)
		err_set(err, r, "Graphviz's picture has more than %zu bytes", limits->output);
	else if (r < 0)
		err_set(err, r, "cannot read from Graphviz: %s", strerror(-r));
	else
		r = judge(status, format, err);
	if (r < 0)
		out->size = before;
	return r;
}

#else

bool graphviz_known(void)
{
	return false;
}

int graphviz_draw(const char *dot, const char *format, const struct graphviz_limits *limits, struct buf *out,
		  struct err *err)
{
	(void)dot, (void)format, (void)limits, (void)out;
	return err_set(err, -ENOTSUP, "this strobe was built without Graphviz, which lays graphs out");
}

#endif

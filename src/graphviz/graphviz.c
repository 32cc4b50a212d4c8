/* graphviz.c: Graphviz in a child process.
 *
 *	parent					child
 *	graphviz_start: fork			loads libraries and fonts
 *	graphviz_draw: puts the graphs into
 *	shared memory, sends one byte		sends a struct reply and the picture of each
 *	receives until the end of time
 *	graphviz_free: kill
 *
 * The graphs are not sent, as that could have to wait for a child that does not read.
 */

#include "graphviz.h"

#include "clock.h"
#include "confine.h"
#include "io.h"
#include "mem.h"

#include <assert.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#ifdef HAVE_GRAPHVIZ
#include <graphviz/gvc.h>
#endif

#define THREAD_STACK	((size_t)1 << 20)
#define PATIENCE_NS	(2 * NS_PER_SECOND)	/* extra time for the first graph */

/* Precedes each picture, which is the next `size` bytes. */
struct reply {
	enum verdict { DRAWN, NO_GRAPH, NO_LAYOUT, NO_PICTURE } verdict;
	uint64_t size;
};

#ifdef HAVE_GRAPHVIZ

bool graphviz_known(void)
{
	return true;
}

/* --- The child --- */

/* Pango sorts fonts in threads, and exits if it cannot start one. Each thread would take 8 MB of stack, and with
 * glibc a 64 MB arena, from the address space, which is limited here. */
static void keep_threads_small(void)
{
	pthread_attr_t a;

#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1);
#endif
	if (pthread_attr_init(&a))
		return;
	if (!pthread_attr_setstacksize(&a, THREAD_STACK))
		pthread_setattr_default_np(&a);
	pthread_attr_destroy(&a);
}

static void confine(const struct graphviz_limits *l, pid_t parent)
{
	confine_die_with(parent);
	confine_limit(RLIMIT_CORE, 0);
	confine_cpu((rlim_t)l->cpu_seconds);
	confine_memory(l->memory);
}

/* `*ret` has `*ret_size` bytes, allocated by Graphviz. */
static enum verdict draw(GVC_t *context, const char *dot, const char *format, char **ret, unsigned int *ret_size)
{
	Agraph_t *graph = agmemread(dot);
	enum verdict verdict = DRAWN;

	if (!graph)
		return NO_GRAPH;
	if (gvLayout(context, graph, "dot"))
		verdict = NO_LAYOUT;
	else if (gvRenderData(context, graph, format, ret, ret_size) || !*ret)
		verdict = NO_PICTURE;
	gvFreeLayout(context, graph);
	agclose(graph);
	return verdict;
}

/* Draws one graph and sends it, unless `parent` is negative, as for the warm-up graph. */
static void answer(GVC_t *context, const char *dot, const char *format, int parent)
{
	unsigned int size = 0;
	char *picture = NULL;
	struct reply r = { .verdict = draw(context, dot, format, &picture, &size) };

	if (parent >= 0) {
		r.size = r.verdict == DRAWN ? size : 0;
		if (io_write_all(parent, &r, sizeof(r), NULL) < 0 || io_write_all(parent, picture, r.size, NULL) < 0)
			_exit(1);
	}
	if (picture)
		gvFreeRenderData(picture);
}

/* `graphs` is a file of graphs, each terminated by a NUL. */
static void work(const char *format, int graphs, int parent)
{
	GVC_t *context = gvContext();
	off_t size, at = 0;
	const char *dots;
	char byte;

	answer(context, "digraph { a [label=a fontname=sans] }", format, -1);
	while (read(parent, &byte, 1) < 0 && errno == EINTR)
		;
	size = lseek(graphs, 0, SEEK_END);
	dots = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, graphs, 0) : MAP_FAILED;
	if (dots == MAP_FAILED)
		_exit(1);
	for (; at < size; at += (off_t)strlen(dots + at) + 1)
		answer(context, dots + at, format, parent);
	_exit(0);
}

/* --- The parent --- */

struct graphviz {
	char *format;
	size_t output;			/* largest picture */
	pid_t pid;			/* 0: already reaped */
	int graphs, child;		/* shared memory, a socket */
};

int graphviz_start(const char *format, const struct graphviz_limits *limits, struct graphviz **ret, struct err *err)
{
	_cleanup_(graphviz_freep) struct graphviz *g = xcalloc(1, sizeof(*g));
	pid_t parent = getpid();
	int ends[2], failure;

	g->format = xstrdup(format);
	g->output = limits->output;
	g->child = -1;
	g->graphs = memfd_create("graphs", MFD_CLOEXEC);
	if (g->graphs < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return err_set(err, -errno, "cannot prepare a process for Graphviz: %s", strerror(errno));
	g->child = ends[0];
	g->pid = fork();
	if (g->pid == 0) {
		close(ends[0]);
		confine_be_quiet();		/* Graphviz warns about missing fonts and long labels */
		keep_threads_small();
		confine(limits, parent);
		work(format, g->graphs, ends[1]);
	}
	failure = g->pid < 0 ? -errno : 0;
	close(ends[1]);
	if (failure)
		return err_set(err, failure, "cannot start a process for Graphviz: %s", strerror(-failure));
	*ret = TAKE_PTR(g);
	return 0;
}

struct graphviz *graphviz_free(struct graphviz *g)
{
	if (!g)
		return NULL;
	if (g->pid > 0) {
		kill(g->pid, SIGKILL);
		while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	fd_closep(&g->graphs);
	fd_closep(&g->child);
	free(g->format);
	free(g);
	return NULL;
}

void graphviz_freep(struct graphviz **g)
{
	graphviz_free(*g);
}

/* Waits until `fd` is readable or at end of file. */
static int wait_until(int fd, int64_t end_ns)
{
	for (;;) {
		int64_t left = end_ns - clock_monotonic_ns();
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)(left / 1000000 < 1000000 ? left / 1000000 : 1000000) + 1) > 0)
			return 0;
	}
}

/* Reads exactly `n` bytes. Returns 0 at the end of the stream, or a negative errno. */
static int receive(int fd, char *bytes, size_t n, int64_t end_ns)
{
	for (size_t have = 0; have < n;) {
		int r = wait_until(fd, end_ns);
		ssize_t got = r < 0 ? r : read(fd, bytes + have, n - have);

		if (r < 0)
			return r;
		if (got == 0 || (got < 0 && errno == ECONNRESET))
			return 0;
		if (got < 0 && errno != EINTR)
			return -errno;
		have += got > 0 ? (size_t)got : 0;
	}
	return 1;
}

static int refusal(enum verdict verdict, const char *format, struct err *err)
{
	switch (verdict) {
	case NO_GRAPH:
		return err_set(err, -EINVAL, "Graphviz could not read the graph");
	case NO_LAYOUT:
		return err_set(err, -EINVAL, "Graphviz has no layout 'dot' here; is the package libgvc6 or graphviz "
					     "installed completely?");
	default:
		return err_set(err, -EINVAL, "Graphviz cannot draw '%s' here", format);
	}
}

/* Reaps the child and returns the reason why it ended early. */
static int post_mortem(struct graphviz *g, struct err *err)
{
	int status = 0;

	while (waitpid(g->pid, &status, 0) < 0 && errno == EINTR)
		;
	g->pid = 0;
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
		return err_set(err, -ETIMEDOUT, "Graphviz took too long");
	if (WIFSIGNALED(status))
		return err_set(err, -ECANCELED, "Graphviz, which lays the graph out, crashed (%s)",
			       strsignal(WTERMSIG(status)));
	return err_set(err, -ECANCELED, "Graphviz, which lays the graph out, exited "
					"with status %d", WEXITSTATUS(status));
}

/* Receives the next picture. */
static int next_picture(struct graphviz *g, int64_t end_ns, struct buf *picture, struct err *err)
{
	struct reply reply;
	char *room = NULL;
	int r = receive(g->child, (char *)&reply, sizeof(reply), end_ns);

	if (r > 0 && reply.verdict != DRAWN)
		return refusal(reply.verdict, g->format, err);
	if (r > 0 && (reply.size > g->output || !(room = buf_reserve(picture, reply.size))))
		return err_set(err, -EFBIG, "Graphviz's picture has more than %zu bytes", g->output);
	if (r > 0)
		r = receive(g->child, room, reply.size, end_ns);
	if (r == -ETIMEDOUT)
		return err_set(err, r, "Graphviz could not lay the graph out in time");
	if (r < 0)
		return err_set(err, r, "cannot read from Graphviz: %s", strerror(-r));
	if (r == 0)
		return post_mortem(g, err);
	buf_wrote(picture, reply.size);
	return 0;
}

static int hand_over(struct graphviz *g, const char *const *dots, size_t count, struct err *err)
{
	int r;

	for (size_t i = 0; i < count; i++)
		if ((r = io_write_all(g->graphs, dots[i], strlen(dots[i]) + 1, err)) < 0)
			return r;
	/* If the child has exited, the next read sees the end of its stream and reports it. */
	send(g->child, "", 1, MSG_NOSIGNAL);
	return 0;
}

int graphviz_draw(struct graphviz *g, const char *const *dots, size_t count, int64_t end_ns, struct buf *out,
		  struct err *err)
{
	_cleanup_(buf_done) struct buf best = { 0 }, next = { 0 };
	struct buf empty;
	int chosen = -1, r = hand_over(g, dots, count, err);

	assert(count > 0);
	buf_init(&best);
	buf_init(&next);
	/* A graph that Graphviz refuses does not keep it from drawing the others. */
	for (size_t i = 0; i < count && (r == 0 || r == -EINVAL); i++) {
		buf_reset(&next);
		r = next_picture(g, i == 0 ? end_ns + PATIENCE_NS : end_ns, &next, err);
		if (r < 0)
			continue;
		chosen = (int)i;
		empty = best;
		best = next;
		next = empty;
	}
	if (chosen < 0)
		return r;
	buf_put(out, best.data, best.size);
	return chosen;
}

#else

bool graphviz_known(void)
{
	return false;
}

int graphviz_start(const char *format, const struct graphviz_limits *limits, struct graphviz **ret, struct err *err)
{
	(void)format, (void)limits, (void)ret;
	return err_set(err, -ENOTSUP, "this strobe was built without Graphviz, which lays graphs out; -o "
		       "OUT.dot writes the graph for dot elsewhere");
}

int graphviz_draw(struct graphviz *g, const char *const *dots, size_t count, int64_t end_ns, struct buf *out,
		  struct err *err)
{
	(void)g, (void)dots, (void)count, (void)end_ns, (void)out;
	return err_set(err, -ENOTSUP, "this strobe was built without Graphviz, which lays graphs out");
}

struct graphviz *graphviz_free(struct graphviz *g)
{
	return g;
}

void graphviz_freep(struct graphviz **g)
{
	(void)g;
}

#endif

/* unix_source.c: connections and their messages, and the treatment of malformed ones. */

#include "unix_source.h"

#include "clock.h"
#include "fd_budget.h"
#include "gather.h"
#include "log.h"
#include "mem.h"
#include "memfd.h"
#include "open_runs.h"
#include "peer_labels.h"
#include "text.h"
#include "unix_listen.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define CONNECTIONS_MAX		20000
#define DATAGRAM_MAX		(256 * 1024)	/* twice the largest datagram that the extension sends */
#define DATAGRAMS_PER_TURN	32		/* then other connections get their turn */
#define ACCEPTS_PER_TURN	256
#define DRAIN_MAX_NS		(2 * NS_PER_SECOND)	/* senders may keep sending; shutdown must not take for ever */
#define REJECTED_MAX		1000		/* bad messages of one connection before it is closed */
#define PASSED_FDS		4		/* room for descriptors; the kernel drops further ones */

struct connection {
	struct gather_sender sender;
	struct unix_source *source;
	struct ucred peer;			/* the peer; 0 if unknown */
	struct labels labels;			/* labels of its origin, as far as configured and known */
	bool is_recorder;			/* it sends samples of other processes */
	unsigned rejected;
	struct open_runs open_runs;
	struct connection *next, **link;
};

struct unix_source {
	struct source base;
	struct watch listener;
	struct gather *gather;			/* sockets of the connections */
	char *path;
	bool activated;
	dev_t device;				/* identify the socket file, so that only our own is removed */
	ino_t inode;
	int spare;				/* released to accept and refuse when descriptors have run out */
	unsigned count;
	bool logged_full, logged_unlabeled;
	struct connection *connections;
	uint8_t datagram[DATAGRAM_MAX];
};

/* --- Messages --- */

static void reject(struct connection *c, _Atomic uint64_t *counter)
{
	(*counter)++;
	c->rejected++;
}

static bool is_recorded(const struct strobe_wire_message *m)
{
	size_t n;
	const char *sampler = open_runs_label(m, "sampler", &n);

	return sampler && text_is((struct str){ sampler, n }, "record");
}

/* Removes labels of the peer's origin: `strobe record` samples other processes. Only the daemon's own labels remain. */
static void forget_place(struct connection *c)
{
	const struct peer_labels *rules = c->source->base.receiver.peer_labels;

	c->is_recorder = true;
	labels_done(&c->labels);
	peer_labels_from(rules, (struct str){ "", 0 }, (struct str){ "", 0 }, &c->labels);
}

static void on_message(struct connection *c, const void *bytes, size_t size)
{
	struct source *s = &c->source->base;
	struct strobe_wire_message m;

	if (source_parse(s, bytes, size, &m)) {
		c->rejected++;
		return;
	}
	open_runs_note(&c->open_runs, &m);
	if (c->labels.count && !c->is_recorder && is_recorded(&m))
		forget_place(c);
	source_take(s, (struct message_metadata){ .labels = c->labels.count ? &c->labels : NULL }, &m);
}

static void on_envelope(struct connection *c, uint64_t size, const int *fds, size_t fd_count)
{
	_cleanup_(freep) char *bytes = fd_count == 1 ? memfd_read(fds[0], size) : NULL;

	if (!bytes)
		reject(c, &c->source->base.counters.rejected_memfd);
	for (size_t at = 0, n; bytes && at < size && c->rejected < REJECTED_MAX; at += n) {
		n = strobe_wire_first(bytes + at, (size_t)size - at);
		assert(n > 0 && n <= size - at);
		on_message(c, bytes + at, n);
	}
}

static void on_datagram(struct connection *c, size_t size, const int *fds, size_t fd_count)
{
	uint64_t memfd_size;
	enum strobe_wire_error e = strobe_wire_open_envelope(c->source->datagram, size, &memfd_size);

	assert(size <= sizeof(c->source->datagram));
	if (e == STROBE_WIRE_BAD_MAGIC)
		on_message(c, c->source->datagram, size);
	else if (e)
		reject(c, &c->source->base.counters.rejected[e]);
	else
		on_envelope(c, memfd_size, fds, fd_count);
}

/* Takes the descriptors out of a received message, at most PASSED_FDS. */
static size_t take_fds(struct msghdr *h, int *ret_fds)
{
	size_t n = 0;

	for (struct cmsghdr *p = CMSG_FIRSTHDR(h); p; p = CMSG_NXTHDR(h, p)) {
		size_t count = (p->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (p->cmsg_level != SOL_SOCKET || p->cmsg_type != SCM_RIGHTS)
			continue;
		assert(n + count <= PASSED_FDS);
		memcpy(ret_fds + n, CMSG_DATA(p), count * sizeof(int));
		n += count;
	}
	return n;
}

/* Reads one datagram. Returns 1, 0 if none is waiting, -1 if the connection has ended. */
static int receive(struct connection *c)
{
	struct unix_source *s = c->source;
	union {
		struct cmsghdr align;
		char space[CMSG_LEN(PASSED_FDS * sizeof(int))];
	} control;
	struct iovec part = { s->datagram, sizeof(s->datagram) };
	struct msghdr h = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space,
		.msg_controllen = sizeof(control.space),
	};
	int fds[PASSED_FDS];
	size_t fd_count;
	ssize_t n;

	n = recvmsg(c->sender.watch.fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;

	gather_note(s->gather, &c->sender, (size_t)n);
	fd_count = take_fds(&h, fds);
	if (h.msg_flags & MSG_TRUNC)
		reject(c, &s->base.counters.rejected[STROBE_WIRE_TOO_LARGE]);
	else if (h.msg_flags & MSG_CTRUNC)
		reject(c, &s->base.counters.rejected_memfd);
	else if (n > 0)
		on_datagram(c, (size_t)n, fds, fd_count);
	for (size_t i = 0; i < fd_count; i++)
		close(fds[i]);
	return n > 0 ? 1 : -1;
}

/* --- Connections --- */

static void connection_close(struct connection *c)
{
	struct unix_source *s = c->source;
	int fd = c->sender.watch.fd;

	assert(s->count > 0 && *c->link == c);
	gather_remove(s->gather, &c->sender);
	close(fd);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	s->count--;
	s->base.counters.connections_now = s->count;
	open_runs_done(&c->open_runs);
	labels_done(&c->labels);
	free(c);
}

static void connection_lost(struct connection *c)
{
	const struct source_receiver *r = &c->source->base.receiver;

	if (c->open_runs.count && r->runs_killed)
		r->runs_killed(r->data, c->open_runs.count);
	connection_close(c);
}

static void connection_ready(struct watch *w, uint32_t events)
{
	struct connection *c = (struct connection *)((char *)w - offsetof(struct connection, sender.watch));

	/* Few senders have a second message waiting, and checking costs as much as reading one. */
	unsigned most = gather_noted(c->source->gather, &c->sender) ? DATAGRAMS_PER_TURN : 1;

	for (unsigned i = 0; i < most; i++) {
		int r = receive(c);

		if (r == 0)
			return;
		if (c->rejected >= REJECTED_MAX) {
			c->source->base.counters.connections_closed_for_garbage++;
			log_warning("closed a connection of process %d: %u malformed messages",
				    (int)c->peer.pid, c->rejected);
			r = -1;
		}
		if (r < 0) {
			connection_lost(c);
			return;
		}
	}
}

static void label_peer(struct connection *c)
{
	struct unix_source *s = c->source;
	struct err err;

	if (!s->base.receiver.peer_labels || peer_labels_read(s->base.receiver.peer_labels, c->peer.pid, &c->labels, &err) >= 0)
		return;
	s->base.counters.peers_unlabeled++;
	if (!s->logged_unlabeled)
		log_warning("cannot read the labels of process %d: %s; further processes are "
			    "counted, not logged", (int)c->peer.pid, err.text);
	s->logged_unlabeled = true;
}

static void connection_open(struct unix_source *s, int fd)
{
	struct connection *c = xcalloc(1, sizeof(*c));
	socklen_t size = sizeof(c->peer);
	struct err err;

	c->source = s;
	c->sender.watch.fd = fd;
	c->sender.watch.ready = connection_ready;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c->peer, &size))
		memset(&c->peer, 0, sizeof(c->peer));
	if (gather_add(s->gather, &c->sender, EPOLLIN | EPOLLRDHUP, &err) < 0) {
		s->base.counters.connections_refused++;
		close(fd);
		free(c);
		return;
	}
	label_peer(c);
	c->next = s->connections;
	c->link = &s->connections;
	if (c->next)
		c->next->link = &c->next;
	s->connections = c;
	s->count++;
	s->base.counters.connections++;
	s->base.counters.connections_now = s->count;
}

static void refuse(struct unix_source *s, int fd)
{
	close(fd);
	s->base.counters.connections_refused++;
	if (!s->logged_full)
		log_warning("unix:%s: the limit of %u connections is reached; further ones are refused and "
			    "counted", s->path, s->count);
	s->logged_full = true;
}

/* Without descriptors a connection cannot even be refused, and the loop would spin on it: the spare one makes room. */
static bool refuse_without_fds(struct unix_source *s)
{
	int fd;

	if (s->spare < 0)
		return false;
	close(s->spare);
	fd = accept4(s->listener.fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		refuse(s, fd);
	s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return fd >= 0;
}

static void listener_ready(struct watch *w, uint32_t events)
{
	struct unix_source *s = (struct unix_source *)((char *)w - offsetof(struct unix_source, listener));

	for (unsigned i = 0; i < ACCEPTS_PER_TURN; i++) {
		int fd = accept4(w->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0 && (errno == EMFILE || errno == ENFILE) && refuse_without_fds(s))
			continue;
		if (fd < 0)
			return;
		if (s->count >= CONNECTIONS_MAX || !fd_budget_left(fd))
			refuse(s, fd);
		else
			connection_open(s, fd);
	}
}

/* --- Lifecycle --- */

/* Senders regard messages sent so far as delivered, so they are read before the end. */
static void drain(struct unix_source *s)
{
	int64_t until = clock_monotonic_ns() + DRAIN_MAX_NS;

	listener_ready(&s->listener, EPOLLIN);
	for (struct connection *c = s->connections; c; c = c->next) {
		shutdown(c->sender.watch.fd, SHUT_RD);	/* later sends fail, and queued messages stay readable */
		while (c->rejected < REJECTED_MAX && clock_monotonic_ns() < until)
			if (receive(c) <= 0)
				break;
	}
}

static void finish(struct unix_source *s, bool drains)
{
	int fd = s->listener.fd;
	struct stat st;

	if (fd >= 0) {
		/* Removes the path first, so that a sender finds no socket, instead of a closed connection. */
		if (!s->activated && !lstat(s->path, &st) && st.st_dev == s->device && st.st_ino == s->inode)
			unlink(s->path);
		if (drains)
			drain(s);
		loop_remove(s->base.loop, &s->listener);
		close(fd);
	}
	while (s->connections)
		connection_close(s->connections);
	source_set_state(&s->base, false, "closed");
}

static void unix_source_stop(struct source *base)
{
	finish((struct unix_source *)base, true);
}

static struct source *unix_source_close(struct source *base)
{
	struct unix_source *s = (struct unix_source *)base;

	finish(s, false);
	assert(!s->count);
	if (s->spare >= 0)
		close(s->spare);
	gather_free(s->gather);
	free(s->path);
	source_done(base);
	free(s);
	return NULL;
}

static int unix_source_open(const char *url, struct loop *loop, const struct source_receiver *receiver,
			    struct source **ret, struct err *err)
{
	const char *path = *url == '/' ? url : url + strlen("unix:");
	_cleanup_(fd_closep) int fd = -1;
	struct unix_source *s;
	struct gather *gather;
	struct stat st;
	bool activated;
	int r;

	if (*path != '/')
		return err_set(err, -EINVAL, "'%s' needs an absolute path, as in unix:/run/strobe/strobe.sock", url);
	if (path != url && strchr(path, '?'))
		return err_set(err, -EINVAL, "'%s': a socket takes no parameters, since messages carry their "
					     "own labels; if its name contains a ?, omit unix:, as in "
					     "/run/what?.sock", url);
	r = gather_new(loop, &gather, err);
	if (r < 0)
		return r;
	r = unix_listen(path, &fd, &activated, err);
	if (r < 0) {
		gather_free(gather);
		return r;
	}
	fd_budget_raise(CONNECTIONS_MAX);		/* every PHP worker keeps a connection */

	s = xcalloc(1, sizeof(*s));
	s->base = (struct source){ .ops = &unix_source_ops, .receiver = *receiver, .loop = loop };
	s->base.url = xasprintf("unix:%s", path);
	s->path = xstrdup(path);
	s->gather = gather;
	s->activated = activated;
	if (!lstat(path, &st)) {
		s->device = st.st_dev;
		s->inode = st.st_ino;
	}
	s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	s->listener.ready = listener_ready;
	s->listener.fd = TAKE_FD(fd);
	r = loop_add(loop, &s->listener, EPOLLIN, err);
	if (r < 0) {
		unix_source_close(&s->base);
		return r;
	}
	source_set_state(&s->base, true, "listening");
	*ret = &s->base;
	return 0;
}

const struct source_ops unix_source_ops = {
	.scheme = "unix",
	.open = unix_source_open,
	.stop = unix_source_stop,
	.close = unix_source_close,
};

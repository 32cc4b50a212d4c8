/* resp_source.c: the listener: its addresses, access control, and life cycle. */
#include "resp_private.h"

#include "clock.h"
#include "fd_budget.h"
#include "log.h"
#include "mem.h"
#include "passed_socket.h"

#include <arpa/inet.h>
#include <assert.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define BACKLOG			4096
#define ACCEPTS_PER_TURN	256
#define DRAIN_MAX_NS		(2 * NS_PER_SECOND)	/* clients may keep sending; shutdown must not take for ever */
#define TIDY_MAX_NS		(5 * NS_PER_SECOND)
#define TIDY_MIN_NS		(NS_PER_SECOND / 20)
#define KEEPALIVE_SECONDS	300			/* then the kernel probes whether the client's machine is
							 * alive */

/* --- Connections --- */

static void refuse(struct resp_source *s, int fd)
{
	static const char full[] = "-ERR max number of clients reached\r\n";

	s->base.counters.connections_refused++;
	if (send(fd, full, sizeof(full) - 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		log_debug("a refused client was gone already");
	close(fd);
	if (!s->logged_full)
		log_warning("%s: the limit of %u connections is reached; further ones are refused and counted",
			    s->base.url, s->client_count);
	s->logged_full = true;
}

/* Without descriptors a connection cannot even be refused, and the loop would spin on it: the spare one makes room. */
static bool refuse_without_fds(struct resp_source *s, int listener)
{
	int fd;

	if (s->spare < 0)
		return false;
	close(s->spare);
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		refuse(s, fd);
	s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return fd >= 0;
}

static void listener_ready(struct watch *w, uint32_t events)
{
	struct resp_source *s = ((struct resp_listener *)((char *)w - offsetof(struct resp_listener, watch)))->source;

	for (unsigned i = 0; i < ACCEPTS_PER_TURN; i++) {
		int fd = accept4(w->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0 && (errno == EMFILE || errno == ENFILE) && refuse_without_fds(s, w->fd))
			continue;
		/* A client that is gone already does not end the queue of connections. */
		if (fd < 0 && (errno == ECONNABORTED || errno == EINTR))
			continue;
		if (fd < 0)
			return;
		if (s->client_count >= s->options.clients_max || !fd_budget_left(fd) || resp_client_open(s, fd) < 0)
			refuse(s, fd);
	}
}

static void tidy(struct watch *w, uint32_t events)
{
	struct resp_source *s = (struct resp_source *)((char *)w - offsetof(struct resp_source, timer));

	loop_timer_read(w);
	resp_clients_tidy(s, clock_monotonic_ns());
}

/* --- Listening --- */

static bool is_loopback(const struct sockaddr *a)
{
	if (a->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
	return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

static void set_port(struct sockaddr *a, unsigned port)
{
	if (a->sa_family == AF_INET)
		((struct sockaddr_in *)a)->sin_port = htons((uint16_t)port);
	else
		((struct sockaddr_in6 *)a)->sin6_port = htons((uint16_t)port);
}

static unsigned port_of(int fd)
{
	struct sockaddr_storage a = { 0 };
	socklen_t size = sizeof(a);

	getsockname(fd, (struct sockaddr *)&a, &size);
	return ntohs(a.ss_family == AF_INET ? ((struct sockaddr_in *)&a)->sin_port :
		     ((struct sockaddr_in6 *)&a)->sin6_port);
}

/* Connections inherit these from the listener, which saves each of them the calls. */
static void set_options(int fd, int family)
{
	const int on = 1, seconds = KEEPALIVE_SECONDS;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
}

static int listener_of(const struct resp_source *s, const struct addrinfo *a)
{
	for (size_t i = 0; i < s->listener_count; i++)
		if (socket_listens_at(s->listeners[i].watch.fd, SOCK_STREAM, a->ai_addr, a->ai_addrlen))
			return s->listeners[i].watch.fd;
	return -1;
}

/* Returns a socket in the list that listens there, and whose it is; -1: none does. */
static int listener_at(const struct source_list *l, const struct addrinfo *a, const struct source **ret)
{
	for (size_t i = 0; i < l->count; i++) {
		int fd = -1;

		*ret = l->items[i];
		if ((*ret)->ops == &resp_source_ops)
			fd = listener_of((const struct resp_source *)*ret, a);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

/* Returns a listener at this address, of a source being closed or passed by systemd. -ENOENT if there is none,
 * -EEXIST if it belongs to a source that remains, however its address is written. */
static int take_listener(const struct resp_source *s, const struct addrinfo *a, struct err *err)
{
	const struct source_receiver *r = &s->base.receiver;
	const struct source *other;
	int fd;

	if (listener_at(&r->kept, a, &other) >= 0)
		return err_set(err, -EEXIST, "cannot listen on %s: the source %s already listens there; remove "
					     "one of them", s->base.url, other->url);
	fd = listener_at(&r->removed, a, &other);
	if (fd >= 0) {
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		return fd >= 0 ? fd : err_set(err, -errno, "cannot take over %s: %s", s->base.url, strerror(errno));
	}
	fd = passed_socket(SOCK_STREAM, a->ai_addr, a->ai_addrlen);
	return fd >= 0 ? fd : -ENOENT;
}

static int bind_listener(const struct resp_source *s, const struct addrinfo *a, struct err *err)
{
	_cleanup_(fd_closep) int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		set_options(fd, a->ai_family);
	if (fd < 0 || bind(fd, a->ai_addr, a->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
		return err_set(err, -errno, "cannot listen on %s: %s%s", s->base.url, strerror(errno),
			       errno == EADDRINUSE ? "; is a Redis running there?" : "");
	return TAKE_FD(fd);
}

/* Returns a socket that listens at this address. */
static int make_listener(const struct resp_source *s, const struct addrinfo *a, struct err *err)
{
	int fd = take_listener(s, a, err);

	if (fd == -ENOENT)
		return bind_listener(s, a, err);
	if (fd >= 0)
		set_options(fd, a->ai_family);
	return fd;
}

static int listen_on(struct resp_source *s, const struct addrinfo *a, struct err *err)
{
	_cleanup_(fd_closep) int fd = -1;
	struct resp_listener *l = &s->listeners[s->listener_count];
	int r;

	assert(s->listener_count < RESP_LISTENERS);
	if (!s->options.password && !is_loopback(a->ai_addr))
		return err_set(err, -EPERM, "cannot listen on %s without a password: anybody could send "
					    "samples; listen on 127.0.0.1, or add ?password-file=FILE", s->base.url);
	/* A second address of the name gets the port that the first one took. */
	set_port(a->ai_addr, s->port);
	r = make_listener(s, a, err);
	if (r < 0)
		return r;
	fd = r;
	s->port = port_of(fd);
	assert(s->port);		/* the addresses of one name share it */
	l->source = s;
	l->watch = (struct watch){ .ready = listener_ready, .fd = fd };
	r = loop_add(s->base.loop, &l->watch, EPOLLIN, err);
	if (r < 0)
		return r;
	s->listener_count++;
	TAKE_FD(fd);
	return 0;
}

static void show_url(struct resp_source *s)
{
	const char *host = s->options.host ? s->options.host : "*";
	bool is_v6 = strchr(host, ':') != NULL;

	free(s->base.url);
	s->base.url = xasprintf("resp://%s%s%s:%u%s", is_v6 ? "[" : "", host, is_v6 ? "]" : "", s->port,
				s->options.parameters);
}

/* Listens on all addresses of the name, except those that this machine does not have, such as ::1 without IPv6. */
static int listen_all(struct resp_source *s, struct err *err)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
	struct addrinfo *list;
	int r = 0, e;

	e = getaddrinfo(s->options.host, "0", &hints, &list);
	if (e)
		return err_set(err, -EINVAL, "cannot listen on %s: %s", s->base.url, gai_strerror(e));
	for (struct addrinfo *a = list; a && s->listener_count < RESP_LISTENERS; a = a->ai_next) {
		r = listen_on(s, a, err);
		if (r < 0 && r != -EADDRNOTAVAIL && r != -EAFNOSUPPORT)
			break;
	}
	freeaddrinfo(list);
	if (s->listener_count && (r == -EADDRNOTAVAIL || r == -EAFNOSUPPORT))
		r = 0;
	return r;
}

/* --- Lifecycle --- */

/* Reads and answers commands that were sent before the end. */
static void drain(struct resp_source *s)
{
	int64_t until = clock_monotonic_ns() + DRAIN_MAX_NS;

	for (size_t i = 0; i < s->listener_count; i++)
		listener_ready(&s->listeners[i].watch, EPOLLIN);
	for (struct resp_client *c = s->clients, *next; c; c = next) {
		next = c->next;
		while (clock_monotonic_ns() < until && resp_client_read(c) > 0)
			continue;
	}
}

static void finish(struct resp_source *s, bool drains)
{
	if (drains)
		drain(s);
	for (; s->listener_count; s->listener_count--) {
		struct watch *w = &s->listeners[s->listener_count - 1].watch;
		int fd = w->fd;

		loop_remove(s->base.loop, w);
		close(fd);
	}
	while (s->clients)
		resp_client_close(s->clients);
	loop_remove_timer(s->base.loop, &s->timer);
	source_set_state(&s->base, false, "closed");
}

static void resp_source_stop(struct source *base)
{
	finish((struct resp_source *)base, true);
}

static struct source *resp_source_close(struct source *base)
{
	struct resp_source *s = (struct resp_source *)base;

	finish(s, false);
	assert(!s->client_count && !s->held);
	if (s->spare >= 0)
		close(s->spare);
	buf_done(&s->out);
	free(s->channel);
	resp_options_done(&s->options);
	source_done(base);
	free(s);
	return NULL;
}

static int start(struct resp_source *s, const char *url, struct err *err)
{
	int64_t every = 0;
	int r = resp_options_parse(url, &s->options, err);

	if (r < 0)
		return r;
	s->port = s->options.port;
	show_url(s);
	s->about = source_hints_about(&s->options.hints);
	fd_budget_raise(s->options.clients_max);
	every = s->options.idle_ns / 4 < TIDY_MIN_NS ? TIDY_MIN_NS : s->options.idle_ns / 4;
	if ((r = listen_all(s, err)) < 0 ||
	    (r = loop_add_timer(s->base.loop, &s->timer, every < TIDY_MAX_NS ? every : TIDY_MAX_NS, err)) < 0)
		return r;
	show_url(s);
	source_set_state(&s->base, true, "listening");
	return 0;
}

static int resp_source_open(const char *url, struct loop *loop, const struct source_receiver *receiver,
			    struct source **ret, struct err *err)
{
	struct resp_source *s = xcalloc(1, sizeof(*s));
	int r;

	s->base = (struct source){ .ops = &resp_source_ops, .receiver = *receiver, .loop = loop };
	s->timer = (struct watch){ .ready = tidy, .fd = -1 };
	s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	buf_init(&s->out);
	r = start(s, url, err);
	if (r < 0) {
		resp_source_close(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}

const struct source_ops resp_source_ops = {
	.scheme = "resp",
	.same_input = source_url_same_place,
	.open = resp_source_open,
	.stop = resp_source_stop,
	.close = resp_source_close,
};

/* redis_client.c: a blocking socket with a deadline, optionally with TLS; uses hiredis' reader and writer. */
#include "redis_client.h"

#include "cluster.h"

#include "redis_address.h"
#include "clock.h"
#include "redis_login.h"
#include "redis_tls.h"
#include "mem.h"
#include "reply_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#define READ_SIZE	(64u * 1024)
#define REPLY_MAX	((size_t)256 << 20)

struct redis_client {
	struct redis_login login;
	int64_t connect_timeout_ns, answer_timeout_ns;
	int fd;				/* -1: not connected */
	struct redis_tls *tls;		/* NULL: plain */
	int canceled;			/* an eventfd that becomes readable on cancellation */
	_Atomic bool is_canceled;
	struct reply_reader *reader;
	char *input;
	const char *unread;		/* within input */
	size_t unread_size;
};

struct redis_client *redis_client_new(const struct redis_url *url, const char *name, int64_t connect_timeout_ns,
				    int64_t answer_timeout_ns)
{
	struct redis_client *a = xcalloc(1, sizeof(*a));

	redis_login_init(&a->login, url, NULL, 0, name);
	a->connect_timeout_ns = connect_timeout_ns;
	a->answer_timeout_ns = answer_timeout_ns;
	a->fd = -1;
	a->canceled = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	a->input = xmalloc(READ_SIZE);
	return a;
}

static void disconnect(struct redis_client *a)
{
	a->tls = redis_tls_free(a->tls);
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
	a->reader = reply_reader_free(a->reader);
	a->unread_size = 0;
}

struct redis_client *redis_client_free(struct redis_client *a)
{
	if (!a)
		return NULL;
	disconnect(a);
	if (a->canceled >= 0)
		close(a->canceled);
	redis_login_done(&a->login);
	free(a->input);
	free(a);
	return NULL;
}

void redis_client_move(struct redis_client *a, const char *host, unsigned port)
{
	if (!*host)
		host = address_machine(a->login.host);
	if (!strcmp(a->login.host, host) && a->login.port == port)
		return;
	disconnect(a);
	redis_login_move(&a->login, host, port);
}

bool redis_client_follow(struct redis_client *a, const redisReply *reply, bool *ret_asking)
{
	enum redis_problem problem = redis_problem(reply);
	struct cluster_redirect to;

	if ((problem != REDIS_MOVED && problem != REDIS_ASK) || !cluster_redirect_parse(reply->str, reply->len, &to))
		return false;
	redis_client_move(a, to.host, to.port);
	*ret_asking = problem == REDIS_ASK;
	return true;
}

const char *redis_client_address(const struct redis_client *a)
{
	return a->login.where;
}

bool redis_client_is_connected(const struct redis_client *a)
{
	return a->fd >= 0;
}

void redis_client_cancel(struct redis_client *a)
{
	const uint64_t one = 1;

	a->is_canceled = true;
	if (write(a->canceled, &one, sizeof(one)) < 0)
		return;			/* it is readable already */
}

/* Waits for POLLIN or POLLOUT. Returns -ETIMEDOUT, -ECANCELED, or 0. */
static int wait_for(struct redis_client *a, short events, int64_t deadline_ns)
{
	struct pollfd p[2] = { { .fd = a->fd, .events = events }, { .fd = a->canceled, .events = POLLIN } };

	for (;;) {
		int64_t left = deadline_ns - clock_monotonic_ns();
		int n = poll(p, 2, left > 0 ? (int)(left / 1000000) + 1 : 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (p[1].revents)
			return -ECANCELED;
		return n ? 0 : -ETIMEDOUT;
	}
}

/* Returns the reason for the loss of the connection. */
static const char *reason(const struct redis_client *a, int r)
{
	const char *problem = a->tls ? redis_tls_problem(a->tls) : NULL;

	return problem ? problem : strerror(-r);
}

/* Progress extends the deadline to `more_ns` from then: a large value may take its time. */
static int send_all(struct redis_client *a, const char *bytes, size_t size, int64_t deadline_ns, int64_t more_ns)
{
	while (size) {
		ssize_t n = a->tls ? redis_tls_send(a->tls, bytes, size) :
				     send(a->fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
		int r = n < 0 ? -errno : 0;

		if (r == -EAGAIN)
			r = wait_for(a, POLLOUT, deadline_ns);
		if (r < 0 && r != -EINTR)
			return r;
		if (n > 0) {
			if (more_ns)
				deadline_ns = clock_monotonic_ns() + more_ns;
			bytes += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

/* Waits for a complete reply. */
static int read_reply(struct redis_client *a, int64_t deadline_ns, struct redisReply **ret, struct err *err)
{
	for (;;) {
		int r = reply_reader_next(a->reader, &a->unread, &a->unread_size, ret, err);
		ssize_t n;

		if (r)
			return r < 0 ? err_prefix(err, "Redis at %s", a->login.where) : 0;
		n = a->tls ? redis_tls_recv(a->tls, a->input, READ_SIZE) : recv(a->fd, a->input, READ_SIZE, MSG_DONTWAIT);
		if (n > 0) {
			a->unread = a->input;
			a->unread_size = (size_t)n;
			continue;
		}
		if (n == 0)
			return err_set(err, -ECONNRESET, "Redis at %s: the connection is lost: it closed the "
				       "connection", a->login.where);
		r = errno == EAGAIN ? wait_for(a, POLLIN, deadline_ns) : errno == EINTR ? 0 : -errno;
		if (r == -ETIMEDOUT)
			return err_set(err, r, "Redis at %s does not answer within %.0f s; it is hung, "
					       "overloaded or unreachable", a->login.where, (double)a->answer_timeout_ns / NS_PER_SECOND);
		if (r < 0)
			return err_set(err, r, "Redis at %s: the connection is lost: %s", a->login.where, reason(a, r));
	}
}

/* --- Connecting --- */

static int connect_one(struct redis_client *a, const struct addrinfo *address, int64_t deadline_ns)
{
	socklen_t size = sizeof(int);
	const int on = 1;
	int r, e = 0;

	a->fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (a->fd < 0)
		return -errno;
	setsockopt(a->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(a->fd, address->ai_addr, address->ai_addrlen) == 0)
		return 0;
	r = errno == EINPROGRESS ? wait_for(a, POLLOUT, deadline_ns) : -errno;
	if (r == 0 && getsockopt(a->fd, SOL_SOCKET, SO_ERROR, &e, &size) < 0)
		e = errno;
	return r ? r : -e;
}

static int connect_any(struct redis_client *a, int64_t deadline_ns, struct err *err)
{
	struct addrinfo *all = NULL;
	int r = address_look_up(a->login.host, a->login.port, 0, &all);

	if (r)
		return err_set(err, -EHOSTUNREACH, "cannot find the host '%s': %s; check the URL and the name "
			       "server", a->login.host, gai_strerror(r));
	r = -EHOSTUNREACH;
	for (const struct addrinfo *i = all; i && r < 0 && r != -ECANCELED; i = i->ai_next) {
		disconnect(a);
		r = connect_one(a, i, deadline_ns);
	}
	address_free(all);
	if (r == -ETIMEDOUT)
		return err_set(err, r, "cannot connect to Redis at %s: no answer in time; is there a firewall?",
			       a->login.where);
	return r < 0 ? err_set(err, r, "cannot connect to Redis at %s: %s; is Redis running?", a->login.where,
			       strerror(-r)) :
		       0;
}

static int handshake(struct redis_client *a, int64_t deadline_ns, struct err *err)
{
	int r = redis_tls_new(&a->login.tls, a->login.host, a->login.where, a->fd, &a->tls, err);

	while (r == 0 && (r = redis_tls_handshake(a->tls, err)) == -EAGAIN) {
		r = wait_for(a, redis_tls_wants_write(a->tls) ? POLLOUT : POLLIN, deadline_ns);
		if (r == -ETIMEDOUT)
			return err_set(err, r, "Redis at %s accepts connections but does not answer the TLS "
					       "handshake; does "
					       "it speak TLS on this port?",
				       a->login.where);
		if (r < 0)
			return err_set(err, r, "Redis at %s: the connection is lost: %s", a->login.where, strerror(-r));
	}
	return r;
}

/* Replaces the sentence about a lost connection. */
static int ended_early(const struct redis_client *a, int r, struct err *err)
{
	if ((r != -ECONNRESET && r != -EPIPE) || (a->tls && redis_tls_problem(a->tls)))
		return r;
	return err_set(err, r, "Redis at %s ended the connection before it was ready (%s); is it a Redis, %s", a->login.where,
		       strerror(-r), redis_login_hint(&a->login));
}

static int login_step(struct redis_client *a, enum redis_login_step step, int64_t deadline_ns, struct err *err)
{
	struct redis_login_command command;
	struct redisReply *reply = NULL;
	int r = redis_login_command(&a->login, step, &command, err);

	if (r <= 0)
		return r;
	r = send_all(a, command.bytes, command.size, deadline_ns, 0);
	explicit_bzero(command.bytes, command.size);
	redisFreeCommand(command.bytes);
	if (r < 0)
		return err_set(err, r, "Redis at %s: the connection is lost: %s", a->login.where, reason(a, r));
	r = read_reply(a, deadline_ns, &reply, err);
	if (r < 0)
		return r;
	r = redis_login_check(&a->login, step, reply, err);
	freeReplyObject(reply);
	return r;
}

static int make_connection(struct redis_client *a, struct err *err)
{
	int64_t deadline_ns = clock_monotonic_ns() + a->connect_timeout_ns;
	int r = connect_any(a, deadline_ns, err);

	if (r >= 0 && a->login.tls.is_wanted)
		r = handshake(a, deadline_ns, err);
	if (r < 0)
		return r;
	a->reader = reply_reader_new(REPLY_MAX);
	for (int step = 0; step < REDIS_LOGIN_STEPS && r >= 0; step++)
		r = login_step(a, (enum redis_login_step)step, deadline_ns, err);
	return ended_early(a, r, err);
}

/* --- Sending commands --- */

static int ask(struct redis_client *a, const char *bytes, size_t size, struct redisReply **ret_reply, struct err *err)
{
	int64_t deadline_ns;
	int r;

	if (a->is_canceled)
		return err_set(err, -ECANCELED, "Redis at %s: canceled by shutdown", a->login.where);
	r = a->fd < 0 ? make_connection(a, err) : 0;
	if (r < 0) {
		disconnect(a);
		return r;
	}
	r = send_all(a, bytes, size, clock_monotonic_ns() + a->answer_timeout_ns, a->answer_timeout_ns);
	deadline_ns = clock_monotonic_ns() + a->answer_timeout_ns;
	if (r < 0)
		err_set(err, r, "Redis at %s: cannot send: %s", a->login.where, reason(a, r));
	else
		r = read_reply(a, deadline_ns, ret_reply, err);
	if (r < 0)
		disconnect(a);
	return r;
}

int redis_client_command(struct redis_client *a, int argc, const char *const *argv, const size_t *sizes,
	      struct redisReply **ret_reply, struct err *err)
{
	char *bytes = NULL;
	long long n = redisFormatCommandArgv(&bytes, argc, (const char **)argv, sizes);
	int r;

	if (n < 0)
		return err_set(err, -ENOMEM, "not enough memory for a command");
	r = ask(a, bytes, (size_t)n, ret_reply, err);
	redisFreeCommand(bytes);
	return r;
}

int redis_client_commandf(struct redis_client *a, struct redisReply **ret_reply, struct err *err, const char *format, ...)
{
	char *bytes = NULL;
	va_list arguments;
	int n, r;

	va_start(arguments, format);
	n = redisvFormatCommand(&bytes, format, arguments);
	va_end(arguments);
	if (n < 0)
		return err_set(err, -EINVAL, "not enough memory for a command");
	r = ask(a, bytes, (size_t)n, ret_reply, err);
	redisFreeCommand(bytes);
	return r;
}

/* connection_send.c: sends commands to the server, and updates the events that the loop watches for. */
#include "connection_private.h"

#include "clock.h"
#include "mem.h"

#include <hiredis/hiredis.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define UNSENT_MAX		((size_t)64 << 20)

bool connection_is_paused(const struct redis_connection *c)
{
	return c->paused && c->phase == READY;
}

bool connection_has_input(const struct redis_connection *c)
{
	const char *bytes;
	size_t n;

	return c->input.ended || read_ahead_front(&c->input, &bytes, &n);
}

void connection_watch(struct redis_connection *c)
{
	uint32_t events;
	struct err err;

	c->reads = !connection_is_paused(c) && !c->input.ended && !read_ahead_is_full(&c->input);
	events = (c->reads ? EPOLLIN : 0) | (c->wants_write ? EPOLLOUT : 0);
	loop_remove(c->loop, &c->watch);
	c->watch.fd = c->fd;
	if (loop_add(c->loop, &c->watch, events, &err) < 0) {
		c->watch.fd = -1;
		connection_fail(c, false, err.text);
	}
}

/* Unsent output needs room in the socket; unparsed input needs another turn, which a writable socket gives at once. */
void connection_update_watch(struct redis_connection *c)
{
	bool wants_write = c->out_at < c->out.size || (connection_has_input(c) && !connection_is_paused(c));
	bool reads = !connection_is_paused(c) && !c->input.ended && !read_ahead_is_full(&c->input);

	if (wants_write == c->wants_write && reads == c->reads)
		return;
	c->wants_write = wants_write;
	connection_watch(c);
}

static void cannot_send(struct redis_connection *c, int e)
{
	const char *problem = c->tls ? redis_tls_problem(c->tls) : NULL;

	connection_failf(c, "Redis at %s: %s%s", c->login.where, problem ? "" : "the connection is lost: ",
			 problem ? problem : strerror(e));
}

/* Sends as much as the socket accepts. */
void connection_flush(struct redis_connection *c)
{
	while (c->out_at < c->out.size) {
		const char *bytes = c->out.data + c->out_at;
		size_t size = c->out.size - c->out_at;
		ssize_t n = c->tls ? redis_tls_send(c->tls, bytes, size) : send(c->fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			cannot_send(c, errno);
			return;
		}
		c->out_at += (size_t)n;
	}
	if (c->out_at == c->out.size) {
		buf_reset(&c->out);
		c->out_at = 0;
	}
	connection_update_watch(c);
}

/* Extracts "XADD" from "*5\r\n$4\r\nXADD\r\n…", the format that hiredis writes. */
static void name_of(const char *bytes, size_t n, char *ret, size_t size)
{
	const char *p = memchr(bytes, '\n', n);
	size_t i = 0;

	p = p ? memchr(p + 1, '\n', n - (size_t)(p + 1 - bytes)) : NULL;
	if (p)
		for (p++; i < size - 1 && p + i < bytes + n && p[i] >= '!' && p[i] <= '~'; i++)
			ret[i] = p[i];
	ret[i] = '\0';
}

void connection_queue(struct redis_connection *c, int64_t timeout_ns, redis_reply_fn *fn, void *data, int step,
			  const char *bytes, size_t n)
{
	struct command *one = xcalloc(1, sizeof(*one));

	one->fn = fn;
	one->data = data;
	one->step = step;
	one->timeout_ns = timeout_ns ? timeout_ns : c->o.answer_timeout_ns;
	name_of(bytes, n, one->name, sizeof(one->name));
	if (!c->first)
		c->head_ns = clock_monotonic_ns();
	*c->last = one;
	c->last = &one->next;
	buf_put(&c->out, bytes, n);
}

static int check_sendable(const struct redis_connection *c)
{
	if (c->phase != READY)
		return -ENOTCONN;
	return c->out.size - c->out_at > UNSENT_MAX ? -ENOBUFS : 0;
}

/* Commands made within one call of the loop are sent together afterwards. */
static void flush_outside(struct redis_connection *c)
{
	if (c->entered)
		return;
	connection_enter(c);
	connection_flush(c);
	connection_leave(c);
}

/* Formats a command (freed by redisFreeCommand) and returns its size; negative if it cannot be sent now. */
static long long format_argv(const struct redis_connection *c, int argc, const char *const *argv, const size_t *sizes,
			     char **ret)
{
	int r = check_sendable(c);
	long long n = r < 0 ? r : redisFormatCommandArgv(ret, argc, (const char **)argv, sizes);

	return r < 0 ? r : n < 0 ? -ENOMEM : n;
}

int redis_connection_send(struct redis_connection *c, int64_t timeout_ns, redis_reply_fn *fn, void *data, int argc,
			  const char *const *argv, const size_t *sizes)
{
	char *bytes = NULL;
	long long n = format_argv(c, argc, argv, sizes, &bytes);

	if (n < 0)
		return (int)n;
	connection_queue(c, timeout_ns, fn, data, -1, bytes, (size_t)n);
	redisFreeCommand(bytes);
	flush_outside(c);
	return 0;
}

int redis_connection_vsendf(struct redis_connection *c, int64_t timeout_ns, redis_reply_fn *fn, void *data,
			    const char *format, va_list arguments)
{
	int r = check_sendable(c), n;
	char *bytes = NULL;

	if (r < 0)
		return r;
	n = redisvFormatCommand(&bytes, format, arguments);
	if (n < 0)
		return -EINVAL;
	connection_queue(c, timeout_ns, fn, data, -1, bytes, (size_t)n);
	redisFreeCommand(bytes);
	flush_outside(c);
	return 0;
}

int redis_connection_sendf(struct redis_connection *c, int64_t timeout_ns, redis_reply_fn *fn, void *data,
			   const char *format, ...)
{
	va_list arguments;
	int r;

	va_start(arguments, format);
	r = redis_connection_vsendf(c, timeout_ns, fn, data, format, arguments);
	va_end(arguments);
	return r;
}

int redis_connection_subscribe(struct redis_connection *c, int argc, const char *const *argv, const size_t *sizes)
{
	char *bytes = NULL;
	long long n = format_argv(c, argc, argv, sizes, &bytes);

	if (n < 0)
		return (int)n;
	buf_put(&c->out, bytes, (size_t)n);
	redisFreeCommand(bytes);
	flush_outside(c);
	return 0;
}

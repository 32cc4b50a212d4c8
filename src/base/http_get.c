/* http_get.c: one request, one connection, HTTP/1.0, so that the end of the connection ends the body. */

#include "http_get.h"

#include "clock.h"
#include "mem.h"

#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

struct address {
	char *host, *port;	/* in getaddrinfo's form */
	char *shown;		/* "127.0.0.1:8787", for the Host header */
};

static void address_done(struct address *a)
{
	free(a->host);
	free(a->port);
	free(a->shown);
}

static int parse_base(const char *base, struct address *ret, struct err *err)
{
	const char *p = base + 7, *end, *colon;

	if (strncmp(base, "http://", 7) || !*p || *p == '/' || strpbrk(p, " \r\n@?#"))
		return err_set(err, -EINVAL, "invalid address '%s'; use that of a daemon, such as http://127.0.0.1:8787",
			       base);
	end = p + strcspn(p, "/");
	ret->shown = xstrndup(p, (size_t)(end - p));
	if (*p == '[') {
		const char *bracket = strchr(ret->shown, ']');

		if (!bracket)
			return err_set(err, -EINVAL, "'%s' has no closing ']'", base);
		ret->host = xstrndup(ret->shown + 1, (size_t)(bracket - ret->shown) - 1);
		colon = bracket[1] == ':' ? bracket + 1 : NULL;
	} else {
		colon = strchr(ret->shown, ':');
		ret->host = xstrndup(ret->shown, colon ? (size_t)(colon - ret->shown) : strlen(ret->shown));
	}
	ret->port = xstrdup(colon ? colon + 1 : "80");
	return 0;
}

int http_check_address(const char *base, struct err *err)
{
	_cleanup_(address_done) struct address a = { 0 };

	return parse_base(base, &a, err);
}

/* Waits until the descriptor is ready for `events`, or the time is over. */
static int wait_for(int fd, short events, int64_t until)
{
	struct pollfd p = { .fd = fd, .events = events };
	int64_t left = until - clock_monotonic_ns();
	int r = left > 0 ? poll(&p, 1, (int)(left / 1000000) + 1) : 0;

	return r > 0 ? 0 : r < 0 ? -errno : -ETIMEDOUT;
}

static int connect_one(const struct addrinfo *i, int64_t until)
{
	_cleanup_(fd_closep) int fd = socket(i->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof(int);
	int error = 0, r;

	if (fd < 0)
		return -errno;
	if (connect(fd, i->ai_addr, i->ai_addrlen) < 0) {
		if (errno != EINPROGRESS)
			return -errno;
		if ((r = wait_for(fd, POLLOUT, until)) < 0)
			return r;
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 || error)
			return error ? -error : -errno;
	}
	return TAKE_FD(fd);
}

static int connect_to(const struct address *a, int64_t until, struct err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	int fd = -ENOENT, e = getaddrinfo(a->host, a->port, &hints, &list);

	if (e)
		return err_set(err, -ENOENT, "cannot find '%s': %s", a->shown, gai_strerror(e));
	for (struct addrinfo *i = list; i && fd < 0; i = i->ai_next)
		fd = connect_one(i, until);
	freeaddrinfo(list);
	return fd >= 0 ? fd : err_set(err, fd, "cannot connect to %s: %s; check the address, and the firewall", a->shown, strerror(-fd));
}

static int read_response(int fd, int64_t until, size_t limit, struct buf *b)
{
	for (;;) {
		char chunk[8192];
		ssize_t n = read(fd, chunk, sizeof(chunk));
		int r;

		if (n == 0)
			return 0;
		if (n > 0)
			buf_put(b, chunk, (size_t)n);
		if (b->size > limit)
			return -EFBIG;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n < 0 && (r = wait_for(fd, POLLIN, until)) < 0)
			return r;
	}
}

/* Tells whether a body of `n` bytes has the size announced in the header. */
static bool is_whole(const struct buf *response, const char *body, size_t n)
{
	static const char name[] = "\r\nContent-Length:";
	const char *length = strcasestr(response->data, name);

	return !length || length > body || strtoull(length + sizeof(name) - 1, NULL, 10) == n;
}

/* Returns the status of a complete response, and appends its head and its body. */
static int take_parts(const struct buf *response, struct buf *head, struct buf *body)
{
	const char *start = memmem(response->data, response->size, "\r\n\r\n", 4);
	int status = 0;
	size_t n;

	if (!start || sscanf(response->data, "HTTP/1.%*1d %3d", &status) != 1)
		return -EPROTO;
	start += 4;
	n = response->size - (size_t)(start - response->data);
	if (!is_whole(response, start, n))
		return -ECONNRESET;
	if (head)
		buf_put(head, response->data, (size_t)(start - response->data));
	buf_put(body, start, n);
	return status;
}

bool http_header(const struct buf *head, const char *name, struct buf *ret)
{
	size_t n = strlen(name);

	for (const char *at = head->data; (at = strstr(at, "\r\n")); at += 2) {
		const char *value;

		if (strncasecmp(at + 2, name, n) || at[2 + n] != ':')
			continue;
		value = at + 2 + n + 1;
		value += strspn(value, " ");
		buf_put(ret, value, strcspn(value, "\r"));
		return true;
	}
	return false;
}

int http_get(const char *base, const char *path, const char *token, int timeout_ms, size_t limit, struct buf *head,
	     struct buf *body, struct err *err)
{
	_cleanup_(address_done) struct address a = { 0 };
	_cleanup_(buf_done) struct buf b = { 0 };
	_cleanup_(fd_closep) int fd = -1;
	int64_t until = clock_monotonic_ns() + timeout_ms * 1000000LL;
	int r;

	buf_init(&b);
	if ((r = parse_base(base, &a, err)) < 0 || (r = fd = connect_to(&a, until, err)) < 0)
		return r;
	buf_printf(&b, "GET %s HTTP/1.0\r\nHost: %s\r\n", path, a.shown);
	if (token)
		buf_printf(&b, "Authorization: Bearer %s\r\n", token);
	buf_puts(&b, "\r\n");
	/* A request this small fits into any socket's buffer. */
	if (send(fd, b.data, b.size, MSG_NOSIGNAL) != (ssize_t)b.size)
		return err_set(err, -EIO, "lost the connection to %s", a.shown);

	buf_reset(&b);
	r = read_response(fd, until, limit, &b);
	if (r >= 0)
		r = take_parts(&b, head, body);
	if (r == -EFBIG)
		return err_set(err, r, "the answer of %s exceeds the limit of %zu MB", a.shown, limit >> 20);
	if (r == -ECONNRESET)
		return err_set(err, r, "%s: the connection was lost in the middle of the answer", a.shown);
	if (r == -ETIMEDOUT)
		return err_set(err, -ETIME, "%s accepts connections but does not answer within %g s; it is stopped, hung or overloaded; see its log", a.shown,
			       timeout_ms / 1000.0);
	if (r == -EPROTO)
		return err_set(err, r, "the program at %s is not a strobe daemon: its answer is not HTTP", a.shown);
	if (r < 0)
		return err_set(err, r, "cannot read the answer of %s: %s", a.shown, strerror(-r));
	return r;
}

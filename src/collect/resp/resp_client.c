/* resp_client.c: a client's bytes in and out, within bounds. */
#include "resp_private.h"

#include "clock.h"
#include "mem.h"

#include <assert.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define KEPT_BYTES		((size_t)4 << 10)	/* memory that a client may keep while it is idle */
#define STEP_BYTES		RESP_READ_BYTES		/* minimum growth of the memory of a large command */
#define STALLED_NS		(60 * NS_PER_SECOND)	/* timeout in the middle of a command, of its replies, or
							 * of a login */

/* --- Memory --- */

/* Makes room for `need` bytes; false above the limit of all clients. */
static bool make_room(struct resp_client *c, struct resp_bytes *b, size_t need)
{
	struct resp_source *s = c->source;
	size_t capacity = b->capacity * 2 > need ? b->capacity * 2 : need;

	assert(b->size <= b->capacity && b->capacity <= s->held && s->held <= RESP_HELD_MAX);
	if (need <= b->capacity)
		return true;
	if (s->held + (capacity - b->capacity) > RESP_HELD_MAX)
		return false;
	s->held += capacity - b->capacity;
	b->bytes = xrealloc(b->bytes, capacity);
	b->capacity = capacity;
	return true;
}

static void forget(struct resp_client *c, struct resp_bytes *b, size_t keep)
{
	b->size = 0;
	if (b->capacity <= keep)
		return;
	assert(c->source->held >= b->capacity);
	c->source->held -= b->capacity;
	free(b->bytes);
	*b = (struct resp_bytes){ 0 };
}

static bool append(struct resp_client *c, struct resp_bytes *b, const char *bytes, size_t n)
{
	if (!make_room(c, b, b->size + n))
		return false;
	memcpy(b->bytes + b->size, bytes, n);
	b->size += n;
	return true;
}

static void take_off(struct resp_bytes *b, size_t n)
{
	assert(n <= b->size);
	memmove(b->bytes, b->bytes + n, b->size - n);
	b->size -= n;
}

/* --- Answers --- */

/* Updates the watched events of the client; returns -1 on failure. */
static int watch_again(struct resp_client *c)
{
	uint32_t events = (c->is_closing ? 0 : EPOLLIN) | (c->out.size ? EPOLLOUT : 0);
	struct loop *loop = c->source->base.loop;
	int fd = c->watch.fd, r;

	if (events == c->events)
		return 0;
	loop_remove(loop, &c->watch);
	c->watch.fd = fd;
	c->events = events;
	r = loop_add(loop, &c->watch, events, NULL);
	return r < 0 ? -1 : 0;
}

/* Returns how many bytes the socket accepted, -1 if it is closed. */
static ssize_t send_some(struct resp_client *c, const char *bytes, size_t n)
{
	ssize_t sent = n ? send(c->watch.fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;

	if (sent < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	return sent;
}

/* Sends the replies of this turn, after the rest of earlier ones. Returns -1 if the client is to be closed. */
static int flush(struct resp_client *c)
{
	struct resp_source *s = c->source;
	const char *bytes = s->out.data;
	size_t n = s->out.size;
	ssize_t sent;

	if (c->out.size) {
		if (!append(c, &c->out, bytes, n))
			return -1;
		sent = send_some(c, c->out.bytes, c->out.size);
		if (sent > 0)
			take_off(&c->out, (size_t)sent);
	} else {
		sent = send_some(c, bytes, n);
		if (sent >= 0 && (size_t)sent < n && !append(c, &c->out, bytes + sent, n - (size_t)sent))
			return -1;
	}
	if (s->out.capacity > RESP_OUT_MAX)
		buf_done(&s->out);
	buf_reset(&s->out);
	if (sent < 0)
		return -1;
	if (c->out.size > RESP_OUT_MAX) {
		s->base.counters.connections_closed_slow++;
		return -1;
	}
	if (!c->out.size)
		forget(c, &c->out, 0);
	return c->is_closing && !c->out.size ? -1 : watch_again(c);
}

/* --- Commands --- */

static void refuse_garbage(struct resp_client *c)
{
	struct resp_source *s = c->source;

	s->base.counters.connections_closed_for_garbage++;
	resp_put_error(&s->out, "ERR Protocol error: %s", c->parser.error);
	c->is_closing = true;
}

/* Runs all complete commands. Returns their size in bytes. */
static size_t do_commands(struct resp_client *c, const char *bytes, size_t n)
{
	size_t used = 0;

	while (!c->is_closing) {
		ssize_t r = resp_next(&c->parser, bytes + used, n - used);

		if (r < 0)
			refuse_garbage(c);
		if (r <= 0)
			break;
		assert((size_t)r <= n - used);
		used += (size_t)r;
		if (c->parser.count)
			resp_command(c);
	}
	return used;
}

/* The common case: reads into one buffer for all clients, and keeps only an incomplete command. */
static ssize_t read_shared(struct resp_client *c)
{
	struct resp_source *s = c->source;
	size_t kept = c->in.size, used;
	ssize_t n;

	assert(kept < sizeof(s->read));
	n = recv(c->watch.fd, s->read + kept, sizeof(s->read) - kept, MSG_DONTWAIT);
	if (n <= 0)
		return n;
	if (kept)
		memcpy(s->read, c->in.bytes, kept);
	kept += (size_t)n;
	used = do_commands(c, s->read, kept);
	forget(c, &c->in, KEPT_BYTES);
	if (!c->is_closing && used < kept && !append(c, &c->in, s->read + used, kept - used))
		errno = ENOBUFS, n = -1;
	return n;
}

/* Reads a large command into memory of its own, which grows with the bytes received, not with the announced size. */
static ssize_t read_own(struct resp_client *c, size_t need)
{
	size_t room = need > c->in.size ? need - c->in.size : 0, used;
	ssize_t n;

	if (room > c->in.size + STEP_BYTES)
		room = c->in.size + STEP_BYTES;
	if (room < KEPT_BYTES)
		room = KEPT_BYTES;
	if (!make_room(c, &c->in, c->in.size + room)) {
		errno = ENOBUFS;
		return -1;
	}
	n = recv(c->watch.fd, c->in.bytes + c->in.size, room, MSG_DONTWAIT);
	if (n <= 0)
		return n;
	c->in.size += (size_t)n;
	assert(c->in.size <= c->in.capacity);
	used = do_commands(c, c->in.bytes, c->in.size);
	if (used)
		take_off(&c->in, used);
	if (!c->in.size || c->is_closing)
		forget(c, &c->in, KEPT_BYTES);
	return n;
}

int resp_client_read(struct resp_client *c)
{
	struct resp_source *s = c->source;
	size_t need = resp_need(&c->parser);
	ssize_t n;

	assert(!s->out.size);		/* otherwise it would get the replies of another client */
	n = c->in.size + KEPT_BYTES <= RESP_READ_BYTES && need <= RESP_READ_BYTES ? read_shared(c) : read_own(c, need);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0 && errno == ENOBUFS) {
		s->base.counters.connections_closed_slow++;
		resp_put_error(&s->out, "ERR too many commands in flight; send fewer at once");
		c->is_closing = true;
	}
	if (n > 0)
		c->active_ns = clock_monotonic_ns();
	if (n == 0 || (n < 0 && errno != ENOBUFS) || flush(c) < 0) {
		resp_client_close(c);
		return -1;
	}
	return 1;
}

static void client_ready(struct watch *w, uint32_t events)
{
	struct resp_client *c = (struct resp_client *)((char *)w - offsetof(struct resp_client, watch));

	assert(!(c->events & EPOLLOUT) == !c->out.size && !c->source->out.size);
	if (c->out.size) {
		size_t before = c->out.size;

		if (flush(c) < 0) {
			resp_client_close(c);
			return;
		}
		if (c->out.size < before)
			c->active_ns = clock_monotonic_ns();
	}
	if ((events & ~(uint32_t)EPOLLOUT) && !c->is_closing)
		resp_client_read(c);
}

/* --- Lifecycle --- */

int resp_client_open(struct resp_source *s, int fd)
{
	struct resp_client *c = xcalloc(1, sizeof(*c));
	int r;

	assert(s->client_count < s->options.clients_max && !s->clients == !s->client_count);
	c->watch = (struct watch){ .ready = client_ready, .fd = fd };
	c->events = EPOLLIN;
	r = loop_add(s->base.loop, &c->watch, c->events, NULL);
	if (r < 0) {
		free(c);
		return r;
	}
	c->source = s;
	c->may_publish = !s->options.password;
	c->version = 2;
	c->id = ++s->next_id;
	c->active_ns = clock_monotonic_ns();
	resp_init(&c->parser);
	if (!c->may_publish) {
		c->parser.argument_max = RESP_STRANGER_ARGUMENT_MAX;
		c->parser.arguments_max = RESP_STRANGER_ARGUMENTS_MAX;
	}
	c->next = s->clients;
	c->link = &s->clients;
	if (c->next)
		c->next->link = &c->next;
	s->clients = c;
	s->client_count++;
	s->base.counters.connections++;
	s->base.counters.connections_now = s->client_count;
	return 0;
}

void resp_client_close(struct resp_client *c)
{
	struct resp_source *s = c->source;
	int fd = c->watch.fd;

	assert(s->client_count > 0 && *c->link == c);
	loop_remove(s->base.loop, &c->watch);
	close(fd);
	forget(c, &c->in, 0);
	forget(c, &c->out, 0);
	resp_done(&c->parser);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	s->client_count--;
	s->base.counters.connections_now = s->client_count;
	buf_reset(&s->out);
	free(c->name);
	free(c);
}

void resp_clients_tidy(struct resp_source *s, int64_t now_ns)
{
	for (struct resp_client *c = s->clients, *next; c; c = next) {
		bool is_stalled = c->in.size || c->out.size || !c->may_publish;
		int64_t limit = is_stalled && STALLED_NS < s->options.idle_ns ? STALLED_NS : s->options.idle_ns;

		next = c->next;
		if (now_ns - c->active_ns < limit)
			continue;
		s->base.counters.connections_closed_idle++;
		resp_client_close(c);
	}
}

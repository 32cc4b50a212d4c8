/* connection.c: the socket, its reader and writer, and the clock that watches them. */
#include "connection.h"

#include "buf.h"
#include "clock.h"
#include "login.h"
#include "mem.h"
#include "push.h"
#include "read_ahead.h"
#include "reply_reader.h"
#include "resolve.h"

#include <assert.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>

#define TICK_NS			(NS_PER_SECOND / 4)
#define CHUNKS_PER_TURN		4		/* are looked at; then other descriptors have their turn */
#define UNSENT_MAX		((size_t)64 << 20)
#define STABLE_NS		NS_PER_SECOND	/* dropped by its user earlier: waits go on growing */
#define PASSING_RETRY_NS	NS_PER_SECOND	/* while it is loading, and the like */

enum phase { WAITING, RESOLVING, CONNECTING, LOGIN, READY };

struct command {
	struct command *next;
	redis_reply_fn *fn;
	void *data;
	int64_t timeout_ns;
	int step;				/* of the login; -1: none */
	char name[24];				/* "XADD", for sentences */
};

struct redis_connection {
	struct loop *loop;
	struct redis_connection_options o;
	struct redis_login login;
	struct redis_connection_counters counters;
	enum phase phase;
	unsigned generation;			/* of the socket: whoever called out looks whether it is still the same */
	unsigned entered;			/* calls from the loop under way */
	bool dead;				/* freed when the last of them returns */
	bool paused;
	bool reads, wants_write;		/* what the loop watches for; writing also to have another turn for what was read ahead */

	struct watch timer, watch;
	int fd;
	struct resolve *resolve;
	struct addrinfo *addresses, *address;	/* all; the one that is tried */
	char *last_failure;			/* of an address, for the sentence after the last one */

	struct reply_reader *reader;
	struct read_ahead input;
	struct buf out;
	size_t out_at;
	struct command *first, **last;

	int64_t deadline_ns;			/* of the phase: the next attempt, or the end of this one */
	int64_t backoff_ns, backoff_before_ns;	/* the next wait; what it was before it became ready */
	int64_t ready_ns;			/* since when */
	int64_t last_in_ns;			/* when the last byte came */
	int64_t head_ns;			/* since when the first command is the first */
	int64_t last_tick_ns;

	bool told_up;
	char *told;
	char problem_of[24];			/* the command that the server refuses for what it is now; "" none */
};

void redis_connection_default_options(struct redis_connection_options *o)
{
	*o = (struct redis_connection_options){
		.connect_timeout_ns = 5 * NS_PER_SECOND,
		.answer_timeout_ns = 5 * NS_PER_SECOND,
		.ping_after_ns = 3 * NS_PER_SECOND,
		.retry_min_ns = NS_PER_SECOND,
		.retry_max_ns = 30 * NS_PER_SECOND,
		.reply_max = (size_t)256 << 20,
		.read_ahead = (size_t)1 << 20,
	};
}

/* --- What is told --- */

static void tell(struct redis_connection *c, bool is_up, const char *text)
{
	if (c->told && c->told_up == is_up && !strcmp(c->told, text))
		return;
	free(c->told);
	c->told = xstrdup(text);
	c->told_up = is_up;
	if (c->o.state && !c->dead)
		c->o.state(c->o.data, is_up, text);
}

static void tell_connected(struct redis_connection *c)
{
	_cleanup_(freep) char *text = xasprintf("connected to %s", c->login.where);

	c->problem_of[0] = '\0';
	tell(c, true, text);
}

/* --- The end of a connection --- */

static struct command *take_first(struct redis_connection *c)
{
	struct command *first = c->first;

	c->first = first->next;
	if (!c->first)
		c->last = &c->first;
	c->head_ns = clock_monotonic_ns();
	return first;
}

/* Closes the socket; commands under way stay in the list. */
static void close_socket(struct redis_connection *c)
{
	c->generation++;
	c->resolve = resolve_cancel(c->resolve);
	loop_remove(c->loop, &c->watch);
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->reader = reply_reader_free(c->reader);
	read_ahead_reset(&c->input);
	buf_reset(&c->out);
	c->out_at = 0;
	c->wants_write = false;
}

static void free_addresses(struct redis_connection *c)
{
	if (c->addresses)
		freeaddrinfo(c->addresses);
	c->addresses = c->address = NULL;
}

static void destroy(struct redis_connection *c)
{
	while (c->first)
		free(take_first(c));
	close_socket(c);
	free_addresses(c);
	loop_remove_timer(c->loop, &c->timer);
	redis_login_done(&c->login);
	buf_done(&c->out);
	read_ahead_done(&c->input);
	free(c->told);
	free(c->last_failure);
	free(c);
}

static void enter(struct redis_connection *c)
{
	c->entered++;
}

static void leave(struct redis_connection *c)
{
	if (--c->entered == 0 && c->dead)
		destroy(c);
}

/* Between half of the wait and all of it, so that a fleet does not come back at one moment. */
static int64_t by_chance(int64_t wait_ns)
{
	uint32_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (uint32_t)clock_monotonic_ns();
	return wait_ns / 2 + (int64_t)((double)(wait_ns / 2) * random / UINT32_MAX);
}

static void wait_before_next(struct redis_connection *c, bool passes)
{
	int64_t now = clock_monotonic_ns(), wait;

	wait = c->backoff_ns ? c->backoff_ns : c->o.retry_min_ns;
	if (passes)
		wait = PASSING_RETRY_NS;
	else
		c->backoff_ns = wait * 2 < c->o.retry_max_ns ? wait * 2 : c->o.retry_max_ns;
	c->phase = WAITING;
	c->deadline_ns = now + by_chance(wait);
}

/* Ends this attempt or connection, and says so. Whoever called is told first, then the commands' callers. */
static void fail(struct redis_connection *c, bool passes, const char *sentence)
{
	struct command *all = c->first;
	bool was_ready = c->phase == READY;

	if (c->phase == WAITING)
		return;
	c->first = NULL;
	c->last = &c->first;
	close_socket(c);
	free_addresses(c);
	if (was_ready)
		c->counters.lost++;
	else
		c->counters.failed++;
	wait_before_next(c, passes);
	enter(c);
	tell(c, false, sentence);
	while (all) {
		struct command *next = all->next;

		if (all->fn && !c->dead)
			all->fn(c, NULL, all->data);
		free(all);
		all = next;
	}
	if (was_ready && c->o.lost && !c->dead)
		c->o.lost(c, c->o.data);
	leave(c);
}

_printf_(2, 3) static void failf(struct redis_connection *c, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	fail(c, false, text ? text : "the connection to Redis is lost");
	free(text);
}

void redis_connection_drop(struct redis_connection *c, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	if (c->phase == READY && clock_monotonic_ns() - c->ready_ns < STABLE_NS)
		c->backoff_ns = c->backoff_before_ns;
	fail(c, false, text ? text : "the connection to Redis is dropped");
	free(text);
}

struct redis_connection *redis_connection_free(struct redis_connection *c)
{
	if (!c)
		return NULL;
	if (!c->entered) {
		destroy(c);
		return NULL;
	}
	c->dead = true;
	close_socket(c);
	c->phase = WAITING;
	return NULL;
}

/* --- Sending --- */

static bool is_paused(const struct redis_connection *c)
{
	return c->paused && c->phase == READY;
}

static bool has_input(const struct redis_connection *c)
{
	const char *bytes;
	size_t n;

	return c->input.ended || read_ahead_front(&c->input, &bytes, &n);
}

static void watch_socket(struct redis_connection *c)
{
	uint32_t events;
	struct err err;

	c->reads = !is_paused(c) && !c->input.ended && !read_ahead_is_full(&c->input);
	events = (c->reads ? EPOLLIN : 0) | (c->wants_write ? EPOLLOUT : 0);
	loop_remove(c->loop, &c->watch);
	c->watch.fd = c->fd;
	if (loop_add(c->loop, &c->watch, events, &err) < 0) {
		c->watch.fd = -1;
		fail(c, false, err.text);
	}
}

/* What is not sent yet needs room in the socket; what is not looked at yet another turn, which a socket with room gives
 * at once. */
static void watch_what_is_left(struct redis_connection *c)
{
	bool wants_write = c->out_at < c->out.size || (has_input(c) && !is_paused(c));
	bool reads = !is_paused(c) && !c->input.ended && !read_ahead_is_full(&c->input);

	if (wants_write == c->wants_write && reads == c->reads)
		return;
	c->wants_write = wants_write;
	watch_socket(c);
}

/* Sends what it can. */
static void flush(struct redis_connection *c)
{
	while (c->out_at < c->out.size) {
		ssize_t n = send(c->fd, c->out.data + c->out_at, c->out.size - c->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			failf(c, "Redis at %s: the connection is lost: %s", c->login.where, strerror(errno));
			return;
		}
		c->out_at += (size_t)n;
	}
	if (c->out_at == c->out.size) {
		buf_reset(&c->out);
		c->out_at = 0;
	}
	watch_what_is_left(c);
}

/* "XADD" of "*5\r\n$4\r\nXADD\r\n…", which is what hiredis writes. */
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

static void queue_command(struct redis_connection *c, int64_t timeout_ns, redis_reply_fn *fn, void *data, int step,
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

/* From within a call of the loop all commands go out together when it is over. */
static void flush_outside(struct redis_connection *c)
{
	if (c->entered)
		return;
	enter(c);
	flush(c);
	leave(c);
}

int redis_connection_send(struct redis_connection *c, int64_t timeout_ns, redis_reply_fn *fn, void *data, int argc,
			  const char *const *argv, const size_t *sizes)
{
	int r = check_sendable(c);
	char *bytes = NULL;
	long long n;

	if (r < 0)
		return r;
	n = redisFormatCommandArgv(&bytes, argc, (const char **)argv, sizes);
	if (n < 0)
		return -ENOMEM;
	queue_command(c, timeout_ns, fn, data, -1, bytes, (size_t)n);
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
	queue_command(c, timeout_ns, fn, data, -1, bytes, (size_t)n);
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
	int r = check_sendable(c);
	char *bytes = NULL;
	long long n;

	if (r < 0)
		return r;
	n = redisFormatCommandArgv(&bytes, argc, (const char **)argv, sizes);
	if (n < 0)
		return -ENOMEM;
	buf_put(&c->out, bytes, (size_t)n);
	redisFreeCommand(bytes);
	flush_outside(c);
	return 0;
}

/* --- Replies --- */

/* The loop is not woken for each message while few come; ends of the connection wake it at once. */
static void read_together(struct redis_connection *c)
{
	const int bytes = (int)c->o.read_together;

	if (bytes && setsockopt(c->fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes)) < 0)
		c->o.read_together = 0;
}

static void got_login_reply(struct redis_connection *c, int step, const redisReply *reply)
{
	struct err err;

	if (redis_login_judge(&c->login, (enum redis_login_step)step, reply, &err) < 0) {
		fail(c, redis_problem_passes(redis_problem(reply)), err.text);
		return;
	}
	if (step != REDIS_LOGIN_PING)
		return;
	c->phase = READY;
	c->ready_ns = clock_monotonic_ns();
	c->backoff_before_ns = c->backoff_ns;
	c->backoff_ns = 0;
	c->counters.connections++;
	free_addresses(c);
	read_together(c);
	tell_connected(c);
	if (c->o.ready && !c->dead)
		c->o.ready(c, c->o.data);
}

/* READONLY and its like are told when they begin, and when the same command succeeds again. */
static void note_problem(struct redis_connection *c, const char *name, const redisReply *reply)
{
	enum redis_problem p = redis_problem(reply);
	struct err err;

	if (!strcmp(name, "INFO"))
		return;				/* good to know where it is allowed */
	if (redis_problem_is_state(p)) {
		redis_problem_explain(reply, c->login.where, name, &err);
		snprintf(c->problem_of, sizeof(c->problem_of), "%s", name);
		tell(c, false, err.text);
	} else if (p == REDIS_FINE && c->problem_of[0] && !strcmp(c->problem_of, name)) {
		tell_connected(c);
	}
}

static void got_answer(struct redis_connection *c, const redisReply *reply)
{
	struct command *one = take_first(c);

	if (one->step >= 0) {
		got_login_reply(c, one->step, reply);
	} else {
		note_problem(c, one->name, reply);
		if (one->fn && !c->dead)
			one->fn(c, reply, one->data);
	}
	free(one);
}

static bool is_word(const redisReply *r, const char *word)
{
	return (r->type == REDIS_REPLY_STRING || r->type == REDIS_REPLY_STATUS) && !strcasecmp(r->str, word);
}

/* What a server sends to subscribers: an array that begins with one of these words. Whoever asks commands beside a
 * subscription cannot, in version 2 of the protocol, so an answer is never taken for one of them. */
static bool is_push(const redisReply *r)
{
	static const char *const words[] = { "message", "pmessage", "subscribe", "unsubscribe", "psubscribe",
					     "punsubscribe", "smessage", "ssubscribe", "sunsubscribe" };

	if (r->type != REDIS_REPLY_ARRAY || r->elements < 3)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (is_word(r->element[0], words[i]))
			return true;
	return false;
}

/* One that came in two reads. */
static bool got_message(struct redis_connection *c, const redisReply *r)
{
	size_t at = r->type != REDIS_REPLY_ARRAY ? 0 : r->elements == 3 && is_word(r->element[0], "message") ? 1 :
		    r->elements == 4 && is_word(r->element[0], "pmessage") ? 2 : 0;
	const redisReply *channel = at ? r->element[at] : NULL, *text = at ? r->element[at + 1] : NULL;

	if (!at || channel->type != REDIS_REPLY_STRING || text->type != REDIS_REPLY_STRING)
		return false;
	c->o.message(c, (struct str){ channel->str, (size_t)channel->len }, (struct str){ text->str, (size_t)text->len },
		     c->o.data);
	return true;
}

static void got_reply(struct redis_connection *c, const redisReply *reply)
{
	bool pushed = c->phase == READY && c->o.pushed && (is_push(reply) || !c->first);

	if (c->phase == READY && c->o.message && got_message(c, reply))
		return;
	if (pushed)
		c->o.pushed(c, reply, c->o.data);
	else if (c->first)
		got_answer(c, reply);
	else
		failf(c, "Redis at %s answers what nobody asked; is it a Redis?", c->login.where);
}

/* --- Reading --- */

/* Takes the messages that `bytes` begin with. Returns false if the connection is another one now. */
static bool got_messages(struct redis_connection *c, const char **bytes, size_t *n)
{
	unsigned generation = c->generation;
	struct str channel, text;
	size_t size;

	if (c->phase != READY || !reply_reader_is_empty(c->reader))
		return true;
	while ((size = push_parse(*bytes, *n, &channel, &text))) {
		c->o.message(c, channel, text, c->o.data);
		if (c->generation != generation)
			return false;
		*bytes += size;
		*n -= size;
	}
	return true;
}

/* Returns false if the connection is another one now. */
static bool got_bytes(struct redis_connection *c, const char *bytes, size_t n)
{
	unsigned generation = c->generation;
	redisReply *reply = NULL;
	struct err err;
	int r;

	for (;;) {
		if (c->o.message && !got_messages(c, &bytes, &n))
			return false;
		r = reply_reader_next(c->reader, &bytes, &n, &reply, &err);
		if (r <= 0)
			break;
		got_reply(c, reply);
		freeReplyObject(reply);
		if (c->generation != generation)
			return false;
		if (c->o.message)
			reply_reader_give_back(c->reader, &bytes, &n);
	}
	if (r < 0)
		failf(c, "Redis at %s: %s", c->login.where, err.text);
	return c->generation == generation;
}

static void closed_by_peer(struct redis_connection *c, int e)
{
	const char *why = e ? strerror(e) : "it closed the connection";

	if (c->phase == LOGIN)
		failf(c, "Redis at %s ended the connection before it was ready (%s); is it a Redis, and is it starting?",
		      c->login.where, why);
	else
		failf(c, "Redis at %s: the connection is lost: %s", c->login.where, why);
}

/* Empties the socket, and looks at some of what came. */
static void read_socket(struct redis_connection *c, bool readable)
{
	unsigned generation = c->generation;
	const char *bytes;
	size_t n;

	n = readable ? read_ahead_fill(&c->input, c->fd) : 0;
	c->counters.bytes_in += n;
	if (n)
		c->last_in_ns = clock_monotonic_ns();
	for (int i = 0; i < CHUNKS_PER_TURN && !is_paused(c) && read_ahead_front(&c->input, &bytes, &n); i++) {
		if (!got_bytes(c, bytes, n))
			return;
		read_ahead_drop(&c->input);
	}
	if (c->generation == generation && c->input.ended && !read_ahead_front(&c->input, &bytes, &n))
		closed_by_peer(c, c->input.error);
}

/* --- Connecting --- */

static void try_address(struct redis_connection *c);

static void next_address(struct redis_connection *c, int e)
{
	free(c->last_failure);
	c->last_failure = xstrdup(strerror(e));
	close_socket(c);
	c->address = c->address->ai_next;
	try_address(c);
}

static void start_login(struct redis_connection *c)
{
	c->phase = LOGIN;
	c->deadline_ns = clock_monotonic_ns() + c->o.connect_timeout_ns;
	c->reader = reply_reader_new(c->o.reply_max);
	for (int step = 0; step < REDIS_LOGIN_STEPS; step++) {
		struct redis_login_command command;
		struct err err;
		int r = redis_login_command(&c->login, (enum redis_login_step)step, &command, &err);

		if (r < 0) {
			fail(c, false, err.text);
			return;
		}
		if (r == 0)
			continue;
		queue_command(c, 0, NULL, NULL, step, command.bytes, command.size);
		explicit_bzero(command.bytes, command.size);
		redisFreeCommand(command.bytes);
	}
	c->wants_write = false;
	watch_socket(c);
	if (c->phase == LOGIN)
		flush(c);
}

static void connect_done(struct redis_connection *c)
{
	socklen_t size = sizeof(int);
	int e = 0;

	if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &e, &size) < 0)
		e = errno;
	if (e)
		next_address(c, e);
	else
		start_login(c);
}

/* A peer that vanished is seen by our own questions; the kernel's help is for what waits to be sent. */
static void set_options(const struct redis_connection *c)
{
	const int on = 1;
	const unsigned user_timeout_ms = (unsigned)(2 * c->o.answer_timeout_ns / 1000000);

	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(c->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(c->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout_ms, sizeof(user_timeout_ms));
}

static void try_address(struct redis_connection *c)
{
	const struct addrinfo *a = c->address;

	if (!a) {
		failf(c, "cannot connect to Redis at %s: %s; is it running there? It is tried again", c->login.where,
		      c->last_failure ? c->last_failure : "the name has no address");
		return;
	}
	c->phase = CONNECTING;
	c->deadline_ns = clock_monotonic_ns() + c->o.connect_timeout_ns;
	c->fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->fd < 0) {
		next_address(c, errno);
		return;
	}
	set_options(c);
	if (connect(c->fd, a->ai_addr, a->ai_addrlen) < 0 && errno != EINPROGRESS) {
		next_address(c, errno);
		return;
	}
	c->wants_write = true;
	watch_socket(c);
}

static void resolved(void *data, struct addrinfo *addresses, const struct err *err)
{
	struct redis_connection *c = data;

	enter(c);
	if (!addresses) {
		fail(c, false, err->text);
	} else {
		c->addresses = c->address = addresses;
		try_address(c);
	}
	leave(c);
}

static void start(struct redis_connection *c)
{
	struct err err;

	c->phase = RESOLVING;
	c->deadline_ns = clock_monotonic_ns() + c->o.connect_timeout_ns;
	free(c->last_failure);
	c->last_failure = NULL;
	if (resolve_start(c->login.host, c->login.port, c->loop, resolved, c, &c->resolve, &err) < 0)
		fail(c, false, err.text);
}

static void read_and_flush(struct redis_connection *c, bool readable)
{
	unsigned generation = c->generation;

	if (!is_paused(c))
		read_socket(c, readable);
	if (c->generation == generation)
		flush(c);
}

void redis_connection_drain(struct redis_connection *c, int64_t most_ns)
{
	int64_t until = clock_monotonic_ns() + most_ns;
	unsigned generation = c->generation;
	uint64_t before;

	enter(c);
	do {
		before = c->counters.bytes_in;
		if (c->phase == READY)
			read_and_flush(c, true);
	} while (c->generation == generation && c->phase == READY && (has_input(c) || c->counters.bytes_in > before) &&
		 clock_monotonic_ns() < until);
	leave(c);
}

static void socket_ready(struct watch *w, uint32_t events)
{
	struct redis_connection *c = (struct redis_connection *)((char *)w - offsetof(struct redis_connection, watch));

	enter(c);
	if (c->phase == CONNECTING) {
		connect_done(c);
	} else if (is_paused(c) && (events & (EPOLLHUP | EPOLLERR))) {
		loop_remove(c->loop, w);	/* it would be said again at once; seen when reading goes on */
	} else {
		read_and_flush(c, events & (EPOLLIN | EPOLLHUP | EPOLLERR));
	}
	leave(c);
}

/* --- The clock --- */

static void hung(struct redis_connection *c, const char *asked)
{
	c->counters.hung++;
	if (c->phase == READY)
		failf(c, "Redis at %s does not answer (%s); it is hung, overloaded or cut off. The connection is made anew",
		      c->login.where, asked);
	else if (c->phase == LOGIN)
		failf(c, "Redis at %s accepts connections and does not answer; is it stopped or overloaded? It is tried again",
		      c->login.where);
	else
		failf(c, "cannot find the host '%s': no answer within %.0f s; look at the name server", c->login.host,
		      (double)c->o.connect_timeout_ns / NS_PER_SECOND);
}

static void ping(struct redis_connection *c)
{
	static const char bytes[] = "*1\r\n$4\r\nPING\r\n";

	queue_command(c, 0, NULL, NULL, -1, bytes, sizeof(bytes) - 1);
}

static void watch_peer(struct redis_connection *c, int64_t now)
{
	const int64_t quiet_since = c->first && c->head_ns > c->last_in_ns ? c->head_ns : c->last_in_ns;

	if (c->first && now - quiet_since >= c->first->timeout_ns)
		hung(c, c->first->name);
	else if (!c->first && now - quiet_since >= c->o.ping_after_ns)
		ping(c);
}

static void tick(struct watch *w, uint32_t events)
{
	struct redis_connection *c = (struct redis_connection *)((char *)w - offsetof(struct redis_connection, timer));
	int64_t now = clock_monotonic_ns(), missed = now - c->last_tick_ns - TICK_NS;

	(void)events;
	if (!loop_timer_read(w))
		return;
	c->last_tick_ns = now;
	/* We were stopped or busy ourselves, and what the peer sent meanwhile was not read yet. */
	if (missed > TICK_NS) {
		c->last_in_ns += missed;
		c->head_ns += missed;
		if (c->phase != WAITING)
			c->deadline_ns += missed;
	}
	enter(c);
	if (c->phase == READY && c->o.read_together && !is_paused(c))
		read_and_flush(c, true);
	if (c->phase == READY && !is_paused(c) && !has_input(c))
		watch_peer(c, now);
	else if (c->phase == READY || now < c->deadline_ns)
		;
	else if (c->phase == WAITING)
		start(c);
	else if (c->phase == CONNECTING)
		next_address(c, ETIMEDOUT);
	else
		hung(c, "login");
	if (c->phase >= LOGIN && c->out.size)
		flush(c);
	leave(c);
}

void redis_connection_pause(struct redis_connection *c, bool paused)
{
	if (c->paused == paused)
		return;
	c->paused = paused;
	c->last_in_ns = c->head_ns = clock_monotonic_ns();
	if (c->fd >= 0 && c->phase >= LOGIN)
		watch_what_is_left(c);
}

/* --- Life --- */

int redis_connection_new(const struct redis_connection_options *o, struct loop *loop, struct redis_connection **ret,
			 struct err *err)
{
	struct redis_connection *c = xcalloc(1, sizeof(*c));
	int r;

	c->loop = loop;
	c->o = *o;
	c->fd = c->watch.fd = -1;
	c->watch.ready = socket_ready;
	c->timer.ready = tick;
	c->last = &c->first;
	read_ahead_init(&c->input, o->read_ahead);
	c->last_tick_ns = clock_monotonic_ns();
	c->deadline_ns = 0;
	buf_init(&c->out);
	redis_login_init(&c->login, o->url, o->host, o->port, o->name);
	c->o.url = NULL;
	c->o.host = c->o.name = NULL;
	r = loop_add_timer(loop, &c->timer, TICK_NS, err);
	if (r < 0) {
		redis_connection_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

bool redis_connection_is_ready(const struct redis_connection *c)
{
	return c->phase == READY;
}

const char *redis_connection_where(const struct redis_connection *c)
{
	return c->login.where;
}

const struct redis_connection_counters *redis_connection_counters(const struct redis_connection *c)
{
	return &c->counters;
}

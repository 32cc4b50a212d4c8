/* connection.c: opens, watches and closes a connection. */
#include "connection_private.h"

#include "redis_address.h"
#include "clock.h"
#include "mem.h"

#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>

#define TICK_NS			(NS_PER_SECOND / 4)
#define STABLE_NS		NS_PER_SECOND	/* a connection lost sooner keeps its backoff */
#define PASSING_RETRY_NS	NS_PER_SECOND	/* for temporary problems, such as loading */

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

/* --- Reports to the owner --- */

void connection_report(struct redis_connection *c, bool is_up, const char *text)
{
	if (c->logged && c->logged_up == is_up && !strcmp(c->logged, text))
		return;
	free(c->logged);
	c->logged = xstrdup(text);
	c->logged_up = is_up;
	if (c->o.state && !c->dead)
		c->o.state(c->o.data, is_up, text);
}

void connection_report_connected(struct redis_connection *c)
{
	_cleanup_(freep) char *text = xasprintf("connected to %s", c->login.where);

	c->problem_of[0] = '\0';
	connection_report(c, true, text);
}

/* --- The end of a connection --- */

struct command *connection_take_first(struct redis_connection *c)
{
	struct command *first = c->first;

	c->first = first->next;
	if (!c->first)
		c->last = &c->first;
	c->head_ns = clock_monotonic_ns();
	return first;
}

/* Closes the socket; commands in flight stay in the list. */
static void close_socket(struct redis_connection *c)
{
	c->generation++;
	c->resolve = resolve_cancel(c->resolve);
	loop_remove(c->loop, &c->watch);
	c->tls = redis_tls_free(c->tls);
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->reader = reply_reader_free(c->reader);
	read_ahead_reset(&c->input);
	buf_reset(&c->out);
	c->out_at = 0;
	c->wants_write = false;
}

void connection_free_addresses(struct redis_connection *c)
{
	address_free(c->addresses);
	c->addresses = c->address = NULL;
}

static void destroy(struct redis_connection *c)
{
	while (c->first)
		free(connection_take_first(c));
	close_socket(c);
	connection_free_addresses(c);
	loop_remove_timer(c->loop, &c->timer);
	redis_login_done(&c->login);
	buf_done(&c->out);
	read_ahead_done(&c->input);
	free(c->logged);
	free(c->last_failure);
	free(c);
}

void connection_enter(struct redis_connection *c)
{
	c->entered++;
}

void connection_leave(struct redis_connection *c)
{
	if (--c->entered == 0 && c->dead)
		destroy(c);
}

/* Returns a random time between half of the wait and all of it, so that a fleet does not reconnect at the same moment. */
static int64_t with_jitter(int64_t wait_ns)
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
	c->deadline_ns = now + with_jitter(wait);
}

/* Ends this attempt or connection, and reports it: first to the owner, then to the commands' callers. */
void connection_fail(struct redis_connection *c, bool passes, const char *sentence)
{
	struct command *all = c->first;
	bool was_ready = c->phase == READY;

	if (c->phase == WAITING)
		return;
	c->first = NULL;
	c->last = &c->first;
	close_socket(c);
	connection_free_addresses(c);
	if (was_ready)
		c->counters.lost++;
	else
		c->counters.failed++;
	wait_before_next(c, passes);
	connection_enter(c);
	connection_report(c, false, sentence);
	while (all) {
		struct command *next = all->next;

		if (all->fn && !c->dead)
			all->fn(c, NULL, all->data);
		free(all);
		all = next;
	}
	if (was_ready && c->o.lost && !c->dead)
		c->o.lost(c, c->o.data);
	connection_leave(c);
}

void connection_failf(struct redis_connection *c, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	connection_fail(c, false, text ? text : "the connection to Redis is lost");
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
	connection_fail(c, false, text ? text : "the connection to Redis is dropped");
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

void connection_log_in(struct redis_connection *c)
{
	c->phase = LOGIN;
	c->deadline_ns = clock_monotonic_ns() + c->o.connect_timeout_ns;
	c->reader = reply_reader_new(c->o.reply_max);
	for (int step = 0; step < REDIS_LOGIN_STEPS; step++) {
		struct redis_login_command command;
		struct err err;
		int r = redis_login_command(&c->login, (enum redis_login_step)step, &command, &err);

		if (r < 0) {
			connection_fail(c, false, err.text);
			return;
		}
		if (r == 0)
			continue;
		connection_queue(c, 0, NULL, NULL, step, command.bytes, command.size);
		explicit_bzero(command.bytes, command.size);
		redisFreeCommand(command.bytes);
	}
	c->wants_write = false;
	connection_watch(c);
	if (c->phase == LOGIN)
		connection_flush(c);
}

static void connect_done(struct redis_connection *c)
{
	socklen_t size = sizeof(int);
	int e = 0;

	if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &e, &size) < 0)
		e = errno;
	if (e)
		next_address(c, e);
	else if (c->login.tls.is_wanted)
		connection_start_tls(c);
	else
		connection_log_in(c);
}

/* A vanished peer is detected by our own PINGs; the kernel's timeout covers unsent data. */
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
		connection_failf(c, "cannot connect to Redis at %s: %s; is Redis running? Retrying",
				 c->login.where, c->last_failure ? c->last_failure : "the name has no address");
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
	connection_watch(c);
}

static void resolved(void *data, struct addrinfo *addresses, const struct err *err)
{
	struct redis_connection *c = data;

	connection_enter(c);
	if (!addresses) {
		connection_fail(c, false, err->text);
	} else {
		c->addresses = c->address = addresses;
		try_address(c);
	}
	connection_leave(c);
}

static void start(struct redis_connection *c)
{
	struct err err;

	c->phase = RESOLVING;
	c->deadline_ns = clock_monotonic_ns() + c->o.connect_timeout_ns;
	free(c->last_failure);
	c->last_failure = NULL;
	if (resolve_start(c->login.host, c->login.port, c->loop, resolved, c, &c->resolve, &err) < 0)
		connection_fail(c, false, err.text);
}

static void read_and_flush(struct redis_connection *c, bool readable)
{
	unsigned generation = c->generation;

	if (!connection_is_paused(c))
		connection_read(c, readable);
	if (c->generation == generation)
		connection_flush(c);
}

void redis_connection_drain(struct redis_connection *c, int64_t max_ns)
{
	int64_t until = clock_monotonic_ns() + max_ns;
	unsigned generation = c->generation;
	uint64_t before;

	connection_enter(c);
	do {
		before = c->counters.bytes_in;
		if (c->phase == READY)
			read_and_flush(c, true);
	} while (c->generation == generation && c->phase == READY &&
		 (connection_has_input(c) || c->counters.bytes_in > before) && clock_monotonic_ns() < until);
	connection_leave(c);
}

static void socket_ready(struct watch *w, uint32_t events)
{
	struct redis_connection *c = (struct redis_connection *)((char *)w - offsetof(struct redis_connection, watch));

	connection_enter(c);
	if (c->phase == CONNECTING) {
		connect_done(c);
	} else if (c->phase == TLS_HANDSHAKE) {
		connection_continue_tls(c);
	} else if (connection_is_paused(c) && (events & (EPOLLHUP | EPOLLERR))) {
		loop_remove(c->loop, w);	/* level-triggered: would fire again at once; noticed when reading resumes */
	} else {
		read_and_flush(c, events & (EPOLLIN | EPOLLHUP | EPOLLERR));
	}
	connection_leave(c);
}

/* --- The clock --- */

static void fail_on_timeout(struct redis_connection *c, const char *command)
{
	c->counters.hung++;
	if (c->phase == READY)
		connection_failf(c, "Redis at %s does not answer (%s); it is hung, overloaded or unreachable; "
				    "reconnecting",
				 c->login.where, command);
	else if (c->phase == LOGIN)
		connection_failf(c, "Redis at %s accepts connections and does not answer; is it stopped or "
				    "overloaded? Retrying",
				 c->login.where);
	else if (c->phase == TLS_HANDSHAKE)
		connection_failf(c, "Redis at %s accepts connections but does not answer the TLS handshake; "
				    "does it speak "
				    "TLS on this port? Retrying",
				 c->login.where);
	else
		connection_failf(c, "cannot find the host '%s': no answer within %.0f s; check the name server",
				 c->login.host, (double)c->o.connect_timeout_ns / NS_PER_SECOND);
}

static void ping(struct redis_connection *c)
{
	static const char bytes[] = "*1\r\n$4\r\nPING\r\n";

	connection_queue(c, 0, NULL, NULL, -1, bytes, sizeof(bytes) - 1);
}

static void watch_peer(struct redis_connection *c, int64_t now)
{
	const int64_t quiet_since = c->first && c->head_ns > c->last_in_ns ? c->head_ns : c->last_in_ns;

	if (c->first && now - quiet_since >= c->first->timeout_ns)
		fail_on_timeout(c, c->first->name);
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
	/* We were stopped or busy ourselves, so there may be unread input from the peer. */
	if (missed > TICK_NS) {
		c->last_in_ns += missed;
		c->head_ns += missed;
		if (c->phase != WAITING)
			c->deadline_ns += missed;
	}
	connection_enter(c);
	if (c->phase == READY && c->o.read_together && !connection_is_paused(c))
		read_and_flush(c, true);
	if (c->phase == READY && !connection_is_paused(c) && !connection_has_input(c))
		watch_peer(c, now);
	else if (c->phase == READY || now < c->deadline_ns)
		;
	else if (c->phase == WAITING)
		start(c);
	else if (c->phase == CONNECTING)
		next_address(c, ETIMEDOUT);
	else
		fail_on_timeout(c, "login");
	if (c->phase >= LOGIN && c->out.size)
		connection_flush(c);
	connection_leave(c);
}

void redis_connection_pause(struct redis_connection *c, bool paused)
{
	if (c->paused == paused)
		return;
	c->paused = paused;
	c->last_in_ns = c->head_ns = clock_monotonic_ns();
	if (c->fd >= 0 && c->phase >= LOGIN)
		connection_update_watch(c);
}

/* --- Lifecycle --- */

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

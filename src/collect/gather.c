/* gather.c: connections in their own epoll, which the loop watches, or polls by a timer. */

#include "gather.h"

#include "clock.h"
#include "mem.h"

#include <assert.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS_AT_ONCE	64
#define POLLS_MAX	64	/* after a pause; then other watches get their turn */

struct gather {
	struct loop *loop;
	int epoll_fd;				/* watches the connections */
	struct watch ready;			/* epoll_fd in the loop; its fd is -1 during pauses */
	struct watch timer;			/* runs during pauses only */

	unsigned steady;				/* number of previous periods in a row that were worth a
							 * pause */
	uint32_t period;			/* number of this period, from 1 */
	int64_t since_ns;			/* start of this period, monotonic */
	unsigned messages;			/* in this period */
	size_t bytes;
	size_t most;				/* the most buffer space that one sender took in it */
	bool overloaded;				/* more data arrived than one turn could read */
	int64_t pause_ns;			/* 0: no pauses */
};

static unsigned poll_all(struct gather *g)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = epoll_wait(g->epoll_fd, events, EVENTS_AT_ONCE, 0);

	for (int i = 0; i < n; i++) {
		struct watch *w = events[i].data.ptr;

		w->ready(w, events[i].events);
	}
	return n > 0 ? (unsigned)n : 0;
}

/* --- Breaks --- */

int64_t gather_pause_ns(const struct gather *g)
{
	return g->pause_ns;
}

static void set_timer(struct gather *g, int64_t period_ns)
{
	const struct timespec period = { 0, period_ns };
	const struct itimerspec t = { .it_interval = period, .it_value = period };

	timerfd_settime(g->timer.fd, 0, &t, NULL);
}

/* Starts pauses, or changes their length. */
static void set_pause(struct gather *g, int64_t length_ns)
{
	assert(length_ns >= GATHER_PAUSE_MIN_NS && length_ns <= GATHER_PERIOD_NS);
	if (!g->pause_ns)
		loop_remove(g->loop, &g->ready);
	if (g->pause_ns != length_ns)
		set_timer(g, length_ns);
	g->pause_ns = length_ns;
}

/* If the watch cannot be added, pauses continue. */
static void end_pauses(struct gather *g)
{
	g->ready.fd = g->epoll_fd;
	if (loop_add(g->loop, &g->ready, EPOLLIN, NULL) < 0) {
		g->ready.fd = -1;
		return;
	}
	set_timer(g, 0);
	g->pause_ns = 0;
}

/* A period without data at its end does not predict the next one. */
static bool is_pause_worthwhile(const struct gather *g, int64_t now)
{
	return g->messages >= GATHER_MESSAGES && g->bytes <= GATHER_BYTES && !g->overloaded &&
	       now - g->since_ns < 2 * (int64_t)GATHER_PERIOD_NS;
}

/* Returns a length in which no sender takes more than GATHER_SENDER_ROOM at its rate in this period. */
static int64_t pause_length(const struct gather *g)
{
	int64_t ns = g->most <= GATHER_SENDER_ROOM ? GATHER_PERIOD_NS :
						     (int64_t)GATHER_PERIOD_NS * GATHER_SENDER_ROOM / (int64_t)g->most;

	return ns > GATHER_PAUSE_MIN_NS ? ns : GATHER_PAUSE_MIN_NS;
}

/* `is_over`: pauses have the full length, so the timer marks the end of a period. */
static void decide(struct gather *g, bool is_over)
{
	int64_t now = clock_monotonic_ns();

	if (!is_over && now - g->since_ns < GATHER_PERIOD_NS)
		return;
	g->steady = is_pause_worthwhile(g, now) ? g->steady + 1 : 0;
	if (g->steady >= GATHER_STEADY)
		set_pause(g, pause_length(g));
	else if (!g->steady && g->pause_ns)
		end_pauses(g);
	g->since_ns = now;
	g->period++;
	g->messages = 0;
	g->bytes = g->most = 0;
	g->overloaded = false;
}

static void on_readable(struct watch *w, uint32_t events)
{
	struct gather *g = (struct gather *)((char *)w - offsetof(struct gather, ready));

	poll_all(g);
	decide(g, false);
}

static void on_timer(struct watch *w, uint32_t events)
{
	struct gather *g = (struct gather *)((char *)w - offsetof(struct gather, timer));

	unsigned polls = 0;

	loop_timer_read(w);
	while (polls < POLLS_MAX && poll_all(g))
		polls++;
	g->overloaded |= polls == POLLS_MAX;
	decide(g, g->pause_ns == GATHER_PERIOD_NS);
}

/* --- Input --- */

bool gather_noted(const struct gather *g, const struct gather_sender *s)
{
	return s->period == g->period;
}

void gather_note(struct gather *g, struct gather_sender *s, size_t bytes)
{
	if (!gather_noted(g, s)) {
		s->period = g->period;
		s->space = 0;
	}
	s->space += gather_space(bytes);
	g->messages++;
	g->bytes += bytes;
	if (s->space > g->most)
		g->most = s->space;
}

int gather_add(struct gather *g, struct gather_sender *s, uint32_t events, struct err *err)
{
	struct epoll_event e = { .events = events, .data.ptr = &s->watch };

	assert(s->watch.ready);
	if (epoll_ctl(g->epoll_fd, EPOLL_CTL_ADD, s->watch.fd, &e) < 0)
		return err_set(err, -errno, "cannot watch descriptor %d: %s", s->watch.fd, strerror(errno));
	return 0;
}

void gather_remove(struct gather *g, struct gather_sender *s)
{
	if (s->watch.fd >= 0)
		epoll_ctl(g->epoll_fd, EPOLL_CTL_DEL, s->watch.fd, NULL);
	s->watch.fd = -1;
}

/* --- Lifecycle --- */

static int open_timer(struct gather *g, struct err *err)
{
	int r = loop_add_timer(g->loop, &g->timer, GATHER_PERIOD_NS, err);

	if (r >= 0)
		set_timer(g, 0);
	return r;
}

int gather_new(struct loop *l, struct gather **ret, struct err *err)
{
	struct gather *g = xcalloc(1, sizeof(*g));
	int r;

	g->loop = l;
	g->ready = (struct watch){ .ready = on_readable, .fd = -1 };
	g->timer = (struct watch){ .ready = on_timer, .fd = -1 };
	g->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (g->epoll_fd < 0)
		r = err_set(err, -errno, "cannot watch connections: epoll_create1: %s", strerror(errno));
	else
		r = open_timer(g, err);
	if (r >= 0) {
		g->ready.fd = g->epoll_fd;
		r = loop_add(l, &g->ready, EPOLLIN, err);
		if (r < 0)
			g->ready.fd = -1;
	}
	if (r < 0) {
		gather_free(g);
		return r;
	}
	g->since_ns = clock_monotonic_ns();
	g->period = 1;
	*ret = g;
	return 0;
}

struct gather *gather_free(struct gather *g)
{
	if (!g)
		return NULL;
	loop_remove(g->loop, &g->ready);
	loop_remove_timer(g->loop, &g->timer);
	if (g->epoll_fd >= 0)
		close(g->epoll_fd);
	free(g);
	return NULL;
}

/* loop.c: epoll, and the signals and timers that come through it as descriptors. */
#include "loop.h"
#include "mem.h"
#include <assert.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#define EVENTS_AT_ONCE 64

struct loop {
	int epoll_fd;
	bool stopped;
	int status;

	/* The events of this turn not delivered yet; loop_remove deletes those of removed watches. */
	struct epoll_event events[EVENTS_AT_ONCE];
	int event_count, event_at;

	struct watch signals;
	void (*on_signal)(int signo, void *data);
	void *signal_data;
};

struct loop *loop_new(struct err *err)
{
	struct loop *l = xcalloc(1, sizeof(*l));

	l->signals.fd = -1;
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll_fd < 0) {
		err_set(err, -errno, "cannot create an event loop: epoll_create1: %s", strerror(errno));
		return loop_free(l);
	}
	return l;
}

struct loop *loop_free(struct loop *l)
{
	if (!l)
		return NULL;
	if (l->signals.fd >= 0)
		close(l->signals.fd);
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
	free(l);
	return NULL;
}

int loop_add(struct loop *l, struct watch *w, uint32_t events, struct err *err)
{
	struct epoll_event e = { .events = events, .data.ptr = w };

	assert(w->ready);
	if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, w->fd, &e) < 0)
		return err_set(err, -errno, "cannot watch descriptor %d: %s", w->fd, strerror(errno));
	return 0;
}

void loop_remove(struct loop *l, struct watch *w)
{
	if (w->fd < 0)
		return;
	epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
	for (int i = l->event_at; i < l->event_count; i++)
		if (l->events[i].data.ptr == w)
			l->events[i].data.ptr = NULL;
	w->fd = -1;
}

int loop_add_timer(struct loop *l, struct watch *w, int64_t period_ns, struct err *err)
{
	const struct timespec period = { period_ns / 1000000000, period_ns % 1000000000 };
	const struct itimerspec t = { .it_interval = period, .it_value = period };
	int r;

	assert(period_ns > 0);
	w->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (w->fd < 0 || timerfd_settime(w->fd, 0, &t, NULL) < 0) {
		r = err_set(err, -errno, "cannot create a timer: %s", strerror(errno));
		fd_closep(&w->fd);
		w->fd = -1;
		return r;
	}
	r = loop_add(l, w, EPOLLIN, err);
	if (r < 0) {
		close(w->fd);
		w->fd = -1;
	}
	return r;
}

void loop_remove_timer(struct loop *l, struct watch *w)
{
	int fd = w->fd;

	if (fd < 0)
		return;
	loop_remove(l, w);
	close(fd);
}

uint64_t loop_timer_read(struct watch *w)
{
	uint64_t n;

	return read(w->fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static void signal_ready(struct watch *w, uint32_t events)
{
	struct loop *l = (struct loop *)((char *)w - offsetof(struct loop, signals));
	struct signalfd_siginfo info;

	(void)events;
	while (l->signals.fd >= 0 && read(l->signals.fd, &info, sizeof(info)) == sizeof(info))
		l->on_signal((int)info.ssi_signo, l->signal_data);
}

int loop_on_signals(struct loop *l, void (*got)(int signo, void *data), void *data, int also, struct err *err)
{
	sigset_t set;
	int r;

	assert(l->signals.fd < 0);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (also)
		sigaddset(&set, also);
	l->on_signal = got;
	l->signal_data = data;
	l->signals.ready = signal_ready;
	l->signals.fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (l->signals.fd < 0)
		return err_set(err, -errno, "cannot watch for signals: %s", strerror(errno));
	r = loop_add(l, &l->signals, EPOLLIN, err);
	if (r < 0) {
		close(l->signals.fd);
		l->signals.fd = -1;
		return r;
	}
	/* Blocked last: if they cannot be watched, they must still end the program. */
	sigprocmask(SIG_BLOCK, &set, NULL);
	return 0;
}

int loop_run(struct loop *l, struct err *err)
{
	l->stopped = false;
	while (!l->stopped) {
		int n = epoll_wait(l->epoll_fd, l->events, EVENTS_AT_ONCE, -1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, -errno, "cannot wait for events: %s", strerror(errno));
		l->event_count = n;
		for (l->event_at = 0; l->event_at < n && !l->stopped;) {
			struct epoll_event *e = &l->events[l->event_at++];
			struct watch *w = e->data.ptr;

			if (w)
				w->ready(w, e->events);
		}
		l->event_count = l->event_at = 0;
	}
	return l->status;
}

void loop_stop(struct loop *l, int status)
{
	l->stopped = true;
	l->status = status;
}

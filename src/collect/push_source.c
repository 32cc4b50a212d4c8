/* push_source.c: a list of pushes that wait for the loop, and a descriptor that wakes it. */
#include "push_source.h"

#include "clock.h"
#include "lock.h"
#include "mem.h"
#include "open_batch.h"

#include <assert.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PATIENCE_NS	(10 * NS_PER_SECOND)	/* timeout of the caller; the loop is never busy for this long */

/* On the stack of the waiting thread. */
struct push {
	const uint8_t *bytes;
	size_t size;
	size_t folded_series;
	uint64_t cost;				/* sum over its messages, as the queue counts it */
	bool is_done;
	int result;				/* 0, or why nothing was taken … */
	struct err err;				/* … in a sentence, if it is -EAGAIN */
	struct push *next;
};

struct push_source {
	struct source base;
	struct watch wake;
	struct lock lock;
	pthread_cond_t done;
	struct push *first, **last;		/* under the lock, as is what follows */
	bool stopped;
};

static void measure(struct push *p)
{
	struct intern series;
	struct buf key;

	intern_init(&series);
	buf_init(&key);
	for (size_t at = 0, n; at < p->size; at += n) {
		struct strobe_wire_message m;
		enum strobe_wire_error e;

		n = strobe_wire_first(p->bytes + at, p->size - at);
		e = strobe_wire_parse(p->bytes + at, n, &m);
		assert(!e);	/* encoded by this program */
		(void)e;
		p->cost += open_batch_cost_of(&m);
		buf_reset(&key);
		open_batch_folded_key(&key, &m, (int64_t)(m.info.end_ns / BATCH_BUCKET_NS));
		intern_add(&series, key.data, key.size);
	}
	p->folded_series = series.count;
	buf_done(&key);
	intern_done(&series);
}

/* Called under the lock, so that the caller cannot return meanwhile. */
static int take(struct push_source *s, struct push *p)
{
	const struct source_receiver *r = &s->base.receiver;
	int room;

	if (s->stopped)
		return err_set(&p->err, -EAGAIN, "the daemon is shutting down; retry later");
	/* Checks `room` and not `full`, which is for data that can wait: one sink that is down must not keep data
	 * from the others. */
	if ((room = r->room(r->data, p->folded_series, p->cost, &p->err)) < 0)
		return room;
	for (size_t at = 0, n; at < p->size; at += n) {
		enum strobe_wire_error e;

		n = strobe_wire_first(p->bytes + at, p->size - at);
		e = source_message(&s->base, (struct message_metadata){ 0 }, p->bytes + at, n);
		assert(!e);
		(void)e;
	}
	return 0;
}

static void take_all(struct push_source *s)
{
	lock_take(&s->lock);
	for (struct push *p = s->first; p; p = p->next) {
		p->result = take(s, p);
		p->is_done = true;
	}
	s->first = NULL;
	s->last = &s->first;
	pthread_cond_broadcast(&s->done);
	lock_release(&s->lock);
}

static void woken(struct watch *w, uint32_t events)
{
	struct push_source *s = (struct push_source *)((char *)w - offsetof(struct push_source, wake));
	eventfd_t n;

	(void)events;
	eventfd_read(w->fd, &n);
	take_all(s);
}

static void forget(struct push_source *s, struct push *p)
{
	struct push **at = &s->first;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	if (!p->next)
		s->last = at;
}

static void wait_for_loop(struct push_source *s, struct push *p)
{
	int64_t end_ns = clock_wall_ns() + PATIENCE_NS;
	struct timespec until = { end_ns / NS_PER_SECOND, end_ns % NS_PER_SECOND };

	while (!p->is_done && clock_wall_ns() < end_ns)
		lock_wait(&s->lock, &s->done, &until);
	if (!p->is_done)
		forget(s, p);
}

int push_source_submit(struct source *base, enum source_push_protocol protocol, const void *messages, size_t n, struct err *err)
{
	struct push_source *s = (struct push_source *)base;
	struct push p = { .bytes = messages, .size = n, .result = -EAGAIN };

	err_set(&p.err, -EAGAIN, "the daemon is busy or shutting down; retry later");
	assert(protocol < SOURCE_PUSH_PROTOCOLS);
	measure(&p);
	lock_take(&s->lock);
	if (!s->stopped) {
		*s->last = &p;
		s->last = &p.next;
		eventfd_write(s->wake.fd, 1);
		wait_for_loop(s, &p);
	}
	lock_release(&s->lock);
	if (p.result == -E2BIG)
		return err_set(err, p.result, "the samples need %llu MB of memory, more than the queue may hold; send fewer stacks at once, or "
			       "raise queue-bytes", (unsigned long long)(p.cost >> 20));
	if (p.result == -ENOSPC)
		return err_set(err, -E2BIG, "the samples are of %zu combinations of 10 seconds, clock, period and columns, above the limit "
			       "of series; send fewer at once", p.folded_series);
	if (p.result < 0)
		return err_set(err, -EAGAIN, "%s", p.err.text);
	base->counters.pushes[protocol]++;
	return 0;
}

static void stop(struct source *base)
{
	struct push_source *s = (struct push_source *)base;

	take_all(s);
	lock_take(&s->lock);
	s->stopped = true;
	lock_release(&s->lock);
	take_all(s);
}

static struct source *close_source(struct source *base)
{
	struct push_source *s = (struct push_source *)base;

	stop(base);
	if (s->wake.fd >= 0) {
		int fd = s->wake.fd;

		loop_remove(base->loop, &s->wake);
		close(fd);
	}
	pthread_cond_destroy(&s->done);
	lock_done(&s->lock);
	source_done(base);
	free(s);
	return NULL;
}

static const struct source_ops push_source_ops = {
	.scheme = "http",
	.stop = stop,
	.close = close_source,
};

int push_source_open(struct loop *loop, const struct source_receiver *receiver, struct source **ret, struct err *err)
{
	struct push_source *s = xcalloc(1, sizeof(*s));
	int r;

	s->base = (struct source){ .ops = &push_source_ops, .url = xstrdup("http:"), .receiver = *receiver, .loop = loop };
	s->last = &s->first;
	s->wake = (struct watch){ .ready = woken, .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	lock_init(&s->lock);
	pthread_cond_init(&s->done, NULL);
	r = s->wake.fd < 0 ? err_set(err, -errno, "cannot make an eventfd for pushes: %m") :
		loop_add(loop, &s->wake, EPOLLIN, err);
	if (r < 0) {
		if (s->wake.fd >= 0)
			close(s->wake.fd);
		s->wake.fd = -1;
		close_source(&s->base);
		return r;
	}
	source_set_state(&s->base, true, "accepting pushes");
	*ret = &s->base;
	return 0;
}

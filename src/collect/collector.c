/* collector.c: the open batch, and the combined outcome of all sinks. */

#include "collector.h"

#include "clock.h"
#include "collector_private.h"
#include "log.h"
#include "mem.h"

#include <assert.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#define MERGE_BYTES	((size_t)128 << 10)	/* messages merged at once, in 0.4 ms */

void collector_default_options(struct collector_options *o)
{
	*o = (struct collector_options){
		.commit_ns = NS_PER_SECOND,
		.queue_bytes = (uint64_t)256 << 20,
		.max_series = 10000,
		.max_label_values = 1000,
		.drain_ns = 5 * 60 * NS_PER_SECOND,
	};
}

/* --- Outcomes of batches and runs, under the lock --- */

void collector_wake(struct collector *c)
{
	uint64_t one = 1;

	if (write(c->wake.fd, &one, sizeof(one)) != sizeof(one))
		log_debug("the loop is awake already");
}

bool collector_samples_balance(const struct collector_counters *n)
{
	return n->samples_received == n->samples_stored + n->samples_queued + n->samples_dropped_queue + n->samples_dropped_rejected;
}

static bool runs_balance(const struct collector_counters *n)
{
	return n->runs_received == n->runs_stored + n->runs_deduplicated + n->runs_queued + n->runs_dropped_queue +
					   n->runs_dropped_rejected + n->runs_dropped_conflict;
}

static bool source_balances(const struct source_counters *n)
{
	return n->samples_received == n->samples_stored + n->samples_dropped + n->samples_in_flight;
}

static void batch_done(struct collector *c, struct open_batch *b)
{
	assert(lock_is_held(&c->lock));
	if (!b->closed || b->sinks_left || b->runs_left)
		return;
	b->next = NULL;
	*c->last_done = b;
	c->last_done = &b->next;
	collector_wake(c);
}

void collector_batch_finished(struct collector *c, struct open_batch *b)
{
	assert(b->closed && b->sinks_left > 0);
	b->sinks_left--;
	batch_done(c, b);
}

void collector_run_finished(struct collector *c, struct open_run *r)
{
	struct collector_counters *n = &c->counters;

	assert(lock_is_held(&c->lock) && r->sinks_left > 0);
	if (--r->sinks_left)
		return;
	assert(n->runs_queued > 0 && n->queue_bytes >= r->size);
	n->runs_stored += r->best == 1;
	n->runs_deduplicated += r->best == 0;
	n->runs_dropped_conflict += r->best == -EEXIST;
	n->runs_dropped_queue += r->best == -ENOBUFS;
	n->runs_dropped_rejected += r->best < 0 && r->best != -EEXIST && r->best != -ENOBUFS;
	n->runs_queued--;
	n->queue_bytes -= r->size;
	if (r->batch) {
		assert(r->batch->runs_left > 0);
		r->batch->runs_left--;
		batch_done(c, r->batch);
	}
	free(r);
}

static unsigned put_run(struct collector *c, struct open_run *r)
{
	unsigned n = 0;

	for (size_t i = 0; i < c->sink_count; i++)
		n += c->active[i]->sink.commit_runs != NULL;
	assert(lock_is_held(&c->lock) && !r->sinks_left);
	r->sinks_left = n;
	for (size_t i = 0; i < c->sink_count; i++)
		if (c->active[i]->sink.commit_runs)
			sink_worker_put_run(c->active[i], r);
	return n;
}

bool collector_hand_run(struct collector *c, struct open_run *r)
{
	if (put_run(c, r))
		return true;
	r->sinks_left = 1;
	collector_run_finished(c, r);
	return false;
}

void collector_update_failing(struct collector *c)
{
	bool samples = false, runs = false;

	assert(lock_is_held(&c->lock));
	for (size_t i = 0; i < COLLECTOR_SINKS; i++) {
		const struct sink_worker *o = &c->sink_workers[i];

		samples |= o->counters.failing && !o->removed;
		runs |= o->counters.runs_failing && !o->removed;
	}
	c->counters.failing = samples;
	c->counters.runs_failing = runs;
}

/* --- The loop's thread: batches that all sinks are done with --- */

static void count_done(struct collector_counters *n, const struct open_batch *b)
{
	assert(b->closed && !b->sinks_left && !b->runs_left);
	assert(n->samples_queued >= b->samples && n->queue_bytes >= b->counted_bytes);
	if (b->kept)
		n->samples_stored += b->samples;
	else if (b->rejected)
		n->samples_dropped_rejected += b->samples;
	else
		n->samples_dropped_queue += b->samples;
	n->samples_queued -= b->samples;
	n->queue_bytes -= b->counted_bytes;
}

static void acknowledge(struct collector *c, const struct open_batch *b)
{
	for (size_t i = 0; i < b->share_count; i++) {
		const struct open_batch_share *share = &b->shares[i];
		struct source_counters *n = &share->source->counters;

		assert(n->samples_in_flight >= share->samples && share->source->batches > 0);
		if (b->kept)
			n->samples_stored += share->samples;
		else
			n->samples_dropped += share->samples;
		n->samples_in_flight -= share->samples;
		assert(source_balances(n));
		share->source->batches--;
		if (share->ack_token_count && share->source->ops->ack)
			ack_tokens_return(c, b->batch.id, share);
	}
}

static void finish_done(struct collector *c)
{
	struct open_batch *b;

	lock_take(&c->lock);
	assert(runs_balance(&c->counters));
	b = c->done;
	c->done = NULL;
	c->last_done = &c->done;
	lock_release(&c->lock);
	while (b) {
		struct open_batch *next = b->next;

		count_done(&c->counters, b);
		acknowledge(c, b);
		open_batch_free(b);
		b = next;
	}
	assert(collector_samples_balance(&c->counters));
}

/* --- The loop's thread: closing --- */

/* Ids differ from those before a restart, or the store would take a new batch for a replay of an old one. */
uint64_t collector_take_id(struct collector *c)
{
	uint64_t id = c->next_id++;

	return id ? id : c->next_id++;
}

void collector_count_bytes(struct collector *c, struct open_batch *b)
{
	assert(c->counters.queue_bytes >= b->counted_bytes);
	c->counters.queue_bytes += b->bytes - b->counted_bytes;
	b->counted_bytes = b->bytes;
}

static bool has_ack_tokens(const struct open_batch *b)
{
	for (size_t i = 0; i < b->share_count; i++)
		if (b->shares[i].ack_token_count)
			return true;
	return false;
}

uint64_t collector_shortest_queue(const struct collector *c)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < c->sink_count; i++)
		if (c->active[i]->counters.queue_bytes < least)
			least = c->active[i]->counters.queue_bytes;
	return least;
}

/* If its queue is full, a sink that is slower than others misses the batch, unless the batch has ack tokens. */
void collector_hand_to_sinks(struct collector *c, struct open_batch *b)
{
	uint64_t least = collector_shortest_queue(c);
	bool must = has_ack_tokens(b);

	assert(lock_is_held(&c->lock) && b->closed && !b->sinks_left);
	b->sinks_left = (unsigned)c->sink_count;
	for (size_t i = 0; i < c->sink_count; i++) {
		struct sink_worker *o = c->active[i];

		o->counters.samples_handed += b->samples;
		if (!must && o->counters.queue_bytes > least &&
		    o->counters.queue_bytes + b->bytes > c->options.queue_bytes) {
			o->counters.samples_dropped_queue += b->samples;
			collector_batch_finished(c, b);
		} else {
			sink_worker_put_batch(o, b);
		}
	}
}

static void hand_over(struct collector *c, struct open_batch *b)
{
	open_batch_seal(b);
	collector_count_bytes(c, b);
	lock_take(&c->lock);
	assert(!b->closed);		/* handed over only once, and again only if no sink has it */
	b->closed = true;
	collector_hand_to_sinks(c, b);
	pthread_cond_broadcast(&c->changed);
	lock_release(&c->lock);
}

/* Merges a part of the closing batches, and hands over finished ones. Returns whether there is more. */
static bool continue_closing(struct collector *c, size_t bytes)
{
	struct open_batch *b = c->closing;

	if (b && !open_batch_merge_some(b, bytes)) {
		c->closing = b->next;
		if (!c->closing)
			c->last_closing = &c->closing;
		hand_over(c, b);
	}
	return c->closing;
}

void collector_close_batch(struct collector *c, struct open_batch *b)
{
	assert(b != c->open && !b->closed);
	b->next = NULL;
	*c->last_closing = b;
	c->last_closing = &b->next;
	collector_wake(c);
}

static void close_all(struct collector *c)
{
	struct open_batch *b = c->open;

	for (struct redeliverable *t = c->redeliverable; t; t = t->next)
		ack_tokens_close(c, t);
	if (!b->batch.count && !b->share_count)
		return;
	c->open = open_batch_new(collector_take_id(c));
	collector_close_batch(c, b);
}

void collector_close_batches(struct collector *c)
{
	close_all(c);
	while (continue_closing(c, SIZE_MAX))
		;
}

static void tick(struct watch *w, uint32_t events)
{
	struct collector *c = (struct collector *)((char *)w - offsetof(struct collector, timer));

	loop_timer_read(w);
	while (continue_closing(c, SIZE_MAX))
		;
	close_all(c);
	for (struct redeliverable *t = c->redeliverable; t; t = t->next)
		ack_tokens_end_confirmed(c, t);
}

static void woken(struct watch *w, uint32_t events)
{
	struct collector *c = (struct collector *)((char *)w - offsetof(struct collector, wake));
	uint64_t n;

	if (read(w->fd, &n, sizeof(n)) == sizeof(n))
		finish_done(c);
	/* Merges a little at a time, so that senders need not wait. */
	if (continue_closing(c, MERGE_BYTES))
		collector_wake(c);
	collector_reap(c);
}

/* --- Lifecycle --- */

static int init_lock(struct collector *c, struct err *err)
{
	pthread_condattr_t attributes;

	lock_init(&c->lock);
	lock_init(&c->record_lock);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	if (pthread_cond_init(&c->changed, &attributes)) {
		lock_done(&c->lock);
		lock_done(&c->record_lock);
		return err_set(err, -ENOMEM, "cannot create a condition variable for the collector");
	}
	pthread_condattr_destroy(&attributes);
	c->has_lock = true;
	return 0;
}

static int init_wake(struct collector *c, struct err *err)
{
	int r;

	c->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (c->wake_fd < 0)
		return err_set(err, -errno, "cannot create an eventfd for the collector: %s", strerror(errno));
	c->wake.fd = c->wake_fd;
	r = loop_add(c->loop, &c->wake, EPOLLIN, err);
	return r;
}

static int start(struct collector *c, const struct collector_sink *sinks, size_t count, struct err *err)
{
	struct sink_worker *o;
	int r;

	if ((r = init_lock(c, err)) < 0 || (r = init_wake(c, err)) < 0 ||
	    (r = loop_add_timer(c->loop, &c->timer, c->options.commit_ns, err)) < 0)
		return r;
	if (c->options.journal && (r = journal_open(c->options.journal, &c->journal, err)) < 0)
		return r;
	for (size_t i = 0; i < count; i++)
		if ((r = collector_add_sink(c, &sinks[i], &o, err)) < 0)
			return r;
	return 0;
}

int collector_new(const struct collector_sink *sinks, size_t count, const struct collector_options *o,
		  struct loop *loop, struct collector **ret, struct err *err)
{
	struct collector *c = xcalloc(1, sizeof(*c));
	int r;

	assert(count >= 1 && count <= COLLECTOR_SINKS && o->commit_ns > 0 && o->max_series > 0 &&
	       o->max_label_values > 0);
	c->options = *o;
	c->loop = loop;
	c->timer = (struct watch){ .ready = tick, .fd = -1 };
	c->wake = (struct watch){ .ready = woken, .fd = -1 };
	c->wake_fd = -1;
	c->max_open_batches = COLLECTOR_OPEN_BATCHES;
	c->last_done = &c->done;
	c->last_closing = &c->closing;
	c->caps = label_caps_new(o->max_label_values, &c->counters.label_values_folded, &c->counters.labels_dropped);
	c->dict = line_dict_new();
	c->rules = (struct open_batch_rules){ .max_series = o->max_series, .caps = c->caps, .dict = c->dict };
	if (getrandom(&c->next_id, sizeof(c->next_id), 0) != sizeof(c->next_id))
		c->next_id = (uint64_t)clock_wall_ns() << 8;
	c->open = open_batch_new(collector_take_id(c));
	r = start(c, sinks, count, err);
	if (r < 0) {
		collector_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

static bool is_any_sink_busy(const struct collector *c)
{
	for (size_t i = 0; i < COLLECTOR_SINKS; i++)
		if (sink_worker_is_busy(&c->sink_workers[i]))
			return true;
	return false;
}

static bool is_any_sink_committing(const struct collector *c)
{
	for (size_t i = 0; i < COLLECTOR_SINKS; i++)
		if (c->sink_workers[i].committing)
			return true;
	return false;
}

uint64_t collector_flush(struct collector *c, int64_t timeout_ns)
{
	int64_t until = clock_monotonic_ns() + timeout_ns;

	assert(!lock_is_held(&c->lock));
	collector_close_batches(c);
	for (struct redeliverable *t = c->redeliverable; t; t = t->next)
		ack_tokens_forget_replays(c, t);
	lock_take(&c->lock);
	c->flushing = true;
	c->paused = false;
	pthread_cond_broadcast(&c->changed);
	while (is_any_sink_busy(c) && clock_monotonic_ns() < until)
		collector_wait(c, until);
	/* collector_free waits for commits in progress, so they must not be reported as lost. */
	c->paused = is_any_sink_busy(c);
	while (is_any_sink_committing(c))
		collector_wait(c, 0);
	c->flushing = false;
	pthread_cond_broadcast(&c->changed);
	lock_release(&c->lock);
	finish_done(c);
	return c->counters.samples_queued + c->counters.runs_queued;
}

static uint64_t count_unstored(struct sink_worker *o)
{
	uint64_t n = 0;

	for (struct queued_batch *q = o->first; q; q = q->next) {
		n += q->batch->kept || q->batch->noted ? 0 : q->batch->samples;
		q->batch->noted = true;
	}
	for (struct queued_run *q = o->first_run; q; q = q->next) {
		n += q->run->best < 0 && !q->run->noted;
		q->run->noted = true;
	}
	return n;
}

static void forget_noted(struct sink_worker *o)
{
	for (struct queued_batch *q = o->first; q; q = q->next)
		q->batch->noted = false;
	for (struct queued_run *q = o->first_run; q; q = q->next)
		q->run->noted = false;
}

uint64_t collector_unstored(struct collector *c)
{
	uint64_t n = 0;

	lock_take(&c->lock);
	for (size_t i = 0; i < COLLECTOR_SINKS; i++)
		n += count_unstored(&c->sink_workers[i]);
	for (size_t i = 0; i < COLLECTOR_SINKS; i++)
		forget_noted(&c->sink_workers[i]);
	lock_release(&c->lock);
	return n;
}

static void free_batches(struct open_batch *first)
{
	for (struct open_batch *b = first, *next; b; b = next) {
		next = b->next;
		open_batch_free(b);
	}
}

struct collector *collector_free(struct collector *c)
{
	if (!c)
		return NULL;
	if (c->has_lock) {
		lock_take(&c->lock);
		c->stopping = true;
		pthread_cond_broadcast(&c->changed);
		lock_release(&c->lock);
	}
	for (size_t i = 0; i < COLLECTOR_SINKS; i++)
		sink_worker_join(&c->sink_workers[i]);
	for (size_t i = 0; i < COLLECTOR_SINKS; i++) {
		assert(!c->sink_workers[i].committing);
		sink_worker_done(&c->sink_workers[i]);
	}
	if (c->timer.fd >= 0)
		loop_remove_timer(c->loop, &c->timer);
	if (c->wake.fd >= 0)
		loop_remove(c->loop, &c->wake);
	free_batches(c->done);
	free_batches(c->closing);
	while (c->redeliverable)
		ack_tokens_free_first(c);
	if (c->wake_fd >= 0)
		close(c->wake_fd);
	open_batch_free(c->open);
	label_caps_free(c->caps);
	line_dict_free(c->dict);
	journal_close(c->journal);
	if (c->has_lock) {
		pthread_cond_destroy(&c->changed);
		lock_done(&c->lock);
		lock_done(&c->record_lock);
	}
	free(c);
	return NULL;
}

const struct collector_counters *collector_counters(const struct collector *c)
{
	return &c->counters;
}

size_t collector_sink_count(const struct collector *c)
{
	return c->sink_count;
}

struct sink_worker *collector_sink(const struct collector *c, size_t i)
{
	assert(i < c->sink_count);
	return c->active[i];
}

const struct sink_counters *sink_worker_counters(const struct sink_worker *o)
{
	return &o->counters;
}

/* collector.c: the open batch, and what all sinks together say of it. */

#include "collector.h"

#include "clock.h"
#include "collector_private.h"
#include "folded_line.h"
#include "log.h"
#include "mem.h"

#include <assert.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#define TOO_OLD_NS	NS_PER_DAY
#define TOO_NEW_NS	(60 * NS_PER_SECOND)
#define ENTRY_TOO_OLD_NS	(30 * NS_PER_DAY)	/* of what waited in a stream */

void collector_default_options(struct collector_options *o)
{
	*o = (struct collector_options){
		.commit_ns = NS_PER_SECOND,
		.queue_bytes = (uint64_t)256 << 20,
		.max_series = 10000,
		.max_label_values = 1000,
	};
}

/* --- What came of a batch or a run, under the lock --- */

static void batch_done(struct collector *c, struct open_batch *b)
{
	uint64_t one = 1;

	if (!b->closed || b->sinks_left || b->runs_left)
		return;
	b->next = NULL;
	*c->last_done = b;
	c->last_done = &b->next;
	if (write(c->wake.fd, &one, sizeof(one)) != sizeof(one))
		log_debug("the loop is awake already");
}

void collector_batch_left(struct collector *c, struct open_batch *b)
{
	b->sinks_left--;
	batch_done(c, b);
}

void collector_run_left(struct collector *c, struct open_run *r)
{
	struct collector_counters *n = &c->counters;

	if (--r->sinks_left)
		return;
	n->runs_stored += r->best == 1;
	n->runs_known += r->best == 0;
	n->runs_dropped_conflict += r->best == -EEXIST;
	n->runs_dropped_queue += r->best == -ENOBUFS;
	n->runs_dropped_unfit += r->best < 0 && r->best != -EEXIST && r->best != -ENOBUFS;
	n->runs_queued--;
	n->queue_bytes -= r->size;
	if (r->batch) {
		r->batch->runs_left--;
		batch_done(c, r->batch);
	}
	free(r);
}

/* --- The loop's thread: batches that all sinks are done with --- */

static void count_done(struct collector_counters *n, const struct open_batch *b)
{
	if (b->kept)
		n->samples_stored += b->samples;
	else if (b->unfit)
		n->samples_dropped_unfit += b->samples;
	else
		n->samples_dropped_queue += b->samples;
	n->samples_queued -= b->samples;
	n->queue_bytes -= b->bytes;
}

/* What is confirmed has ended for good. */
static void end_confirmed(struct collector *c, struct ticketed *t)
{
	const struct source_ops *ops = t->source->ops;
	uint64_t confirmed = ops->confirmed ? ops->confirmed(t->source) : t->handed_back;

	while (t->unconfirmed && t->unconfirmed->until <= confirmed) {
		struct unconfirmed *u = t->unconfirmed;

		t->unconfirmed = u->next;
		if (!t->unconfirmed)
			t->last_unconfirmed = &t->unconfirmed;
		if (c->journal)
			journal_end(c->journal, u->batch_id);
		free(u);
	}
}

static struct ticketed *find_ticketed(struct collector *c, struct source *s)
{
	struct ticketed *t = c->ticketed;

	while (t && t->source != s)
		t = t->next;
	if (t)
		return t;
	t = xcalloc(1, sizeof(*t));
	t->source = s;
	t->last_unconfirmed = &t->unconfirmed;
	t->next = c->ticketed;
	return c->ticketed = t;
}

static void give_back(struct collector *c, uint64_t batch_id, const struct open_batch_share *share)
{
	struct ticketed *t = find_ticketed(c, share->source);
	struct unconfirmed *u = xcalloc(1, sizeof(*u));

	t->handed_back += share->ticket_count;
	*u = (struct unconfirmed){ .batch_id = batch_id, .until = t->handed_back };
	*t->last_unconfirmed = u;
	t->last_unconfirmed = &u->next;
	share->source->ops->ack(share->source, share->tickets, share->ticket_count);
	end_confirmed(c, t);
}

static void acknowledge(struct collector *c, const struct open_batch *b)
{
	for (size_t i = 0; i < b->share_count; i++) {
		const struct open_batch_share *share = &b->shares[i];
		struct source_counters *n = &share->source->counters;

		if (b->kept)
			n->samples_stored += share->samples;
		else
			n->samples_dropped += share->samples;
		n->samples_in_flight -= share->samples;
		share->source->batches--;
		if (share->ticket_count && share->source->ops->ack)
			give_back(c, b->batch.id, share);
	}
}

static void finish_done(struct collector *c)
{
	struct open_batch *b;

	pthread_mutex_lock(&c->lock);
	b = c->done;
	c->done = NULL;
	c->last_done = &c->done;
	pthread_mutex_unlock(&c->lock);
	while (b) {
		struct open_batch *next = b->next;

		count_done(&c->counters, b);
		acknowledge(c, b);
		open_batch_free(b);
		b = next;
	}
}

static void woken(struct watch *w, uint32_t events)
{
	struct collector *c = (struct collector *)((char *)w - offsetof(struct collector, wake));
	uint64_t n;

	if (read(w->fd, &n, sizeof(n)) == sizeof(n))
		finish_done(c);
	collector_reap(c);
}

/* --- The loop's thread: closing --- */

/* Ids differ from those of an earlier start, else the store would take a new batch for a replay of an old one. */
static uint64_t take_id(struct collector *c)
{
	uint64_t id = c->next_id++;

	return id ? id : c->next_id++;
}

static bool has_tickets(const struct open_batch *b)
{
	for (size_t i = 0; i < b->share_count; i++)
		if (b->shares[i].ticket_count)
			return true;
	return false;
}

static uint64_t shortest_queue(const struct collector *c)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < c->sink_count; i++)
		if (c->active[i]->counters.queue_bytes < least)
			least = c->active[i]->counters.queue_bytes;
	return least;
}

/* One slow sink misses what the others have; what can be delivered again it does not miss. */
static void hand_to_sinks(struct collector *c, struct open_batch *b)
{
	uint64_t least = shortest_queue(c);
	bool must = has_tickets(b);

	b->closed = true;
	b->sinks_left = (unsigned)c->sink_count;
	for (size_t i = 0; i < c->sink_count; i++) {
		struct outlet *o = c->active[i];

		o->counters.samples_handed += b->samples;
		if (!must && o->counters.queue_bytes > least && o->counters.queue_bytes + b->bytes > c->options.queue_bytes) {
			o->counters.samples_dropped_queue += b->samples;
			collector_batch_left(c, b);
		} else {
			outlet_put_batch(o, b);
		}
	}
}

static void close_one(struct collector *c, struct open_batch *b)
{
	open_batch_seal(b);
	pthread_mutex_lock(&c->lock);
	hand_to_sinks(c, b);
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

/* What was in a batch before a crash goes into one with its id again; all of it is there when the source says so. */
static void close_replays(struct collector *c, struct ticketed *t)
{
	while (t->replays) {
		struct open_batch *b = t->replays;

		t->replays = b->next;
		close_one(c, b);
	}
}

static void close_ticketed(struct collector *c, struct ticketed *t)
{
	struct open_batch *b = t->open;

	t->open = NULL;
	if (t->caught_up)
		close_replays(c, t);
	if (b)
		close_one(c, b);
}

void collector_close_batches(struct collector *c)
{
	struct open_batch *b = c->open;

	for (struct ticketed *t = c->ticketed; t; t = t->next)
		close_ticketed(c, t);
	if (!b->batch.count && !b->share_count)
		return;
	c->open = open_batch_new(take_id(c));
	close_one(c, b);
}

static void tick(struct watch *w, uint32_t events)
{
	struct collector *c = (struct collector *)((char *)w - offsetof(struct collector, timer));

	loop_timer_read(w);
	collector_close_batches(c);
	for (struct ticketed *t = c->ticketed; t; t = t->next)
		end_confirmed(c, t);
}

/* At the end: the rest of them would come after a restart and find their batch kept without them. They all come again. */
void collector_forget_replays(struct collector *c, struct ticketed *t)
{
	while (t->replays) {
		struct open_batch *b = t->replays;

		t->replays = b->next;
		c->counters.samples_received -= b->samples;
		c->counters.samples_queued -= b->samples;
		c->counters.queue_bytes -= b->bytes;
		t->source->counters.samples_received -= b->samples;
		t->source->counters.samples_in_flight -= b->samples;
		t->source->batches--;
		open_batch_free(b);
	}
}

/* --- The loop's thread: what arrives --- */

static int64_t time_in_bounds(struct collector *c, int64_t time_ns, int64_t now)
{
	if (time_ns >= now - TOO_OLD_NS && time_ns <= now + TOO_NEW_NS)
		return time_ns;
	c->counters.times_corrected++;
	return now;
}

/* When it came to where it waited, which may have been for days; `now` is that of the batch, so that it gets the same time
 * when it comes again after a crash, and meets its batch's id in the same file. */
static int64_t arrival(const struct source_about *about, int64_t now)
{
	int64_t oldest = now - (about->ticket ? ENTRY_TOO_OLD_NS : TOO_OLD_NS);

	return about->time_ns > oldest && about->time_ns <= now + TOO_NEW_NS ? about->time_ns : now;
}

/* A message says when it ended. */
static int64_t time_of(struct collector *c, const struct source_about *about, const struct strobe_wire_message *m,
		       int64_t now)
{
	return time_in_bounds(c, (int64_t)m->info.end_ns, arrival(about, now));
}

static int64_t time_of_line(struct collector *c, const struct source_about *about, int64_t now)
{
	int64_t time_ns = arrival(about, now);

	c->counters.times_corrected += about->time_ns && time_ns != about->time_ns;
	return time_ns;
}

static void note_sender_drops(struct collector *c, const struct strobe_wire_message *m)
{
	const uint8_t *p = m->at_drops;

	for (uint32_t i = 0; i < m->drops; i++) {
		uint64_t reason = strobe_wire_next(&p);
		uint64_t samples = strobe_wire_next(&p);

		if (m->info.kind == STROBE_WIRE_RUN)
			c->counters.sender_run_drops[reason < STROBE_DROP_REASONS ? reason : 0] += samples;
		else
			c->counters.sender_drops[reason < STROBE_DROP_REASONS ? reason : 0] += samples;
	}
}

static unsigned put_run(struct collector *c, struct open_run *r)
{
	unsigned n = 0;

	for (size_t i = 0; i < c->sink_count; i++)
		n += c->active[i]->sink.commit_runs != NULL;
	r->sinks_left = n;
	for (size_t i = 0; i < c->sink_count; i++)
		if (c->active[i]->sink.commit_runs)
			outlet_put_run(c->active[i], r);
	return n;
}

/* A run waits as it came: making a tree of 64 MB takes longer than the other senders should wait. */
static void got_run(struct collector *c, struct open_batch *b, const struct source_about *about,
		    const struct strobe_wire_message *m)
{
	struct collector_counters *n = &c->counters;
	const uint8_t *bytes = m->at_strings - STROBE_WIRE_HEADER;
	struct open_run *r;

	n->runs_received++;
	n->last_run_ns = clock_wall_ns();
	if (!about->ticket && n->queue_bytes + m->size > c->options.queue_bytes) {
		n->runs_dropped_queue++;
		return;
	}
	r = xcalloc(1, sizeof(*r) + m->size);
	r->best = -EINVAL;
	r->time_ns = time_of(c, about, m, n->last_run_ns);
	r->size = m->size;
	memcpy(r->bytes, bytes, m->size);
	n->runs_queued++;
	n->queue_bytes += m->size;

	pthread_mutex_lock(&c->lock);
	if (about->ticket) {
		r->batch = b;
		b->runs_left++;
	}
	if (!put_run(c, r)) {
		r->sinks_left = 1;
		collector_run_left(c, r);
	}
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

static struct open_batch *find_replay(struct ticketed *t, uint64_t id, int64_t now_ns)
{
	struct open_batch **p = &t->replays;

	while (*p && (*p)->batch.id != id)
		p = &(*p)->next;
	if (!*p) {
		*p = open_batch_new(id);
		(*p)->journaled = (*p)->replayed = true;
		(*p)->now_ns = now_ns;
	}
	return *p;
}

/* The batch that this goes to: the open one, or one of before a crash. `*now` is the time that it goes by. */
static struct open_batch *batch_for(struct collector *c, const struct source_about *about, int64_t *now)
{
	struct open_batch *b = c->open;
	struct ticketed *t;
	int64_t then;
	uint64_t id;

	if (!about->ticket)
		return b;
	t = find_ticketed(c, about->source);
	id = c->journal ? journal_batch_of(c->journal, source_identity(about->source), about->ticket, &then) : 0;
	if (id) {
		b = find_replay(t, id, then);
	} else {
		if (!t->open) {
			t->open = open_batch_new(take_id(c));
			t->open->now_ns = *now;
		}
		b = t->open;
	}
	*now = b->now_ns;
	return b;
}

static bool has_relay_id(const struct open_batch *b, uint64_t id)
{
	for (size_t i = b->relay_id_count; i-- > 0;)
		if (b->relay_ids[i] == id)
			return true;
	return false;
}

/* A relay sends a batch again when it did not hear that it arrived. In a batch of before a crash the first that comes was
 * the one that was taken. */
static bool was_seen(struct collector *c, const struct open_batch *b, uint64_t id)
{
	if (b->replayed)
		return !journal_batch_held(c->journal, b->batch.id, id) || has_relay_id(b, id);
	return c->journal && journal_seen(c->journal, id);
}

/* The ticket of one that is left out must be acknowledged all the same. */
static bool is_replay(struct collector *c, struct open_batch *b, const struct source_about *about)
{
	if (!about->batch_id)
		return false;
	if (about->part == 0) {
		c->leaving_out = was_seen(c, b, about->batch_id);
		if (!c->leaving_out) {
			GROW(&b->relay_ids, &b->relay_id_capacity, b->relay_id_count + 1);
			b->relay_ids[b->relay_id_count++] = about->batch_id;
		}
	}
	if (!c->leaving_out)
		return false;
	c->counters.messages_replayed++;
	open_batch_note(b, about, 0);
	return true;
}

static void note_received(struct collector *c, const struct source_about *about, uint64_t samples, int64_t now)
{
	c->counters.samples_received += samples;
	c->counters.last_sample_ns = now;
	if (about->source)
		about->source->counters.samples_received += samples;
}

/* `before` is what the batch took before. */
static void note_added(struct collector *c, struct open_batch *b, const struct source_about *about, uint64_t samples,
		       uint64_t before, bool folded)
{
	c->counters.samples_queued += samples;
	c->counters.queue_bytes += b->bytes - before;
	c->counters.series_folded += folded;
	if (about->source)
		about->source->counters.samples_in_flight += samples;
}

static void note_dropped(struct collector *c, struct open_batch *b, const struct source_about *about, uint64_t samples)
{
	c->counters.samples_dropped_queue += samples;
	if (about->source)
		about->source->counters.samples_dropped += samples;
	if (about->ticket)
		open_batch_note(b, about, 0);
}

/* Entries of a stream are taken even then: their source has asked, and stops. */
static bool no_room(struct collector *c, const struct open_batch *b, const struct source_about *about, uint64_t cost)
{
	return !about->ticket && shortest_queue(c) + c->open->bytes + cost > c->options.queue_bytes;
}

static void got_message(void *data, const struct source_about *about, const struct strobe_wire_message *m)
{
	struct collector *c = data;
	int64_t now = clock_wall_ns(), at = now;
	struct open_batch *b = batch_for(c, about, &at);
	uint64_t samples, before = b->bytes;
	bool folded = false;

	if (is_replay(c, b, about))
		return;
	note_sender_drops(c, m);
	if (about->ticket)
		open_batch_note(b, about, 0);
	if (!m->nodes || !m->columns)
		return;
	if (m->info.kind == STROBE_WIRE_RUN) {
		got_run(c, b, about, m);
		return;
	}
	samples = open_batch_samples_of(m);
	note_received(c, about, samples, now);
	label_caps_set_day(c->caps, now / NS_PER_DAY);
	if (no_room(c, b, about, open_batch_cost_of(m)) ||
	    open_batch_add(b, about, m, time_of(c, about, m, at), &c->rules, &folded) < 0)
		note_dropped(c, b, about, samples);
	else
		note_added(c, b, about, samples, before, folded);
}

static void got_line(void *data, const struct source_about *about, const char *line, size_t n)
{
	struct collector *c = data;
	int64_t now = clock_wall_ns(), at = now, time_ns;
	struct open_batch *b = batch_for(c, about, &at);
	uint64_t before = b->bytes;
	struct folded_line l;
	bool folded = false;

	if (folded_line_parse(line, n, false, &l) != FOLDED_STACK || l.count.whole < 1 || is_replay(c, b, about))
		return;
	note_received(c, about, (uint64_t)l.count.whole, now);
	label_caps_set_day(c->caps, now / NS_PER_DAY);
	time_ns = time_of_line(c, about, at);
	if (no_room(c, b, about, n * 4) ||
	    open_batch_add_line(b, about, l.stack, l.count.whole, (struct str){ line, n }, time_ns, &c->rules, &folded) < 0)
		note_dropped(c, b, about, (uint64_t)l.count.whole);
	else
		note_added(c, b, about, (uint64_t)l.count.whole, before, folded);
}

static void caught_up(void *data, struct source *s)
{
	struct collector *c = data;
	struct ticketed *t = find_ticketed(c, s);

	t->caught_up = true;
	close_replays(c, t);
	if (c->journal)
		journal_caught_up(c->journal, source_identity(s));
}

/* Replays do not count: they are closed when all of them are there, and not before. */
static uint64_t open_bytes(const struct collector *c)
{
	uint64_t n = c->open->bytes;

	for (const struct ticketed *t = c->ticketed; t; t = t->next)
		n += t->open ? t->open->bytes : 0;
	return n;
}

/* What can wait should, long before anything has to be dropped. */
static bool full(void *data)
{
	const struct collector *c = data;
	uint64_t most = 0;

	for (size_t i = 0; i < c->sink_count; i++)
		if (c->active[i]->counters.queue_bytes > most)
			most = c->active[i]->counters.queue_bytes;
	return most + open_bytes(c) > c->options.queue_bytes / 2;
}

struct source_receiver collector_receiver(struct collector *c)
{
	return (struct source_receiver){
		.message = got_message, .line = got_line, .caught_up = caught_up, .full = full, .data = c,
	};
}

/* --- Life --- */

static int init_lock(struct collector *c, struct err *err)
{
	pthread_condattr_t attributes;

	if (pthread_mutex_init(&c->lock, NULL))
		return err_set(err, -ENOMEM, "cannot make a lock for the collector");
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	if (pthread_cond_init(&c->changed, &attributes)) {
		pthread_mutex_destroy(&c->lock);
		return err_set(err, -ENOMEM, "cannot make a condition for the collector");
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
		return err_set(err, -errno, "cannot make an eventfd for the collector: %s", strerror(errno));
	c->wake.fd = c->wake_fd;
	r = loop_add(c->loop, &c->wake, EPOLLIN, err);
	return r;
}

static int start(struct collector *c, const struct collector_sink *sinks, size_t count, struct err *err)
{
	int r;

	if ((r = init_lock(c, err)) < 0 || (r = init_wake(c, err)) < 0 ||
	    (r = loop_add_timer(c->loop, &c->timer, c->options.commit_ns, err)) < 0)
		return r;
	if (c->options.journal && (r = journal_open(c->options.journal, &c->journal, err)) < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		if ((r = outlet_start(&c->outlets[i], c, &sinks[i], err)) < 0)
			return r;
		c->active[c->sink_count++] = &c->outlets[i];
	}
	return 0;
}

int collector_new(const struct collector_sink *sinks, size_t count, const struct collector_options *o, struct loop *loop,
		  struct collector **ret, struct err *err)
{
	struct collector *c = xcalloc(1, sizeof(*c));
	int r;

	assert(count >= 1 && count <= COLLECTOR_SINKS && o->commit_ns > 0 && o->max_series > 0 && o->max_label_values > 0);
	c->options = *o;
	c->loop = loop;
	c->timer = (struct watch){ .ready = tick, .fd = -1 };
	c->wake = (struct watch){ .ready = woken, .fd = -1 };
	c->wake_fd = -1;
	c->last_done = &c->done;
	c->caps = label_caps_new(o->max_label_values, &c->counters.label_values_folded);
	c->dict = line_dict_new();
	c->rules = (struct open_batch_rules){ .max_series = o->max_series, .caps = c->caps, .dict = c->dict };
	for (size_t i = 0; i < count; i++)
		c->rules.keep_lines |= sinks[i].wants_lines;
	if (getrandom(&c->next_id, sizeof(c->next_id), 0) != sizeof(c->next_id))
		c->next_id = (uint64_t)clock_wall_ns() << 8;
	c->open = open_batch_new(take_id(c));
	r = start(c, sinks, count, err);
	if (r < 0) {
		collector_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

static bool anything_queued(const struct collector *c)
{
	for (size_t i = 0; i < COLLECTOR_SINKS; i++)
		if (outlet_is_busy(&c->outlets[i]))
			return true;
	return false;
}

uint64_t collector_flush(struct collector *c, int64_t timeout_ns)
{
	int64_t until = clock_monotonic_ns() + timeout_ns;

	collector_close_batches(c);
	for (struct ticketed *t = c->ticketed; t; t = t->next)
		collector_forget_replays(c, t);
	pthread_mutex_lock(&c->lock);
	c->flushing = true;
	pthread_cond_broadcast(&c->changed);
	while (anything_queued(c) && clock_monotonic_ns() < until)
		collector_wait(c, until);
	c->flushing = false;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	finish_done(c);
	return c->counters.samples_queued + c->counters.runs_queued;
}

static void free_ticketed(struct collector *c)
{
	struct ticketed *t = c->ticketed;

	c->ticketed = t->next;
	while (t->replays) {
		struct open_batch *b = t->replays;

		t->replays = b->next;
		open_batch_free(b);
	}
	while (t->unconfirmed) {
		struct unconfirmed *u = t->unconfirmed;

		t->unconfirmed = u->next;
		free(u);
	}
	open_batch_free(t->open);
	free(t);
}

struct collector *collector_free(struct collector *c)
{
	if (!c)
		return NULL;
	if (c->has_lock) {
		pthread_mutex_lock(&c->lock);
		c->stopping = true;
		pthread_cond_broadcast(&c->changed);
		pthread_mutex_unlock(&c->lock);
	}
	for (size_t i = 0; i < COLLECTOR_SINKS; i++)
		outlet_join(&c->outlets[i]);
	for (size_t i = 0; i < COLLECTOR_SINKS; i++) {
		outlet_done(&c->outlets[i]);
		if (c->outlets[i].leaving)
			c->outlets[i].gone(c->outlets[i].gone_data);
	}
	if (c->timer.fd >= 0)
		loop_remove_timer(c->loop, &c->timer);
	if (c->wake.fd >= 0)
		loop_remove(c->loop, &c->wake);
	while (c->done) {
		struct open_batch *b = c->done;

		c->done = b->next;
		open_batch_free(b);
	}
	while (c->ticketed)
		free_ticketed(c);
	if (c->wake_fd >= 0)
		close(c->wake_fd);
	open_batch_free(c->open);
	label_caps_free(c->caps);
	line_dict_free(c->dict);
	journal_close(c->journal);
	if (c->has_lock) {
		pthread_cond_destroy(&c->changed);
		pthread_mutex_destroy(&c->lock);
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

const char *collector_sink_url(const struct collector *c, size_t i)
{
	return c->active[i]->url;
}

const struct sink_counters *collector_sink_counters(const struct collector *c, size_t i)
{
	return &c->active[i]->counters;
}

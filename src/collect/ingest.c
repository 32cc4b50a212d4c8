/* ingest.c: adds data from sources to the open batch, on the loop's thread. */

#include "collector_private.h"

#include "clock.h"
#include "folded_line.h"
#include "mem.h"
#include "wire_labels.h"
#include "wire_profile.h"

#include <assert.h>
#include <string.h>

#define TOO_OLD_NS	NS_PER_DAY
#define TOO_NEW_NS	(60 * NS_PER_SECOND)
#define ENTRY_TOO_OLD_NS	(30 * NS_PER_DAY)	/* entries that waited in a stream */

static int64_t time_in_bounds(struct collector *c, int64_t time_ns, int64_t now)
{
	if (time_ns >= now - TOO_OLD_NS && time_ns <= now + TOO_NEW_NS)
		return time_ns;
	c->counters.times_corrected++;
	return now;
}

/* Returns when the data entered its stream or spool, perhaps days ago. `now` is the time of the batch, so that data
 * redelivered after a crash gets the same time, and finds its batch's id in the same file of the store. */
static int64_t arrival(const struct message_metadata *about, int64_t now)
{
	int64_t oldest = now - (about->ack_token ? ENTRY_TOO_OLD_NS : TOO_OLD_NS);

	return about->time_ns > oldest && about->time_ns <= now + TOO_NEW_NS ? about->time_ns : now;
}

/* Returns the time in the message, when its data ended. */
static int64_t time_of(struct collector *c, const struct message_metadata *about, const struct strobe_wire_message *m,
		       int64_t now)
{
	return time_in_bounds(c, (int64_t)m->info.end_ns, arrival(about, now));
}

static int64_t time_of_line(struct collector *c, const struct message_metadata *about, int64_t now)
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

/* --- Capacity --- */

static uint64_t closing_bytes(const struct collector *c)
{
	uint64_t n = 0;

	for (const struct open_batch *b = c->closing; b; b = b->next)
		n += b->bytes;
	return n;
}

/* Bytes that count against samples without ack tokens, by the shortest sink queue. */
static uint64_t taken_by_samples(const struct collector *c)
{
	return collector_shortest_queue(c) + closing_bytes(c) + c->open->bytes;
}

static uint64_t taken_by_all(const struct collector *c)
{
	return c->counters.queue_bytes;
}

/* Bytes that make sources wait, by the longest sink queue. Replays do not count: they are closed only once complete. */
static uint64_t taken_for_waiting(const struct collector *c)
{
	uint64_t most = 0, n = closing_bytes(c) + c->open->bytes;

	for (size_t i = 0; i < c->sink_count; i++)
		if (c->active[i]->counters.queue_bytes > most)
			most = c->active[i]->counters.queue_bytes;
	for (const struct redeliverable *t = c->redeliverable; t; t = t->next)
		n += t->open ? t->open->bytes : 0;
	return most + n;
}

static void merge_now(struct collector *c, struct open_batch *b)
{
	open_batch_merge(b);
	collector_count_bytes(c, b);
}

/* Unmerged input counts at its full size, as if all its stacks were new. So merge until there is room before refusing
 * anything. */
static bool has_room(struct collector *c, uint64_t (*taken)(const struct collector *c), uint64_t cost, uint64_t limit)
{
	for (struct open_batch *b = c->closing; b && taken(c) + cost > limit; b = b->next)
		merge_now(c, b);
	if (taken(c) + cost > limit)
		merge_now(c, c->open);
	for (struct redeliverable *t = c->redeliverable; t && taken(c) + cost > limit; t = t->next) {
		for (struct open_batch *b = t->replays; b; b = b->next)
			merge_now(c, b);
		if (t->open)
			merge_now(c, t->open);
	}
	return taken(c) + cost <= limit;
}

/* Stream entries are accepted regardless: their source checks for space and pauses. */
static bool no_room(struct collector *c, const struct message_metadata *about, uint64_t cost)
{
	return !about->ack_token && !has_room(c, taken_by_samples, cost, c->options.queue_bytes);
}

/* Counts batches whose ids the journal keeps and sinks remember. */
static uint64_t open_batches(const struct collector *c)
{
	uint64_t n = 0;

	for (const struct redeliverable *t = c->redeliverable; t; t = t->next)
		n += t->source->batches + t->unconfirmed_count;
	return n;
}

/* Makes sources wait that can, long before anything has to be dropped. */
static bool full(void *data)
{
	struct collector *c = data;

	return open_batches(c) >= c->max_open_batches || !has_room(c, taken_for_waiting, 0, c->options.queue_bytes / 2);
}

static int64_t spare(void *data)
{
	const struct collector *c = data;

	return (int64_t)(c->options.queue_bytes - taken_for_waiting(c));
}

/* Refuses data: even the shortest queue has no room. */
static int refuse_full(const struct collector *c, struct err *err)
{
	_cleanup_(buf_done) struct buf sinks = { 0 };

	buf_init(&sinks);
	for (size_t i = 0; i < c->sink_count; i++)
		buf_printf(&sinks, "%s%s%s", i ? ", " : "", c->active[i]->url, c->active[i]->counters.failing ? " (failing)" : "");
	return err_set(err, -EAGAIN, "the queue of %.800s is full: %llu MB wait; retry later", sinks.data,
		       (unsigned long long)(taken_by_samples(c) >> 20));
}

/* Assumes that all series new to the open batch are folded. */
static int room(void *data, size_t folded_series, uint64_t cost, struct err *err)
{
	struct collector *c = data;
	size_t max = c->rules.max_series, entries = c->open->batch.count > max ? c->open->batch.count : max;

	if (cost > c->options.queue_bytes)
		return -E2BIG;
	if (max + folded_series > open_batch_series_limit(&c->rules))
		return -ENOSPC;
	if (entries + folded_series > open_batch_series_limit(&c->rules))
		return err_set(err, -EAGAIN, "the batch of this second has its limit of series; retry later");
	return has_room(c, taken_by_samples, cost, c->options.queue_bytes) ? 0 : refuse_full(c, err);
}

/* --- Messages and lines --- */

/* Runs are queued as received: building a tree of 64 MB would take longer than other senders should wait. */
static void on_run(struct collector *c, struct open_batch *b, const struct message_metadata *about,
		   const struct strobe_wire_message *m)
{
	_cleanup_(buf_done) struct buf labeled = { 0 };
	struct collector_counters *n = &c->counters;
	const void *bytes = wire_message_bytes(m);
	size_t size = m->size;
	struct open_run *r;

	n->runs_received++;
	n->last_run_ns = clock_wall_ns();
	if (!about->ack_token && !has_room(c, taken_by_all, m->size, c->options.queue_bytes)) {
		n->runs_dropped_queue++;
		return;
	}
	buf_init(&labeled);
	if (about->labels && wire_labels_add(m, about->labels, &labeled)) {
		bytes = labeled.data;
		size = labeled.size;
	}
	r = xcalloc(1, sizeof(*r) + size);
	r->best = -EINVAL;
	r->time_ns = about->is_dated && about->time_ns <= n->last_run_ns ? about->time_ns :
		time_of(c, about, m, n->last_run_ns);
	r->size = size;
	memcpy(r->bytes, bytes, size);
	n->runs_queued++;
	n->queue_bytes += size;

	lock_take(&c->lock);
	if (about->ack_token) {
		r->batch = b;
		b->runs_left++;
	}
	collector_hand_run(c, r);
	pthread_cond_broadcast(&c->changed);
	lock_release(&c->lock);
}

static void note_received(struct collector *c, const struct message_metadata *about, uint64_t samples, int64_t now)
{
	c->counters.samples_received += samples;
	c->counters.last_sample_ns = now;
	if (about->source)
		about->source->counters.samples_received += samples;
}

static void note_added(struct collector *c, struct open_batch *b, const struct message_metadata *about, uint64_t samples,
		       bool folded)
{
	c->counters.samples_queued += samples;
	c->counters.series_folded += folded;
	if (about->source)
		about->source->counters.samples_in_flight += samples;
	collector_count_bytes(c, b);
	assert(collector_samples_balance(&c->counters));
}

static void note_dropped(struct collector *c, struct open_batch *b, const struct message_metadata *about, uint64_t samples)
{
	c->counters.samples_dropped_queue += samples;
	if (about->source)
		about->source->counters.samples_dropped += samples;
	if (about->ack_token)
		open_batch_note(b, about, 0);
	collector_count_bytes(c, b);
	assert(collector_samples_balance(&c->counters));
}

static void on_message(void *data, const struct message_metadata *about, const struct strobe_wire_message *m)
{
	struct collector *c = data;
	int64_t now = clock_wall_ns(), at = now;
	struct open_batch *b = ack_tokens_batch_for(c, about, &at);
	uint64_t samples;
	bool folded = false;

	assert(!strobe_wire_is_open(m->info.kind));	/* see source.h */
	if (ack_tokens_is_replay(c, b, about))
		return;
	note_sender_drops(c, m);
	if (about->ack_token)
		open_batch_note(b, about, 0);
	if (!m->nodes || !m->columns)
		return;
	if (m->info.kind == STROBE_WIRE_RUN) {
		on_run(c, b, about, m);
		return;
	}
	label_caps_set_day(c->caps, now / NS_PER_DAY);
	if (no_room(c, about, open_batch_cost_of(m)) ||
	    open_batch_add(b, about, m, time_of(c, about, m, at), &c->rules, &samples, &folded) < 0) {
		samples = m->samples;
		note_received(c, about, samples, now);
		note_dropped(c, b, about, samples);
	} else {
		note_received(c, about, samples, now);
		note_added(c, b, about, samples, folded);
	}
}

static void on_line(void *data, const struct message_metadata *about, const char *line, size_t n)
{
	struct collector *c = data;
	int64_t now = clock_wall_ns(), at = now, time_ns;
	struct open_batch *b = ack_tokens_batch_for(c, about, &at);
	struct folded_line l;
	bool folded = false;

	if (folded_line_parse(line, n, false, &l) != FOLDED_STACK || l.count.whole < 1 ||
	    ack_tokens_is_replay(c, b, about))
		return;
	note_received(c, about, (uint64_t)l.count.whole, now);
	label_caps_set_day(c->caps, now / NS_PER_DAY);
	time_ns = time_of_line(c, about, at);
	if (no_room(c, about, n * 4 + OPEN_BATCH_SERIES_BYTES) ||
	    open_batch_add_line(b, about, l.stack, l.count.whole, (struct str){ line, n }, time_ns, &c->rules,
				&folded) < 0)
		note_dropped(c, b, about, (uint64_t)l.count.whole);
	else
		note_added(c, b, about, (uint64_t)l.count.whole, folded);
}

static void caught_up(void *data, struct source *s)
{
	assert(s->ops->ack);
	ack_tokens_caught_up(data, s);
}

static void recorded(void *data, struct source *s, const struct batch_record *r)
{
	ack_tokens_recorded(data, s, r);
}

static void runs_killed(void *data, uint64_t count)
{
	struct collector *c = data;

	c->counters.sender_run_drops[STROBE_DROP_KILLED] += count;
}

struct source_receiver collector_receiver(struct collector *c)
{
	return (struct source_receiver){
		.message = on_message,
		.line = on_line,
		.caught_up = caught_up,
		.recorded = recorded,
		.full = full,
		.spare = spare,
		.room = room,
		.runs_killed = runs_killed,
		.data = c,
	};
}

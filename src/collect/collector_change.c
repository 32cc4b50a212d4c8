/* collector_change.c: sinks, sources and caps that change while batches are in flight; all in the loop's thread. */

#include "collector_private.h"

#include "clock.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Lines and rows are kept for a whole batch or not at all, so call this only between batches. */
static void set_form(struct collector *c)
{
	c->rules.keep_lines = false;
	c->rules.share_stacks = true;
	for (size_t i = 0; i < c->sink_count; i++) {
		c->rules.keep_lines |= c->active[i]->sink.wants_lines;
		c->rules.share_stacks &= c->active[i]->sink.reads_rows;
	}
}

int collector_add_sink(struct collector *c, const struct collector_sink *sink, struct sink_worker **ret, struct err *err)
{
	struct sink_worker *o = c->sink_workers;
	int r;

	while (o->has_thread)
		o++;
	assert(o < c->sink_workers + COLLECTOR_SINKS);
	collector_close_batches(c);
	r = sink_worker_start(o, c, sink, err);
	if (r < 0)
		return r;
	*ret = c->active[c->sink_count++] = o;
	set_form(c);
	return 0;
}

static void take_out(struct collector *c, const struct sink_worker *o)
{
	size_t i = 0;

	while (i < c->sink_count && c->active[i] != o)
		i++;
	assert(i < c->sink_count);
	memmove(c->active + i, c->active + i + 1, (--c->sink_count - i) * sizeof(*c->active));
}

static void set_removed(struct collector *c, struct sink_worker *o, bool removed)
{
	lock_take(&c->lock);
	assert(o->removed != removed && !o->has_ended);
	o->removed = removed;
	o->progress_ns = clock_monotonic_ns();
	collector_update_failing(c);
	pthread_cond_broadcast(&c->changed);
	lock_release(&c->lock);
	set_form(c);
}

void collector_remove_sink(struct collector *c, struct sink_worker *o, sink_closed_fn *closed, void *data)
{
	assert(closed);
	collector_close_batches(c);
	take_out(c, o);
	o->closed = closed;
	o->closed_data = data;
	set_removed(c, o, true);
}

void collector_restore_sink(struct collector *c, struct sink_worker *o)
{
	assert(c->holding && c->sink_count < COLLECTOR_SINKS);
	collector_close_batches(c);
	c->active[c->sink_count++] = o;
	o->closed = NULL;
	set_removed(c, o, false);
}

void collector_reap(struct collector *c)
{
	for (size_t i = 0; i < COLLECTOR_SINKS; i++) {
		struct sink_worker *o = &c->sink_workers[i];

		if (!o->has_ended)
			continue;
		assert(o->removed && (o->given_up || !sink_worker_is_busy(o)));
		sink_worker_join(o);
		sink_worker_give_up_queue(o);
		sink_worker_done(o);
	}
}

void collector_hold_removed(struct collector *c, bool hold)
{
	lock_take(&c->lock);
	c->holding = hold;
	pthread_cond_broadcast(&c->changed);
	lock_release(&c->lock);
	if (hold)
		collector_reap(c);
}

void collector_set_caps(struct collector *c, const struct collector_options *o)
{
	assert(o->max_series > 0 && o->max_label_values > 0);
	c->options.queue_bytes = o->queue_bytes;
	c->options.max_series = c->rules.max_series = o->max_series;
	c->options.max_label_values = o->max_label_values;
	label_caps_set_max(c->caps, o->max_label_values);
}

void collector_set_max_open_batches(struct collector *c, uint64_t n)
{
	c->max_open_batches = n;
}

bool collector_forget(struct collector *c, struct source *s)
{
	struct redeliverable **p = &c->redeliverable, *t;

	while ((t = *p) && t->source != s)
		p = &t->next;
	if (t)
		ack_tokens_forget_replays(c, t);
	if (s->batches || (t && (t->open || t->unconfirmed)))
		return false;
	if (t)
		*p = t->next;
	free(t);
	return true;
}

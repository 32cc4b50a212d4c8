/* collector_change.c: sinks, sources and caps that change while batches are in flight; all in the loop's thread. */

#include "collector_private.h"

#include "clock.h"

#include <assert.h>

/* Lines and rows are kept for a whole batch or not at all, so call this only between batches. */
static void update_active(struct collector *c)
{
	c->sink_count = 0;
	c->rules.keep_lines = false;
	c->rules.share_stacks = true;
	for (size_t i = 0; i < COLLECTOR_SINKS; i++) {
		struct sink_worker *o = &c->sink_workers[i];

		if (!o->has_thread || o->removed)
			continue;
		c->active[c->sink_count++] = o;
		c->rules.keep_lines |= o->sink.wants_lines;
		c->rules.share_stacks &= o->sink.reads_rows;
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
	*ret = o;
	update_active(c);
	return 0;
}

/* `closed` is NULL if the sink is restored. */
static void set_removed(struct collector *c, struct sink_worker *o, sink_closed_fn *closed, void *data)
{
	assert(o->has_thread && o->removed == !closed);
	collector_close_batches(c);
	lock_take(&c->lock);
	o->removed = closed;
	o->closed = closed;
	o->closed_data = data;
	o->given_up = false;
	o->progress_ns = clock_monotonic_ns();
	collector_update_failing(c);
	pthread_cond_broadcast(&c->changed);
	lock_release(&c->lock);
	update_active(c);
}

void collector_remove_sink(struct collector *c, struct sink_worker *o, sink_closed_fn *closed, void *data)
{
	assert(closed);
	set_removed(c, o, closed, data);
}

void collector_restore_sink(struct collector *c, struct sink_worker *o)
{
	set_removed(c, o, NULL, NULL);
}

void collector_reap(struct collector *c)
{
	for (size_t i = 0; i < COLLECTOR_SINKS; i++) {
		if (sink_worker_end_if_drained(&c->sink_workers[i])) {
			sink_worker_give_up_queue(&c->sink_workers[i]);
			sink_worker_done(&c->sink_workers[i]);
		}
	}
}

void collector_set_caps(struct collector *c, const struct collector_options *o)
{
	assert(o->max_series > 0 && o->max_label_values > 0);
	c->options.queue_bytes = o->queue_bytes;
	c->options.max_series = c->rules.max_series = o->max_series;
	c->options.max_label_values = o->max_label_values;
	label_caps_set_max(c->caps, o->max_label_values);
}

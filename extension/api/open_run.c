/* open_run.c: announces runs, and hands over unfinished traces by a timer, or by the ticker's thread while the PHP
 * thread cannot. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "open_run.h"

#include "guarded_read.h"
#include "php_strobe.h"
#include "send_runs.h"
#include "socket_path.h"
#include "strobe_assert.h"
#include "trace_copy.h"
#include "watch.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A hand-over takes longer the larger the tree is. Hand-overs take at most a tenth of the program's time, unless that
 * would delay one beyond the promised second. */
#define COST_SHARE	10
#define GAP_MAX_NS	700000000

static void announce(struct api_thread *a, const struct work *w, bool discarded)
{
	const struct run_info info = { .source = w->source, .id = w->id, .pid = (uint32_t)a->pid };
	char path[108];

	if (socket_path(path, sizeof(path)))
		run_message_announce(&a->sender, path, &info, discarded);
	runs_drain(a);
}

/* A run's message except its tree, as last updated by the PHP thread. */
struct open_run_info {
	char path[108];			/* path of the socket */
	char source[STROBE_WIRE_RUN_KEY + 1];
	char id[33];
	char url[STROBE_WIRE_LABEL_VALUE + 1];
	pid_t pid;
	struct request_labels labels, attributes;
};

/* Invalidates the published data, which the ticker's thread may be reading. */
static uint32_t begin_change(struct work *w)
{
	return atomic_exchange(&w->open.sequence, 0);
}

static void end_change(struct work *w, uint32_t sequence)
{
	atomic_store(&w->open.sequence, sequence + 1 ? sequence + 1 : 1);
}

static void publish_run(const struct api_thread *a, struct work *w, const struct request_labels *labels)
{
	struct open_run_info *published = w->open.published;
	uint32_t sequence;

	if (!published)
		return;
	sequence = begin_change(w);
	memset(published, 0, sizeof(*published));
	socket_path(published->path, sizeof(published->path));
	snprintf(published->source, sizeof(published->source), "%s", runs_source(w, labels));
	snprintf(published->id, sizeof(published->id), "%s", w->id);
	snprintf(published->url, sizeof(published->url), "%s", a->url);
	published->pid = w->open.pid;
	published->labels = *labels;
	if (w->attributes)
		published->attributes = *w->attributes;
	end_change(w, sequence);
}

/* For a forked child, which may not reach a safe point for a long time. */
static void note_id(struct work *w)
{
	struct open_run_info *published = w->open.published;
	uint32_t sequence;

	if (!published)
		return;
	sequence = begin_change(w);
	snprintf(published->id, sizeof(published->id), "%s", w->id);
	published->pid = w->open.pid;
	end_change(w, sequence);
}

static void hand_over(struct strobe_timer *timer, uint64_t periods, const struct tick_snapshot *m)
{
	struct work *w = timer->owner;
	int64_t began = timer_now(TIMER_WALL), gap;
	struct api_thread *a = api_thread();
	struct request_labels *labels;
	struct call_tree *t;

	STROBE_ASSERT(timer == &w->open.timer);
	if (!a || began < w->open.next_ns || !(labels = malloc(sizeof(*labels))))
		return;
	runs_labels(labels);
	publish_run(a, w, labels);
	t = tracer_snapshot(w->session);
	if (t)
		runs_send_open(a, t, w, labels);
	call_tree_free(t);
	free(labels);
	gap = (timer_now(TIMER_WALL) - began) * COST_SHARE;
	w->open.next_ns = began + (gap < GAP_MAX_NS ? gap : GAP_MAX_NS);
}

/* --- in the ticker's thread */

/* Reads the PHP thread's notes on a trace. Whether the work still exists is checked later, by trace_copy_holds. */
static bool read_run(struct open_run_info *ret, const void *work)
{
	uint32_t sequence, sequence_after;
	struct open_run_info *published;

	return GUARDED_READ_MEMBER(&sequence, struct work, work, open.sequence) && sequence &&
	       GUARDED_READ_MEMBER(&published, struct work, work, open.published) && published &&
	       guarded_read(ret, published, sizeof(*ret)) &&
	       GUARDED_READ_MEMBER(&sequence_after, struct work, work, open.sequence) && sequence_after == sequence;
}

static void send_session(struct trace_copy *c, unsigned i, const struct open_run_info *published, const struct watch_context *context)
{
	const struct run_info info = {
		.open = true,
		.source = published->source,
		.id = published->id,
		.url = *published->url ? published->url : NULL,
		.attributes = published->attributes.count ? &published->attributes : NULL,
		.pid = (uint32_t)published->pid,
	};
	struct call_tree *tree = trace_copy_tree(c, i);
	struct sender sender;

	sender_init(&sender);
	if (tree && trace_copy_holds(c, context) && *published->path && published->pid == getpid())
		run_message_send(&sender, published->path, tree, &info, &published->labels);
	sender_close(&sender);
	call_tree_free(tree);
}

/* A callback of watch.h. The capture lives as long as its thread is watched. */
static void send_open_run(void *capture, const struct watch_context *context)
{
	struct trace_copy *c = trace_copy_make(capture, context);
	struct open_run_info *published = c ? malloc(sizeof(*published)) : NULL;
	const struct trace_options *o;

	for (unsigned i = 0; published && (o = trace_copy_session(c, i)); i++)
		if (o->began_anew == open_run_began_anew && read_run(published, o->owner))
			send_session(c, i, published, context);
	free(published);
	trace_copy_free(c);
}

/* --- the life of a trace */

static void watch(struct api_thread *a, struct work *w)
{
	struct request_labels *labels = malloc(sizeof(*labels));

	STROBE_ASSERT(!w->open.published);
	w->open.published = labels ? malloc(sizeof(*w->open.published)) : NULL;
	if (w->open.published) {
		runs_labels(labels);
		publish_run(a, w, labels);
		watch_begin(WATCH_TRACES, send_open_run, (void *)trace_copy_source());
	}
	free(labels);
}

static void take_id(struct api_thread *a, struct work *w)
{
	random_id(&a->random, w->id);
	w->open.pid = a->pid;
	w->open.next_ns = 0;
	note_id(w);
	announce(a, w, false);
}

void open_run_begin(struct api_thread *a, struct work *w)
{
	int64_t period = (int64_t)(STROBE_G(trace_flush) * 1e9);

	take_id(a, w);
	if (period <= 0)
		return;
	w->open.timer = (struct strobe_timer){ .expired = hand_over, .owner = w, .passive = true };
	if (timer_start(&w->open.timer, TIMER_WALL, period, period) == 0 && STROBE_G(flush_waiting) > 0)
		watch(a, w);
}

void open_run_began_anew(void *owner)
{
	struct api_thread *a = api_thread();

	if (a)
		take_id(a, owner);
}

void open_run_end(struct work *w)
{
	timer_stop(&w->open.timer);
	atomic_store(&w->open.sequence, 0);
	free(w->open.published);
	w->open.published = NULL;
}

/* A child whose trace has not restarted must not retract the run, which belongs to its parent. */
void open_run_discard(struct api_thread *a, struct work *w)
{
	open_run_end(w);
	if (w->open.pid == a->pid)
		announce(a, w, true);
}

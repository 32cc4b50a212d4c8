/* tracer.c: opens and closes sessions, and starts and stops the capture with the first and last of them. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "blocks.h"
#include "capture.h"
#include "php_strobe.h"
#include "realtime.h"

#include <pthread.h>
#include <stdlib.h>

#define SAMPLED_PERIOD_NS 1000000

#ifdef ZTS
TSRM_TLS struct capture *strobe_capture TSRM_TLS_MODEL_ATTR;
#else
struct capture strobe_capture;
#endif

bool tracer_available(void)
{
	return observe_available();
}

/* Returns the metrics measured for the requested ones: in addition to others, exact time costs little, and usage and
 * peak of memory are adjacent. */
static unsigned measured_for(unsigned metrics)
{
	if (metrics & (TRACE_MEMORY | TRACE_PEAK))
		metrics |= TRACE_MEMORY | TRACE_PEAK;
	return metrics & ~(unsigned)TRACE_SAMPLED_WALL ? (metrics | TRACE_WALL) & ~(unsigned)TRACE_SAMPLED_WALL : metrics;
}

/* Handles a tick of sampled time. The observer reports it before the next call begins or ends, so the top of the
 * stack of calls was running at the tick. */
static void tick(struct strobe_timer *timer, uint64_t periods, const struct tick_snapshot *m)
{
	struct capture *c = timer->owner;

	if (c->active && c->top->node)
		c->top->node->wall += periods;
}

/* Starts sampling time, if not already done. This needs a thread. */
static bool start_timer(struct capture *c)
{
	if (c->timer.period_ns)
		return true;
	c->timer.expired = tick;
	c->timer.owner = c;
	c->timer.passive = true;
	c->timer.at_calls = true;
	if (timer_start(&c->timer, TIMER_WALL, SAMPLED_PERIOD_NS, SAMPLED_PERIOD_NS))
		c->timer.period_ns = 0;
	return c->timer.period_ns > 0;
}

/* A session that needs exact time ends sampling: sampled periods are converted to ticks. */
static void stop_timer(struct capture *c)
{
	double ticks = (double)c->timer.period_ns / c->ns_per_tick;

	if (!c->timer.period_ns)
		return;
	STROBE_ASSERT(c->ns_per_tick > 0);
	timer_deliver_rest(&c->timer);
	timer_stop(&c->timer);
	c->timer.period_ns = 0;
	for (uint32_t i = c->nodes.count; i-- > 0;) {
		struct node *n = nodes_at(&c->nodes, i);

		STROBE_ASSERT(!n->parent || n->parent->number < i);
		if (n->below)
			n->wall += n->below->wall;
		if (n->parent)
			n->parent->wall += n->wall;
		n->wall = (uint64_t)((double)n->wall * ticks);
	}
}

static bool begin_capture(struct capture *c)
{
	STROBE_ASSERT(!c->active && !c->sessions);
	if (!nodes_init(&c->nodes, (uint32_t)STROBE_G(trace_max_nodes)))
		return false;
	if (!capture_stack_init(c) || !strands_init(c)) {
		nodes_done(&c->nodes);
		return false;
	}
	c->metrics = 0;
	c->muted = false;
	c->internals = c->files = c->loads = false;
	c->counts = (struct allocation_counts){ 0 };
	c->timer.period_ns = 0;
	c->ns_per_tick = clock_ns_per_tick();
	c->heap = allocations_heap();
	c->mode = CAPTURE_COUNTS;
	return true;
}

static void end_capture(struct capture *c)
{
	STROBE_ASSERT(!c->sessions);
	timer_stop(&c->timer);
	c->timer.period_ns = 0;
	allocations_stop(c);
	cpu_clock_stop(&c->cpu);
	capture_chart_stop(c);
	c->active = false;
	c->forked = NULL;
	observe_update(c);
	strands_done(c);
	capture_stack_done(c);
	nodes_done(&c->nodes);
}

/* Extends the capture by what the new session needs. */
static bool widen(struct capture *c, const struct trace_options *o)
{
	unsigned metrics = measured_for(c->metrics | o->metrics);
	bool was_active = c->active;

	STROBE_ASSERT(!(metrics & (TRACE_CPU | TRACE_CHART)) || (metrics & TRACE_WALL));
	if ((metrics & TRACE_ALLOCATIONS) && !c->stack_counts) {
		c->stack_counts = calloc(c->capacity, sizeof(*c->stack_counts));
		if (!c->stack_counts)
			return false;
	}
	if ((metrics & TRACE_CHART) && !c->chart.calls && !capture_chart_start(c))
		return false;
	if ((metrics & TRACE_SAMPLED_WALL) && !start_timer(c))
		metrics = TRACE_WALL;
	if (was_active)
		capture_flush(c);
	if ((metrics & TRACE_CPU) && !(c->metrics & TRACE_CPU))
		cpu_clock_start(&c->cpu, c->ns_per_tick);
	if ((c->metrics & TRACE_SAMPLED_WALL) && !(metrics & TRACE_SAMPLED_WALL))
		stop_timer(c);
	if (metrics & TRACE_ALLOCATIONS)
		allocations_start(c);
	c->metrics = metrics;
	c->mode = capture_mode_for(c);
	c->internals |= !o->no_internals;
	c->files |= o->files;
	c->loads |= o->loads;
	c->active = true;
	if (was_active)
		capture_restart_values(c);	/* running calls are measured in all new metrics from now on */
	observe_update(c);
	return true;
}

static bool is_wide_enough(const struct capture *c, const struct trace_options *o)
{
	unsigned metrics = o->metrics;

	if ((metrics | c->metrics) & TRACE_WALL)
		metrics &= ~(unsigned)TRACE_SAMPLED_WALL;
	return c->active && (c->metrics & metrics) == metrics && (c->internals || o->no_internals) &&
	       (c->files || !o->files) && (c->loads || !o->loads);
}

/* Keys are unique during a capture: nodes of a closed session must not be attributed to a new one. */
static uintptr_t new_key(void)
{
	ZEND_TLS uintptr_t last = 3;

	return last += 2;
}

static void free_session(struct trace_session *s)
{
	name_filter_free(s->options.filter);
	free(s);
}

static struct trace_session *start(struct capture *c, const struct trace_options *options)
{
	static const struct call_function root = { .kind = CALL_ROOT };
	struct trace_session **last, *s;
	bool first;

	s = observe_available() ? calloc(1, sizeof(*s)) : NULL;
	if (!s) {
		name_filter_free(options->filter);
		return NULL;
	}
	s->options = *options;
	if (s->options.metrics & TRACE_CPU)
		s->options.metrics |= TRACE_WALL;
	first = !c->active;
	if ((first && !begin_capture(c)) || (!is_wide_enough(c, &s->options) && !widen(c, &s->options))) {
		if (first && c->nodes.root)
			end_capture(c);
		free_session(s);
		return NULL;
	}
	STROBE_ASSERT(c->active);
	s->key = new_key();
	s->function = function_table_identity(&c->nodes.functions, &root);
	timer_deliver_rest(&c->timer);	/* earlier sampled time does not belong to it */
	s->start_ns = realtime_ns();
	s->start_ticks = clock_ticks();
	s->context = options->own_fiber ? EG(current_fiber_context) : NULL;
	if (options->annotation)
		capture_annotate(c, options->annotation);
	for (last = &c->sessions; *last; last = &(*last)->next)
		;
	*last = s;
	capture_mark(c);
	return s;
}

struct trace_session *tracer_start(const struct trace_options *options)
{
	struct capture *c = CAPTURE;
	struct trace_session *s;
	bool first;

#ifdef ZTS
	if (!c) {
		name_filter_free(options->filter);
		return NULL;
	}
#endif
	first = capture_changing(c);
	s = start(c, options);
	capture_changed(c, first);
	return s;
}

static bool wants_chart(const struct capture *c)
{
	for (const struct trace_session *s = c->sessions; s; s = s->next)
		if (s->options.metrics & TRACE_CHART)
			return true;
	return false;
}

/* The next chart begins with all of the room. */
static void stop_chart(struct capture *c)
{
	capture_chart_stop(c);
	c->mode = capture_mode_for(c);
	observe_update(c);
}

/* If its marker is below running calls, it stays, without a session. */
static void close_session(struct capture *c, struct trace_session *s)
{
	struct trace_session **p = &c->sessions;
	bool first = capture_changing(c);

	if (s->at && c->stack + s->at == c->top)
		capture_pop(c);
	while (*p && *p != s)
		p = &(*p)->next;
	STROBE_ASSERT(*p == s);
	if (*p)
		*p = s->next;
	free_session(s);
	if (!c->sessions)
		end_capture(c);
	else if ((c->metrics & TRACE_CHART) && !wants_chart(c))
		stop_chart(c);
	capture_changed(c, first);
}

static bool is_open(const struct capture *c, const struct trace_session *s)
{
	for (const struct trace_session *o = c->sessions; o; o = o->next)
		if (o == s)
			return true;
	return false;
}

/* Returns the index of the first marker of a session that restarts in a child; 0: none. */
static size_t first_anew(const struct capture *c)
{
	size_t first = 0;

	for (const struct trace_session *s = c->sessions; s; s = s->next)
		if (s->options.anew_in_child && s->at && (!first || s->at < first))
			first = s->at;
	return first;
}

/* Whether all sessions drop what their parent has recorded. */
static bool chart_begins_anew(const struct capture *c)
{
	for (const struct trace_session *s = c->sessions; s; s = s->next)
		if ((s->options.metrics & TRACE_CHART) && !(s->options.anew_in_child && s->at))
			return false;
	return c->metrics & TRACE_CHART;
}

static void renew_keys(struct capture *c)
{
	for (struct trace_session *s = c->sessions; s; s = s->next)
		if (s->options.anew_in_child && s->at) {
			s->key = new_key();
			s->start_ns = realtime_ns();
			s->start_ticks = clock_ticks();
		}
}

/* Stores the running calls from the entry `first` on, with the markers that they will get. */
static void save_calls(struct capture *c, size_t first, struct saved_call *ret)
{
	for (struct entry *e = c->stack + first; e <= c->top; e++) {
		const struct trace_session *marked = e->frame ? NULL : capture_marked_by(c, e);

		*ret++ = (struct saved_call){ marked ? marked->key : e->node->key, e->node->function, e->frame };
	}
}

/* Returns false without memory. Entries that are neither calls nor markers of sessions are skipped. */
static bool put_back(struct capture *c, const struct saved_call *call)
{
	struct node *n;

	if (!call->frame) {
		capture_mark_again(c, call->key);
		return true;
	}
	n = call->function ? capture_node(c, call) : NULL;
	if (!n || !capture_push(c, n, call->frame))
		return false;
	n->calls++;
	return true;
}

/* Restarting sessions drop what they have recorded so far: the running calls are pushed again, below markers with new
 * keys, all at once, so that each is counted once. */
static void begin_anew(struct capture *c)
{
	size_t first = first_anew(c), count = first ? (size_t)(c->top - c->stack) + 1 - first : 0;
	struct saved_call *calls = count ? calloc(count, sizeof(*calls)) : NULL;
	bool new_chart = chart_begins_anew(c);

	if (!calls)
		return;
	renew_keys(c);
	save_calls(c, first, calls);
	while (c->top >= c->stack + first)
		capture_pop(c);
	if (new_chart)
		capture_chart_reset(c);
	cpu_clock_resync(&c->cpu);
	for (size_t i = 0; i < count; i++) {
		strands_move(c, first + i);
		if (!put_back(c, &calls[i]))
			break;
	}
	strands_move(c, first + count);
	capture_mark(c);
	free(calls);
}

void capture_become_child(struct capture *c)
{
	bool first = capture_changing(c);

	STROBE_ASSERT(c->forked && c->forked >= c->stack && c->forked <= c->top);
	c->forked->frame = c->forked_in;
	c->forked = NULL;
	c->limit = c->stack + c->capacity;
	begin_anew(c);
	for (struct trace_session *s = c->sessions; s; s = s->next)
		if (s->options.anew_in_child && s->options.began_anew)
			s->options.began_anew(s->options.owner);
	capture_changed(c, first);
}

struct call_tree *tracer_snapshot(struct trace_session *s)
{
	struct capture *c = CAPTURE;
	bool first = capture_changing(c);
	struct call_tree *t;

	STROBE_ASSERT(is_open(c, s));
	if (c->forked)
		capture_become_child(c);
	capture_flush(c);
	t = capture_project(c, s);
	capture_restart_values(c);
	capture_changed(c, first);
	return t;
}

struct call_tree *tracer_stop_own(struct trace_session *s)
{
	struct capture *c = CAPTURE;
	struct call_tree *t;
	bool first;

	if (!s || !is_open(c, s))
		return NULL;
	first = capture_changing(c);
	if (c->forked)
		capture_become_child(c);
	timer_deliver_rest(&c->timer);
	capture_flush(c);
	t = capture_project_own(c, s);
	close_session(c, s);
	capture_changed(c, first);
	return t;
}

struct call_tree *tracer_stop(struct trace_session *s)
{
	struct call_tree *t = tracer_stop_own(s);

	if (t) {
		call_tree_include(t);
		call_tree_shrink(t);
	}
	return t;
}

void tracer_warn_of_folded(uint64_t calls)
{
	struct capture *c = CAPTURE;
	char text[160];

#ifdef ZTS
	if (!c)
		return;
#endif
	if (!calls || c->warned || !PG(log_errors))
		return;
	c->warned = true;
	snprintf(text, sizeof(text), "strobe: %llu call%s the trace's limit and %s merged into [folded]: "
				     "strobe.trace_max_nodes is " ZEND_LONG_FMT,
		 (unsigned long long)calls, calls == 1 ? " exceeded" : "s exceeded", calls == 1 ? "was" : "were", STROBE_G(trace_max_nodes));
	php_log_err(text);
}

void tracer_drop(struct trace_session *s)
{
	if (s && is_open(CAPTURE, s))
		close_session(CAPTURE, s);
}

static bool measures_cpu(const struct capture *c)
{
#ifdef ZTS
	if (!c)
		return false;
#endif
	return c->active && (c->metrics & TRACE_CPU);
}

static void before_fork(void)
{
	if (measures_cpu(CAPTURE))
		cpu_clock_before_fork(&CAPTURE->cpu);
}

/* Runs inside fork(), so it only stores. The next beginning or end of a call leads to capture_become_child. */
static void in_child(void)
{
	struct capture *c = CAPTURE;

#ifdef ZTS
	if (!c)
		return;
#endif
	if (measures_cpu(c))
		cpu_clock_in_child(&c->cpu);
	if (!c->active || c->forked)
		return;
	c->forked = c->top;
	c->forked_in = c->top->frame;
	c->top->frame = NULL;
	c->limit = c->top + 1;
}

void tracer_startup(int type)
{
	clock_startup();
	observe_startup(type);
	if (observe_available()) {
		strands_startup();
		pthread_atfork(before_fork, NULL, in_child);
	}
#ifndef ZTS
	capture_stack_done(&strobe_capture);
#endif
}

void tracer_shutdown(void)
{
	compile_shutdown();
}

#ifdef ZTS
static void make_capture(void)
{
	if (strobe_capture)
		return;
	strobe_capture = calloc(1, sizeof(*strobe_capture));
	if (strobe_capture)
		capture_stack_done(strobe_capture);
}
#endif

void tracer_thread_end(void)
{
	struct capture *c = CAPTURE;

#ifdef ZTS
	if (!c)
		return;
#endif
	free(c->stack);
	free(c->strands);
	free(c->seen);
	blocks_thread_end();
	c->stack = NULL;
	c->strands = NULL;
	c->seen = NULL;
	c->capacity = c->strand_capacity = c->seen_capacity = 0;
#ifdef ZTS
	free(c);
	strobe_capture = NULL;
#endif
}

/* An error in an annotation's PHP code has ended the request while a call was beginning. */
static void end_change(struct capture *c)
{
	if (c)
		capture_changed(c, atomic_load(&c->sequence) & 1);
}

void tracer_request_start(void)
{
	if (!observe_available())
		return;
#ifdef ZTS
	make_capture();
#endif
	end_change(CAPTURE);
	compile_request_start();
}

void tracer_request_end(void)
{
	struct capture *c = CAPTURE;

#ifdef ZTS
	if (!c)
		return;
#endif
	while (c->sessions)
		close_session(c, c->sessions);
	observe_request_end(c);
	c->warned = false;
	blocks_request_end();
}

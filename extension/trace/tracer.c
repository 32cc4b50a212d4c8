/* tracer.c: opens and closes sessions, and with the first and the last of them the capture. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "blocks.h"
#include "capture.h"
#include "php_strobe.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define SAMPLED_PERIOD_NS 1000000

#ifdef ZTS
TSRM_TLS struct capture *strobe_capture TSRM_TLS_MODEL_ATTR;
#else
struct capture strobe_capture;
#endif

static uint64_t realtime_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool tracer_available(void)
{
	return observe_available();
}

/* What is measured for who asks for `metrics`: beside anything else exact time costs little, and use and peak of memory
 * lie beside each other. */
static unsigned measured_for(unsigned metrics)
{
	if (metrics & (TRACE_MEMORY | TRACE_PEAK))
		metrics |= TRACE_MEMORY | TRACE_PEAK;
	return metrics & ~(unsigned)TRACE_SAMPLED_WALL ? (metrics | TRACE_WALL) & ~(unsigned)TRACE_SAMPLED_WALL : metrics;
}

/* A tick of sampled time. The observer tells of it before the next call begins or ends, so that what runs by the stack of calls
 * is what ran at the tick. */
static void tick(struct strobe_timer *timer, uint64_t periods, const struct moment *m)
{
	struct capture *c = timer->owner;

	if (c->active && c->top->node)
		c->top->node->wall += periods;
}

/* Whether time is sampled from now on, if it was not yet. It takes a thread. */
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

/* A session that needs exact time joins one that samples it: what was sampled becomes ticks. */
static void stop_timer(struct capture *c)
{
	double ticks = (double)c->timer.period_ns / c->ns_per_tick;

	if (!c->timer.period_ns)
		return;
	timer_stop(&c->timer);
	c->timer.period_ns = 0;
	for (uint32_t i = c->nodes.count; i-- > 0;) {
		struct node *n = nodes_at(&c->nodes, i);

		if (n->below)
			n->wall += n->below->wall;
		if (n->parent)
			n->parent->wall += n->wall;
		n->wall = (uint64_t)((double)n->wall * ticks);
	}
}

static bool begin_capture(struct capture *c)
{
	if (!nodes_init(&c->nodes, (uint32_t)STROBE_G(trace_max_nodes)))
		return false;
	if (!capture_stack_init(c) || !strands_init(c)) {
		nodes_done(&c->nodes);
		return false;
	}
	c->metrics = 0;
	c->deaf = c->forked = false;
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
	timer_stop(&c->timer);
	c->timer.period_ns = 0;
	allocations_stop(c);
	cpu_clock_stop(&c->cpu);
	c->active = false;
	observe_update(c);
	strands_done(c);
	capture_stack_done(c);
	nodes_done(&c->nodes);
}

/* Makes the capture measure what the new session wants, beside what it measures already. */
static bool widen(struct capture *c, const struct trace_options *o)
{
	unsigned metrics = measured_for(c->metrics | o->metrics);
	bool was_active = c->active;

	if ((metrics & TRACE_ALLOCATIONS) && !c->stack_counts) {
		c->stack_counts = calloc(c->capacity, sizeof(*c->stack_counts));
		if (!c->stack_counts)
			return false;
	}
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
		capture_flush(c);	/* running calls begin to be measured in all that is new now */
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

/* Never two alike while a capture lasts: nodes of a session that is over must not be taken for those of a new one. */
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

struct trace_session *tracer_start(const struct trace_options *options)
{
	static const struct call_function root = { .kind = CALL_ROOT };
	struct capture *c = CAPTURE;
	struct trace_session **last, *s;
	bool first;

#ifdef ZTS
	if (!c) {
		name_filter_free(options->filter);
		return NULL;
	}
#endif
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
	s->key = new_key();
	s->function = nodes_identity(&c->nodes, &root);
	s->start_ns = realtime_ns();
	s->context = options->own_fiber ? EG(current_fiber_context) : NULL;
	if (options->annotation)
		capture_annotate(c, options->annotation);
	for (last = &c->sessions; *last; last = &(*last)->next)
		;
	*last = s;
	capture_mark(c);
	return s;
}

/* Its marker may lie below calls that go on: then it stays, as the entry of nobody. */
static void close_session(struct capture *c, struct trace_session *s)
{
	struct trace_session **p = &c->sessions;

	if (s->at && c->stack + s->at == c->top)
		capture_pop(c);
	while (*p && *p != s)
		p = &(*p)->next;
	if (*p)
		*p = s->next;
	free_session(s);
	if (!c->sessions)
		end_capture(c);
}

static bool is_open(const struct capture *c, const struct trace_session *s)
{
	for (const struct trace_session *o = c->sessions; o; o = o->next)
		if (o == s)
			return true;
	return false;
}

/* Forgets what the session has seen so far: it begins anew, with the calls that run now below its root. They are put on the
 * stack again, above a new marker. */
static void restart(struct capture *c, struct trace_session *s)
{
	size_t count, kept = 0;
	struct saved_call *calls;
	struct node *n;

	if (!s->at)
		return;
	count = (size_t)(c->top - c->stack) - s->at;
	calls = calloc(count ? count : 1, sizeof(*calls));
	if (!calls)
		return;
	for (struct entry *e = c->top; e > c->stack + s->at; e--)
		if (e->frame)
			calls[kept++] = (struct saved_call){ e->node->key, e->node->function, e->frame };
	while (c->top > c->stack + s->at)
		capture_pop(c);
	capture_pop(c);
	s->key = new_key();
	s->start_ns = realtime_ns();
	cpu_clock_resync(&c->cpu);
	capture_mark(c);
	while (kept--) {
		if (!calls[kept].function)
			break;
		n = capture_node(c, &calls[kept]);
		if (!capture_push(c, n, calls[kept].frame))
			break;
		n->calls++;
	}
	free(calls);
}

void capture_become_child(struct capture *c)
{
	c->forked = false;
	c->limit = c->stack + c->capacity;
	for (struct trace_session *s = c->sessions; s; s = s->next) {
		if (!s->options.anew_in_child)
			continue;
		restart(c, s);
		if (s->options.began_anew)
			s->options.began_anew(s->options.owner);
	}
}

struct call_tree *tracer_look(struct trace_session *s)
{
	struct capture *c = CAPTURE;
	struct call_tree *t;

	if (c->forked)
		capture_become_child(c);
	capture_flush(c);
	t = capture_project(c, s);
	capture_restart_values(c);
	return t;
}

struct call_tree *tracer_stop(struct trace_session *s)
{
	struct capture *c = CAPTURE;
	struct call_tree *t;

	if (!s || !is_open(c, s))
		return NULL;
	if (c->forked)
		capture_become_child(c);
	timer_catch_up(&c->timer);
	capture_flush(c);
	t = capture_project(c, s);
	close_session(c, s);
	return t;
}

void tracer_tell_folded(uint64_t calls)
{
	struct capture *c = CAPTURE;
	char text[160];

#ifdef ZTS
	if (!c)
		return;
#endif
	if (!calls || c->told || !PG(log_errors))
		return;
	c->told = true;
	snprintf(text, sizeof(text), "strobe: %llu calls found no room in the trace and are summed up as [folded]: "
		 "strobe.trace_max_nodes is " ZEND_LONG_FMT, (unsigned long long)calls, STROBE_G(trace_max_nodes));
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

/* Inside fork(): only stores. A stack that looks full brings the next call to capture_become_child. */
static void in_child(void)
{
	struct capture *c = CAPTURE;

#ifdef ZTS
	if (!c)
		return;
#endif
	if (measures_cpu(c))
		cpu_clock_in_child(&c->cpu);
	if (!c->active)
		return;
	c->forked = true;
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

void tracer_request_start(void)
{
	if (!observe_available())
		return;
#ifdef ZTS
	make_capture();
#endif
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
	c->told = false;
	blocks_request_end();
}

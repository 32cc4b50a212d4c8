/* calls.c: the beginning and the end of a call. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "capture.h"
#include "php_strobe.h"

#include <stdlib.h>

#define FIRST_CAPACITY 256u

bool capture_stack_init(struct capture *c)
{
	STROBE_ASSERT(!c->active);
	if (!c->stack) {
		c->stack = malloc(FIRST_CAPACITY * sizeof(*c->stack));
		if (!c->stack)
			return false;
		c->capacity = FIRST_CAPACITY;
	}
	c->stack[0] = (struct entry){ .node = c->nodes.root };
	c->top = c->stack;
	c->limit = c->stack + c->capacity;
	c->guess = &c->nodes.root->first;
	c->overflow = 0;
	return true;
}

void capture_stack_done(struct capture *c)
{
	c->top = c->idle;
	c->limit = c->idle + 1;
	c->idle[0] = (struct entry){ 0 };
	c->guess = NULL;
	/* A stack that was deep once is not kept that large. */
	if (c->capacity > 16 * FIRST_CAPACITY) {
		free(c->stack);
		c->stack = NULL;
		c->capacity = 0;
	}
	free(c->stack_counts);
	c->stack_counts = NULL;
}

static bool grow_stack(struct capture *c)
{
	size_t depth = (size_t)(c->top - c->stack), wanted = c->capacity * 2;
	struct allocation_counts *counts;
	struct entry *bigger;
	bool first;

	if (!c->active || c->muted)
		return false;
	STROBE_ASSERT(c->top + 1 == c->limit);
	bigger = malloc(wanted * sizeof(*bigger));
	if (!bigger)
		return false;
	first = capture_changing(c);
	memcpy(bigger, c->stack, (depth + 1) * sizeof(*bigger));
	free(c->stack);
	c->stack = bigger;
	c->top = bigger + depth;
	c->limit = bigger + c->capacity;
	capture_changed(c, first);
	if (c->stack_counts) {
		counts = realloc(c->stack_counts, wanted * sizeof(*counts));
		if (!counts)
			return false;
		c->stack_counts = counts;
	}
	c->capacity = wanted;
	c->limit = bigger + wanted;
	return true;
}

static bool annotation_applies(const zend_function *f)
{
	return CAPTURE->annotation->applies(f);
}

/* May run PHP code, which is not traced. */
static zend_string *annotation_suffix(zend_execute_data *frame)
{
	struct capture *c = CAPTURE;
	struct entry *limit = c->limit;
	zend_string *suffix;

	STROBE_ASSERT(!c->muted);
	c->muted = true;
	c->limit = c->top + 1;
	suffix = c->annotation->suffix(frame);
	c->limit = limit;
	c->muted = false;
	return suffix;
}

void capture_annotate(struct capture *c, const struct trace_annotation *a)
{
	static const struct trace_annotation ours = { annotation_applies, annotation_suffix };

	c->annotation = a;
	c->nodes.functions.annotation = &ours;
}

/* Makes sure there is room for one more entry. Without memory the call is not recorded; when it ends, the entry on
 * top has another frame. */
static zend_never_inline bool make_room(struct capture *c)
{
	if (UNEXPECTED(c->forked)) {
		capture_become_child(c);
		if (c->top + 1 != c->limit)
			return true;
	}
	if (grow_stack(c))
		return true;
	c->overflow++;
	return false;
}

static zend_never_inline void start_cpu(struct capture *c, struct entry *e)
{
	e->cpu = cpu_clock_at(&c->cpu, e->wall);
}

static zend_never_inline void add_cpu(struct capture *c, const struct entry *e, uint64_t now)
{
	e->node->cpu += cpu_clock_at(&c->cpu, now) - e->cpu;
}

static zend_never_inline void add_allocations(struct capture *c, const struct entry *e)
{
	const struct allocation_counts *start = &c->stack_counts[e - c->stack];
	struct allocation_counts *sum = nodes_allocations(&c->nodes, e->node);

	if (!sum)
		return;
	sum->allocations += c->counts.allocations - start->allocations;
	sum->frees += c->counts.frees - start->frees;
	sum->bytes += c->counts.bytes - start->bytes;
}

/* Both functions take the values to measure; `fast` tells that these can be read directly: from the CPU's counter,
 * and c->heap. */
static zend_always_inline void start_values(struct capture *c, struct entry *e, const unsigned what, const bool fast)
{
	STROBE_ASSERT(!(what & TRACE_CPU) || (what & TRACE_WALL));
	STROBE_ASSERT(!(what & TRACE_ALLOCATIONS) || c->stack_counts);
	STROBE_ASSERT(!fast || !(what & (TRACE_MEMORY | TRACE_PEAK)) || c->heap);
	if (what & TRACE_MEMORY)
		e->memory = (int64_t)(fast ? c->heap->now : zend_memory_usage(false));
	if (what & TRACE_PEAK)
		e->peak = (int64_t)(fast ? c->heap->peak : zend_memory_peak_usage(false));
	if (what & TRACE_ALLOCATIONS)
		c->stack_counts[e - c->stack] = c->counts;
	if (what & TRACE_WALL)
		e->wall = fast ? clock_counter() : clock_ticks();
	if (what & TRACE_CPU) {
		if (cpu_clock_is_synced(&c->cpu))
			e->cpu = cpu_clock_synced_at(&c->cpu, e->wall);
		else
			start_cpu(c, e);
	}
}

/* Returns the time in ticks, if it was read. */
static zend_always_inline uint64_t add_values(struct capture *c, const struct entry *e, const unsigned what, const bool fast)
{
	struct node *n = e->node;
	uint64_t now = 0;

	if (what & TRACE_WALL) {
		now = fast ? clock_counter() : clock_ticks();
		n->wall += now - e->wall;
	}
	if (what & TRACE_MEMORY)
		n->memory += (int64_t)(fast ? c->heap->now : zend_memory_usage(false)) - e->memory;
	if (what & TRACE_PEAK)
		n->peak += (int64_t)(fast ? c->heap->peak : zend_memory_peak_usage(false)) - e->peak;
	if (what & TRACE_ALLOCATIONS)
		add_allocations(c, e);
	if (what & TRACE_CPU) {
		if (cpu_clock_is_synced(&c->cpu))
			n->cpu += cpu_clock_synced_at(&c->cpu, now) - e->cpu;
		else
			add_cpu(c, e, now);
	}
	return now;
}

/* Finds the child of the running call for `frame`, if the guess was wrong. */
static zend_never_inline struct node *find_child(struct capture *c, zend_execute_data *frame, uintptr_t key)
{
	struct node *caller = c->top->node, **guess = c->guess, *n, *before;

	if (guess != &caller->first) {
		before = (struct node *)((char *)guess - offsetof(struct node, after));
		/* The same function was called repeatedly before: the guess applies to the next one. */
		if (before->key == key) {
			if (*guess == c->nodes.none)
				*guess = before;
			return before;
		}
	}
	n = nodes_find(caller, key);
	if (!n) {
		bool first = capture_changing(c);

		if (UNEXPECTED(nodes_full(&c->nodes)) && capture_spill(c)) {
			caller = c->top->node;
			guess = c->guess;
		}
		n = nodes_make(&c->nodes, caller, frame);
		capture_changed(c, first);
	}
	STROBE_ASSERT(n);
	if (n != c->nodes.sink && guess != &c->nodes.sink->after)
		*guess = n;
	return n;
}

static zend_always_inline void enter(struct capture *c, struct node *n, zend_execute_data *frame, const unsigned what,
				     const bool fast)
{
	struct entry *e = c->top + 1;

	STROBE_ASSERT(e < c->limit);
	STROBE_ASSERT(!(what & TRACE_CHART) || (what & TRACE_WALL));
	n->calls++;
	c->guess = &n->first;
	__builtin_prefetch(n->first);
	c->top = e;
	e->node = n;
	e->frame = frame;
	start_values(c, e, what, fast);
	if (what & TRACE_CHART)
		e->call = chart_begin(&c->chart, n, e->wall);
}

/* Whether the call matches the guess. Never true for a closure, whose key is not the address of its function. */
static zend_always_inline bool is_guessed(const struct capture *c, const zend_execute_data *frame)
{
	return EXPECTED((*c->guess)->key == (uintptr_t)frame->func);
}

/* Does the same for a closure. */
static zend_always_inline bool is_guessed_closure(const struct capture *c, const zend_execute_data *frame)
{
	const zend_function *f = frame->func;

	return (f->common.fn_flags & ZEND_ACC_CLOSURE) && EXPECTED((*c->guess)->key == closure_key(f));
}

static zend_never_inline void end_elsewhere(struct capture *c, zend_execute_data *frame);

static zend_always_inline void leave(struct capture *c, const unsigned what, const bool fast)
{
	struct entry *e = c->top;
	struct node *n = e->node;
	uint64_t now;

	STROBE_ASSERT(c->active && e > c->stack);
	__builtin_prefetch(n->after);
	c->guess = &n->after;
	c->top = e - 1;
	now = add_values(c, e, what, fast);
	if (what & TRACE_CHART)
		e->call->end = now;
}

/* Each mode has its own functions, so that a call pays only for what it measures. Rare cases are tail calls, so that
 * the functions themselves need no stack frame. */
#define HANDLERS(name, what, fast)								\
	static zend_never_inline void enter_##name(zend_execute_data *frame)			\
	{											\
		struct capture *c = CAPTURE;							\
												\
		if (EXPECTED(c->top + 1 != c->limit) || make_room(c))				\
			enter(c, find_child(c, frame, function_key(frame->func)), frame,	\
			      what, fast);							\
	}											\
	static zend_never_inline void enter_closure_##name(zend_execute_data *frame)		\
	{											\
		struct capture *c = CAPTURE;							\
												\
		if (is_guessed_closure(c, frame))						\
			enter(c, *c->guess, frame, what, fast);				\
		else										\
			enter_##name(frame);							\
	}											\
	static void begin_##name(zend_execute_data *frame)					\
	{											\
		struct capture *c = CAPTURE;							\
												\
		if (UNEXPECTED(c->top + 1 == c->limit))						\
			enter_##name(frame);							\
		else if (is_guessed(c, frame))							\
			enter(c, *c->guess, frame, what, fast);				\
		else										\
			enter_closure_##name(frame);						\
	}											\
	static void end_##name(zend_execute_data *frame, zval *result)				\
	{											\
		struct capture *c = CAPTURE;							\
												\
		if (EXPECTED(c->top->frame == frame))						\
			leave(c, what, fast);							\
		else										\
			end_elsewhere(c, frame);						\
	}

#define MEMORY (TRACE_WALL | TRACE_MEMORY | TRACE_PEAK)

HANDLERS(counts, 0, true)
HANDLERS(wall, TRACE_WALL, true)
HANDLERS(cpu, TRACE_WALL | TRACE_CPU, true)
HANDLERS(memory, MEMORY, true)
HANDLERS(full, MEMORY | TRACE_CPU, true)
HANDLERS(any, c->metrics & ~(unsigned)TRACE_CHART, false)
HANDLERS(wall_chart, TRACE_WALL | TRACE_CHART, true)
HANDLERS(full_chart, MEMORY | TRACE_CPU | TRACE_CHART, true)
HANDLERS(any_chart, c->metrics | TRACE_CHART, false)

/* Variants for use while timers wait for calls: they deliver due timers with the frame that was running until now,
 * before the stack of calls changes. */
#define POLLED(name)										\
	static void begin_##name##_polled(zend_execute_data *frame)				\
	{											\
		if (timers_due_at_call())							\
			timers_at_call(frame->prev_execute_data);				\
		begin_##name(frame);								\
	}											\
	static void end_##name##_polled(zend_execute_data *frame, zval *result)			\
	{											\
		if (timers_due_at_call())							\
			timers_at_call(frame);							\
		end_##name(frame, result);							\
	}

POLLED(counts)
POLLED(any)
POLLED(any_chart)

const struct capture_handlers capture_handlers[] = {
	[CAPTURE_COUNTS] = { begin_counts, end_counts },
	[CAPTURE_WALL] = { begin_wall, end_wall },
	[CAPTURE_CPU] = { begin_cpu, end_cpu },
	[CAPTURE_MEMORY] = { begin_memory, end_memory },
	[CAPTURE_FULL] = { begin_full, end_full },
	[CAPTURE_ANY] = { begin_any, end_any },
	[CAPTURE_WALL_CHART] = { begin_wall_chart, end_wall_chart },
	[CAPTURE_FULL_CHART] = { begin_full_chart, end_full_chart },
	[CAPTURE_ANY_CHART] = { begin_any_chart, end_any_chart },
	[CAPTURE_COUNTS_POLLED] = { begin_counts_polled, end_counts_polled },
	[CAPTURE_ANY_POLLED] = { begin_any_polled, end_any_polled },
	[CAPTURE_ANY_CHART_POLLED] = { begin_any_chart_polled, end_any_chart_polled },
};

enum capture_mode capture_mode_for(const struct capture *c)
{
	if (!(c->metrics & ~(unsigned)TRACE_SAMPLED_WALL))
		return CAPTURE_COUNTS;
	if (!clock_is_counter || (!c->heap && (c->metrics & TRACE_MEMORY)))
		return c->metrics & TRACE_CHART ? CAPTURE_ANY_CHART : CAPTURE_ANY;
	switch (c->metrics) {
	case TRACE_WALL:
		return CAPTURE_WALL;
	case TRACE_WALL | TRACE_CPU:
		return CAPTURE_CPU;
	case MEMORY:
		return CAPTURE_MEMORY;
	case MEMORY | TRACE_CPU:
		return CAPTURE_FULL;
	case TRACE_WALL | TRACE_CHART:
		return CAPTURE_WALL_CHART;
	case MEMORY | TRACE_CPU | TRACE_CHART:
		return CAPTURE_FULL_CHART;
	default:
		return c->metrics & TRACE_CHART ? CAPTURE_ANY_CHART : CAPTURE_ANY;
	}
}

bool capture_push(struct capture *c, struct node *n, zend_execute_data *frame)
{
	struct entry *e;

	STROBE_ASSERT(c->active);
	if (c->top + 1 == c->limit && !make_room(c))
		return false;
	e = ++c->top;
	*e = (struct entry){ .node = n, .frame = frame };
	c->guess = &n->first;
	start_values(c, e, c->metrics, false);
	if (c->metrics & TRACE_CHART)
		e->call = chart_begin(&c->chart, n, e->wall);
	return true;
}

/* Running calls lose their records, and continue without. */
static void forget_records(struct capture *c)
{
	for (struct entry *e = c->stack; e <= c->top; e++)
		e->call = &c->chart.spare;
}

bool capture_chart_start(struct capture *c)
{
	STROBE_ASSERT(!c->chart.calls);
	if (!chart_start(&c->chart, (size_t)STROBE_G(trace_chart_calls)))
		return false;
	forget_records(c);
	return true;
}

void capture_chart_stop(struct capture *c)
{
	chart_stop(&c->chart);
	c->metrics &= ~(unsigned)TRACE_CHART;
}

void capture_chart_reset(struct capture *c)
{
	c->chart.next = c->chart.calls;
	forget_records(c);
}

void capture_chart_resumed(struct capture *c)
{
	if (c->metrics & TRACE_CHART)
		c->top->call->node |= CHART_RESUMED;
}

struct node *capture_node(struct capture *c, const struct saved_call *call)
{
	if (!call->function)
		return c->nodes.sink;
	if (call->function->id.kind == CALL_ROOT)
		return nodes_marker(&c->nodes, c->top->node, call->key, call->function);
	return nodes_child_of(&c->nodes, c->top->node, call->key, call->function);
}

struct trace_session *capture_marked_by(struct capture *c, const struct entry *e)
{
	size_t at = (size_t)(e - c->stack);

	STROBE_ASSERT(e > c->stack && e <= c->top);
	for (struct trace_session *s = c->sessions; s; s = s->next)
		if (s->at == at)
			return s;
	return NULL;
}

void capture_pop(struct capture *c)
{
	struct entry *e = c->top;

	uint64_t now;

	STROBE_ASSERT(e > c->stack);
	now = add_values(c, e, c->metrics, false);
	if (c->metrics & TRACE_CHART)
		e->call->end = now;
	if (!e->frame) {
		struct trace_session *s = capture_marked_by(c, e);

		if (s)
			s->at = 0;
	}
	c->top = e - 1;
	c->guess = &c->top->node->first;
}

void capture_mark_session(struct capture *c, struct trace_session *s)
{
	struct node *n = nodes_marker(&c->nodes, c->top->node, s->key, s->function);

	STROBE_ASSERT(!s->at);		/* a session has at most one marker at a time */
	/* Without memory, this session does not see what follows. */
	if (n && capture_push(c, n, NULL))
		s->at = (size_t)(c->top - c->stack);
}

void capture_mark_again(struct capture *c, uintptr_t key)
{
	for (struct trace_session *s = c->sessions; s; s = s->next)
		if (s->key == key && !s->at)
			capture_mark_session(c, s);
}

void capture_mark(struct capture *c)
{
	for (struct trace_session *s = c->sessions; s; s = s->next)
		if (!s->at && strands_concern(c, s))
			capture_mark_session(c, s);
}

/* Ends a call that is not on top: it began before the trace, or in an earlier one, or above it are markers of
 * sessions opened inside it, or calls whose end was not reported. */
static zend_never_inline void end_elsewhere(struct capture *c, zend_execute_data *frame)
{
	struct entry *bottom, *e;
	bool first;

	if (!c->active || !c->strand_count)		/* without memory there may be no strand */
		return;
	if (UNEXPECTED(c->forked))
		capture_become_child(c);
	bottom = c->stack + c->strands[c->strand_count - 1].bottom;
	for (e = c->top; e >= bottom && e->frame != frame; e--)
		;
	if (e < bottom)
		return;
	first = capture_changing(c);
	while (c->top >= e)
		capture_pop(c);
	capture_mark(c);
	capture_changed(c, first);
}

/* Each call reads the clock separately, and the thread may be preempted in between. So ends are taken from the
 * innermost call outwards and beginnings from the outermost inwards: no call takes less time than its callees. */
void capture_flush(struct capture *c)
{
	for (struct entry *e = c->top; e > c->stack; e--)
		add_values(c, e, c->metrics, false);
	capture_restart_values(c);
}

void capture_restart_values(struct capture *c)
{
	for (struct entry *e = c->stack + 1; e <= c->top; e++)
		start_values(c, e, c->metrics, false);
}

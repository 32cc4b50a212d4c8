/* calls.c: the beginning and the end of a call. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "capture.h"

#include <stdlib.h>

#define FIRST_CAPACITY 256u

static void set_current(struct capture *c, struct node *n)
{
	c->current = n;
	c->guess = &n->first;
}

bool capture_stack_init(struct capture *c)
{
	if (!c->stack) {
		c->stack = malloc(FIRST_CAPACITY * sizeof(*c->stack));
		if (!c->stack)
			return false;
		c->capacity = FIRST_CAPACITY;
	}
	c->stack[0] = (struct entry){ .caller = c->nodes.root };
	c->top = c->stack;
	c->limit = c->stack + c->capacity;
	set_current(c, c->nodes.root);
	c->overflow = 0;
	return true;
}

void capture_stack_done(struct capture *c)
{
	c->top = c->idle;
	c->limit = c->idle + 1;
	c->idle[0] = (struct entry){ 0 };
	c->current = NULL;
	c->guess = NULL;
	/* A stack that was deep once need not be kept for all time. */
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

	if (!c->active || c->deaf)
		return false;
	bigger = malloc(wanted * sizeof(*bigger));
	if (!bigger)
		return false;
	memcpy(bigger, c->stack, (depth + 1) * sizeof(*bigger));
	free(c->stack);
	c->stack = bigger;
	c->top = bigger + depth;
	c->limit = bigger + c->capacity;
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

/* It may run PHP code, which is none of the program's. */
static zend_string *annotation_suffix(zend_execute_data *frame)
{
	struct capture *c = CAPTURE;
	struct entry *limit = c->limit;
	zend_string *suffix;

	c->deaf = true;
	c->limit = c->top + 1;
	suffix = c->annotation->suffix(frame);
	c->limit = limit;
	c->deaf = false;
	return suffix;
}

void capture_annotate(struct capture *c, const struct trace_annotation *a)
{
	static const struct trace_annotation ours = { annotation_applies, annotation_suffix };

	c->annotation = a;
	c->nodes.annotation = &ours;
}

/* Whether there is one more entry. If there is no memory for it the call is not seen; its end finds that the frame on top
 * is another one. */
static zend_never_inline bool make_room(struct capture *c)
{
	if (grow_stack(c))
		return true;
	c->overflow++;
	return false;
}

static zend_always_inline void start_values(struct capture *c, struct entry *e, const enum capture_mode mode)
{
	if (mode == CAPTURE_ALL) {
		if (c->metrics & TRACE_MEMORY)
			e->memory = (int64_t)zend_memory_usage(false);
		if (c->metrics & TRACE_PEAK)
			e->peak = (int64_t)zend_memory_peak_usage(false);
		if (c->counting)
			c->stack_counts[e - c->stack] = c->counts;
	}
	if (mode != CAPTURE_COUNTS)
		e->wall = clock_ticks();
	if (mode == CAPTURE_CPU || (mode == CAPTURE_ALL && (c->metrics & TRACE_CPU)))
		e->cpu = cpu_clock_at(&c->cpu, e->wall);
}

static zend_always_inline void add_values(struct capture *c, struct entry *e, struct node *n, const enum capture_mode mode)
{
	uint64_t now;

	if (mode == CAPTURE_COUNTS)
		return;
	now = clock_ticks();
	n->wall += now - e->wall;
	if (mode == CAPTURE_CPU || (mode == CAPTURE_ALL && (c->metrics & TRACE_CPU)))
		n->cpu += cpu_clock_at(&c->cpu, now) - e->cpu;
	if (mode == CAPTURE_ALL) {
		if (c->metrics & TRACE_MEMORY)
			n->memory += (int64_t)zend_memory_usage(false) - e->memory;
		if (c->metrics & TRACE_PEAK)
			n->peak += (int64_t)zend_memory_peak_usage(false) - e->peak;
		if (c->counting) {
			const struct allocation_counts *start = &c->stack_counts[e - c->stack];

			n->allocations += c->counts.allocations - start->allocations;
			n->frees += c->counts.frees - start->frees;
			n->allocated += c->counts.bytes - start->bytes;
		}
	}
}

/* The child of the running call that `frame` stands for, if it is not the one that was guessed. */
static zend_never_inline struct node *find_child(struct capture *c, zend_execute_data *frame, uintptr_t key)
{
	struct node *caller = c->current, **guess = c->guess, *n, *before;

	if (guess != &caller->first) {
		before = (struct node *)((char *)guess - offsetof(struct node, after));
		/* What is called in a row, and then something else: the guess is for that. */
		if (before->key == key) {
			if (*guess == c->nodes.none)
				*guess = before;
			return before;
		}
	}
	n = nodes_child(&c->nodes, caller, frame);
	if (n != c->nodes.sink && guess != &c->nodes.sink->after)
		*guess = n;
	return n;
}

/* Every mode is a function of its own, so that a call pays for what it measures. */
static zend_always_inline void begin(zend_execute_data *frame, const enum capture_mode mode)
{
	struct capture *c = CAPTURE;
	struct node *caller, *n;
	struct entry *e;
	uintptr_t key;

	if (UNEXPECTED(c->top + 1 == c->limit) && !make_room(c))
		return;
	caller = c->current;
	key = function_key(frame->func);
	n = *c->guess;
	if (UNEXPECTED(n->key != key))
		n = find_child(c, frame, key);
	n->calls++;
	c->current = n;
	c->guess = &n->first;
	__builtin_prefetch(n->first);
	e = ++c->top;
	e->caller = caller;
	e->frame = frame;
	start_values(c, e, mode);
}

static zend_never_inline void end_elsewhere(struct capture *c, zend_execute_data *frame);

static zend_always_inline void end(zend_execute_data *frame, const enum capture_mode mode)
{
	struct capture *c = CAPTURE;
	struct entry *e = c->top;
	struct node *n;

	if (UNEXPECTED(e->frame != frame)) {
		end_elsewhere(c, frame);
		return;
	}
	n = c->current;
	__builtin_prefetch(n->after);
	add_values(c, e, n, mode);
	c->current = e->caller;
	c->guess = &n->after;
	c->top = e - 1;
}

#define HANDLERS(mode, name)									\
	static void begin_##name(zend_execute_data *frame)					\
	{											\
		begin(frame, mode);								\
	}											\
	static void end_##name(zend_execute_data *frame, zval *result)				\
	{											\
		end(frame, mode);								\
	}

HANDLERS(CAPTURE_COUNTS, counts)
HANDLERS(CAPTURE_WALL, wall)
HANDLERS(CAPTURE_CPU, cpu)
HANDLERS(CAPTURE_ALL, all)

const struct capture_handlers capture_handlers[] = {
	[CAPTURE_COUNTS] = { begin_counts, end_counts },
	[CAPTURE_WALL] = { begin_wall, end_wall },
	[CAPTURE_CPU] = { begin_cpu, end_cpu },
	[CAPTURE_ALL] = { begin_all, end_all },
};

static void add_values_now(struct capture *c, struct entry *e, struct node *n)
{
	switch (c->mode) {
	case CAPTURE_COUNTS:
		break;
	case CAPTURE_WALL:
		add_values(c, e, n, CAPTURE_WALL);
		break;
	case CAPTURE_CPU:
		add_values(c, e, n, CAPTURE_CPU);
		break;
	case CAPTURE_ALL:
		add_values(c, e, n, CAPTURE_ALL);
		break;
	}
}

bool capture_push(struct capture *c, struct node *n, zend_execute_data *frame)
{
	struct entry *e;

	if (c->top + 1 == c->limit && !make_room(c))
		return false;
	e = ++c->top;
	*e = (struct entry){ .caller = c->current, .frame = frame };
	set_current(c, n);
	start_values(c, e, CAPTURE_ALL);
	return true;
}

/* The session whose marker an entry is, NULL if it is none. */
static struct trace_session *marked_by(struct capture *c, const struct entry *e)
{
	size_t at = (size_t)(e - c->stack);

	for (struct trace_session *s = c->sessions; s; s = s->next)
		if (s->at == at)
			return s;
	return NULL;
}

void capture_pop(struct capture *c)
{
	struct entry *e = c->top;

	ZEND_ASSERT(e > c->stack);
	add_values_now(c, e, c->current);
	if (!e->frame) {
		struct trace_session *s = marked_by(c, e);

		if (s)
			s->at = 0;
	}
	set_current(c, e->caller);
	c->top = e - 1;
}

void capture_mark(struct capture *c)
{
	for (struct trace_session *s = c->sessions; s; s = s->next) {
		struct node *n;

		if (s->at)
			continue;
		n = nodes_child_of(&c->nodes, c->current, s->key, s->function);
		if (n == c->nodes.sink || n->key != s->key)
			continue;	/* no memory: what follows is not seen by this session */
		if (capture_push(c, n, NULL))
			s->at = (size_t)(c->top - c->stack);
	}
}

/* A call ends that is not on top: it began before the trace, or in an earlier one, or above it lie markers of sessions
 * that were opened in it, or calls whose end nobody told. */
static zend_never_inline void end_elsewhere(struct capture *c, zend_execute_data *frame)
{
	struct entry *bottom, *e;

	if (!c->active)
		return;
	bottom = c->stack + c->strands[c->strand_count - 1].bottom;
	for (e = c->top; e >= bottom && e->frame != frame; e--)
		;
	if (e < bottom)
		return;
	while (c->top >= e)
		capture_pop(c);
	capture_mark(c);
}

void capture_flush(struct capture *c)
{
	struct node *n = c->current;

	for (struct entry *e = c->top; e > c->stack; e--) {
		struct node *caller = e->caller;

		add_values_now(c, e, n);
		start_values(c, e, CAPTURE_ALL);
		n = caller;
	}
}

/* sampled.c: records the stack at each interval. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "sampled.h"

#include "function_table.h"
#include "realtime.h"
#include "stack.h"
#include "timers.h"

#include "zend_smart_str.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define FIRST_DEPTH 256

struct sampled {
	struct strobe_timer timer;
	struct sampled_options options;
	HashTable *entries;
	int64_t start_ns;		/* on the timer's clock: start of the first interval */
	uint64_t start_us;		/* since 1970: the key of that interval */
	uint64_t intervals;		/* number of intervals recorded */

	struct stack_frame *frames;	/* buffer for a stack */
	size_t capacity;		/* its capacity in frames */
	const zend_function **outer;	/* functions running at the start, leaf first; compared, never dereferenced */
	size_t outer_depth;
};

/* Collects the whole stack into s->frames. Returns its depth, or 0 if memory is short. */
static size_t collect(struct sampled *s, const struct tick_snapshot *m)
{
	struct stack stack = { 0 };

	for (;;) {
		void *bigger;

		stack.frames = s->frames;
		if (s->capacity) {
			stack_collect(&stack, m, s->capacity, false);
			if (!stack.elided_at)
				return stack.depth;
		}
		bigger = realloc(s->frames,
				 ((s->capacity ? s->capacity * 4 : FIRST_DEPTH) + 1) * sizeof(*s->frames));
		if (!bigger)
			return 0;
		s->frames = bigger;
		s->capacity = s->capacity ? s->capacity * 4 : FIRST_DEPTH;
	}
}

/* Returns the number of outermost functions that have been running since the start. */
static size_t count_outer(const struct sampled *s, size_t depth)
{
	size_t n = 0;

	while (n < depth && n < s->outer_depth && s->frames[depth - 1 - n].function == s->outer[s->outer_depth - 1 - n])
		n++;
	return n;
}

/* --- one stack as text */

struct text {
	smart_str out;
	HashTable running;		/* running calls by name */
	size_t skip;			/* number of frames too far from the leaf */
};

static void put_frame(struct text *t, zend_string *name)
{
	zval *calls = zend_hash_find(&t->running, name), one;
	zend_long level = calls ? Z_LVAL_P(calls) : 0;

	if (calls) {
		Z_LVAL_P(calls)++;
	} else {
		ZVAL_LONG(&one, 1);
		zend_hash_add_new(&t->running, name, &one);
	}
	if (t->skip) {
		t->skip--;
		return;
	}
	if (t->out.s)
		smart_str_appendl(&t->out, "==>", 3);
	smart_str_append(&t->out, name);
	if (level) {
		smart_str_appendc(&t->out, '@');
		smart_str_append_long(&t->out, level);
	}
}

/* Returns NULL for functions that are not shown, such as PHP's own frame at the bottom of a fiber, which belongs to
 * no function. */
static zend_string *name_of(const struct sampled *s, const zend_function *f)
{
	struct call_function id;

	if (!ZEND_USER_CODE(f->type) && !f->common.function_name)
		return NULL;
	function_describe(f, &id);
	return edge_name(s->options.names, &id);
}

static zend_string *stack_text(struct sampled *s, const struct tick_snapshot *m)
{
	size_t depth = collect(s, m), shown = 0, limit = s->options.depth > 1 ? (size_t)s->options.depth : 1;
	size_t inner = depth - count_outer(s, depth);
	zend_string **names = safe_emalloc(inner + 1, sizeof(*names), 0);
	struct text t = { 0 };

	names[shown++] = ZSTR_INIT_LITERAL(EDGES_ROOT, false);
	for (size_t i = inner; i-- > 0;) {
		zend_string *name = name_of(s, s->frames[i].function);

		if (name)
			names[shown++] = name;
	}
	zend_hash_init(&t.running, 32, NULL, NULL, false);
	t.skip = shown > limit ? shown - limit : 0;
	for (size_t i = 0; i < shown; i++) {
		put_frame(&t, names[i]);
		zend_string_release(names[i]);
	}
	zend_hash_destroy(&t.running);
	efree(names);
	return smart_str_extract(&t.out);
}

/* --- time */

static void write_down(struct sampled *s, uint64_t intervals, const struct tick_snapshot *m)
{
	zval text;

	if (!intervals)
		return;
	ZVAL_STR(&text, stack_text(s, m));
	while (intervals--) {
		uint64_t us = s->start_us + ++s->intervals * s->options.interval_us;
		char key[40];
		int n = snprintf(key, sizeof(key), "%llu.%06u", (unsigned long long)(us / 1000000),
				 (unsigned)(us % 1000000));

		Z_TRY_ADDREF(text);
		zend_hash_str_update(s->entries, key, (size_t)n, &text);
	}
	zval_ptr_dtor(&text);
}

static uint64_t elapsed_intervals(const struct sampled *s)
{
	int64_t elapsed = timer_now(TIMER_WALL) - s->start_ns;

	return elapsed > 0 ? (uint64_t)elapsed / (s->options.interval_us * 1000) : 0;
}

static void expired(struct strobe_timer *timer, uint64_t periods, const struct tick_snapshot *m)
{
	struct sampled *s = timer->owner;
	uint64_t over = elapsed_intervals(s);

	if (over > s->intervals)
		write_down(s, over - s->intervals, m);
}

/* --- life */

/* The function that is running when sampling starts becomes "main()" in the result. */
static bool remember_outer(struct sampled *s)
{
	struct tick_snapshot m = { .frame = EG(current_execute_data) };

	/* The function that starts sampling is internal, and returns before the first sample. */
	if (m.frame && m.frame->func && !ZEND_USER_CODE(m.frame->func->type))
		m.frame = m.frame->prev_execute_data;
	s->outer_depth = collect(s, &m);
	if (!s->outer_depth)
		return true;
	s->outer = malloc(s->outer_depth * sizeof(*s->outer));
	if (!s->outer)
		return false;
	for (size_t i = 0; i < s->outer_depth; i++)
		s->outer[i] = s->frames[i].function;
	return true;
}

static void release(struct sampled *s)
{
	free(s->frames);
	free(s->outer);
	free(s);
}

struct sampled *sampled_start(const struct sampled_options *options, int *ret_error)
{
	struct sampled *s = calloc(1, sizeof(*s));
	uint64_t now_us, late_us;
	int64_t interval_ns = (int64_t)options->interval_us * 1000;

	assert(options->interval_us > 0 && options->interval_us < INT64_MAX / 2000);
	*ret_error = ENOMEM;
	if (!s)
		return NULL;
	s->options = *options;
	s->timer.expired = expired;
	s->timer.owner = s;
	s->timer.allocates = true;
	if (!remember_outer(s)) {
		release(s);
		return NULL;
	}
	now_us = realtime_ns() / 1000;
	late_us = now_us % options->interval_us;
	s->start_us = now_us - late_us;
	s->start_ns = timer_now(TIMER_WALL) - (options->on_grid ? (int64_t)late_us * 1000 : 0);
	*ret_error = timer_start(&s->timer, TIMER_WALL,
				 options->on_grid ? interval_ns - (int64_t)late_us * 1000 : interval_ns, interval_ns);
	if (*ret_error) {
		release(s);
		return NULL;
	}
	s->entries = zend_new_array(0);
	return s;
}

void sampled_stop(struct sampled *s, zval *ret)
{
	const zend_execute_data *frame = EG(current_execute_data);
	struct tick_snapshot m = { .frame = frame ? frame->prev_execute_data : NULL };
	uint64_t over = elapsed_intervals(s);

	timer_stop(&s->timer);
	if (over > s->intervals)
		write_down(s, over - s->intervals, &m);
	ZVAL_ARR(ret, s->entries);
	s->entries = NULL;
	release(s);
}

void sampled_drop(struct sampled *s)
{
	if (!s)
		return;
	timer_stop(&s->timer);
	zend_array_destroy(s->entries);
	release(s);
}

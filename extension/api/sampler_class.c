/* sampler_class.c: Strobe\Sampler. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "arginfo.h"
#include "classes.h"
#include "delivery.h"
#include "php_strobe.h"
#include "realtime.h"
#include "sampled_tree.h"
#include "timers.h"

#include <errno.h>
#include <stdlib.h>

/* A trie is full after 32,704 nodes; then the next one is used. Samples that find no room in any are counted. */
#define TRIES 32

/* A larger trie returns its memory instead of being kept for the next sampler. */
#define SPARE_NODES 4096

struct sampler_object {
	struct strobe_timer timer;
	enum timer_clock clock;
	int64_t period_ns;
	size_t max_depth;
	bool running;
	uint64_t start_ns;			/* since 1970 */
	struct trie *tries;			/* an array of TRIES; NULL while stopped */
	unsigned trie_count;
	uint64_t lost;				/* samples */
	struct sampler_object *next, **link;	/* list of running samplers */
	zend_object std;
};

static zend_class_entry *sampler_ce;
static zend_object_handlers handlers;

static struct sampler_object *from_object(zend_object *o)
{
	return (struct sampler_object *)((char *)o - offsetof(struct sampler_object, std));
}

static zend_object *create(zend_class_entry *ce)
{
	struct sampler_object *s = zend_object_alloc(sizeof(*s), ce);

	memset(s, 0, offsetof(struct sampler_object, std));
	zend_object_std_init(&s->std, ce);
	object_properties_init(&s->std, ce);
	s->std.handlers = &handlers;
	return &s->std;
}

/* Mapping a trie costs more than the rest of a start, so the thread keeps one for reuse. */
static bool add_trie(struct api_thread *a, struct sampler_object *s)
{
	struct trie *t = &s->tries[s->trie_count];

	if (s->trie_count == TRIES)
		return false;
	*t = a->spare;
	memset(&a->spare, 0, sizeof(a->spare));
	if (!trie_map(t))
		return false;
	s->trie_count++;
	return true;
}

static void release_tries(struct api_thread *a, struct sampler_object *s)
{
	while (s->trie_count) {
		struct trie *t = &s->tries[--s->trie_count];
		bool small = t->count <= SPARE_NODES;

		trie_empty(t);
		if (small && !a->spare.nodes)
			a->spare = *t;
		else
			trie_unmap(t);
	}
	free(s->tries);
	s->tries = NULL;
}

static void take_sample(struct strobe_timer *timer, uint64_t periods, const struct tick_snapshot *m)
{
	struct sampler_object *s = timer->owner;
	struct api_thread *a = api_thread_if_any();
	struct trie *t = &s->tries[s->trie_count - 1];
	uint32_t samples = periods < UINT32_MAX ? (uint32_t)periods : UINT32_MAX;

	stack_collect(&a->stack, m, s->max_depth, trie_knows_root_half(t, 0));
	if (!trie_has_space(t, a->stack.depth)) {
		if (!add_trie(a, s)) {
			s->lost += periods;
			return;
		}
		t = &s->tries[s->trie_count - 1];
		if (a->stack.rootless)
			stack_collect(&a->stack, m, s->max_depth, false);
	}
	if (a->stack.depth)
		trie_add(t, 0, &a->stack, samples);
}

static bool prepare(struct api_thread *a, struct sampler_object *s)
{
	if (!a)
		return false;
	if (!a->stack.frames)
		a->stack.frames = malloc((STROBE_MAX_DEPTH + 1) * sizeof(*a->stack.frames));
	if (!a->stack.frames)
		return false;
	s->tries = calloc(TRIES, sizeof(*s->tries));
	s->lost = 0;
	if (s->tries && add_trie(a, s))
		return true;
	free(s->tries);
	s->tries = NULL;
	return false;
}

/* Stops the timer and leaves the list; the tries remain. */
static void halt(struct sampler_object *s)
{
	timer_stop(&s->timer);
	s->running = false;
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
}

static void drop(struct sampler_object *s)
{
	if (!s->running)
		return;
	halt(s);
	release_tries(api_thread_if_any(), s);
}

static void free_object(zend_object *o)
{
	drop(from_object(o));
	zend_object_std_dtor(o);
}

void sampler_class_request_end(struct api_thread *a)
{
	while (a->samplers)
		drop(a->samplers);
}

ZEND_METHOD(Strobe_Sampler, __construct)
{
	struct sampler_object *s = from_object(Z_OBJ_P(ZEND_THIS));
	double period = 0.01;
	zend_string *clock = NULL;
	zend_long max_depth = 512;

	ZEND_PARSE_PARAMETERS_START(0, 3)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE(period)
		Z_PARAM_STR(clock)
		Z_PARAM_LONG(max_depth)
	ZEND_PARSE_PARAMETERS_END();

	if (!(period >= STROBE_MIN_PERIOD && period <= STROBE_MAX_PERIOD)) {
		zend_argument_value_error(1, "must be between 0.0001 and 3600 seconds");
		RETURN_THROWS();
	}
	if (clock && !zend_string_equals_literal(clock, "wall") && !zend_string_equals_literal(clock, "cpu")) {
		zend_argument_value_error(2, "must be either \"wall\" or \"cpu\"");
		RETURN_THROWS();
	}
	if (max_depth < STROBE_MIN_DEPTH || max_depth > STROBE_MAX_DEPTH) {
		zend_argument_value_error(3, "must be between %d and %d", STROBE_MIN_DEPTH, STROBE_MAX_DEPTH);
		RETURN_THROWS();
	}
	if (s->running) {
		zend_throw_exception(strobe_exception_ce, "The sampler is running", 0);
		RETURN_THROWS();
	}
	s->period_ns = (int64_t)(period * 1e9);
	s->clock = clock && zend_string_equals_literal(clock, "cpu") ? TIMER_CPU : TIMER_WALL;
	s->max_depth = (size_t)max_depth;
}

/* The first sample comes after a random fraction of a period, so that code shorter than a period is sampled in
 * proportion to its time. */
ZEND_METHOD(Strobe_Sampler, start)
{
	struct sampler_object *s = from_object(Z_OBJ_P(ZEND_THIS));
	struct api_thread *a = api_thread();
	int64_t first;
	int r;

	ZEND_PARSE_PARAMETERS_NONE();
	if (s->running) {
		zend_throw_exception(strobe_exception_ce, "The sampler is running already", 0);
		RETURN_THROWS();
	}
	if (!api_may_start())
		RETURN_THROWS();
	if (!prepare(a, s)) {
		zend_throw_exception(strobe_exception_ce, "Not enough memory for samples", 0);
		RETURN_THROWS();
	}
	s->timer.expired = take_sample;
	s->timer.owner = s;
	s->timer.passive = true;
	s->start_ns = realtime_ns();
	first = 1 + (int64_t)(random_share(&a->random) * (double)s->period_ns);
	r = timer_start(&s->timer, s->clock, first, s->period_ns);
	if (r) {
		release_tries(a, s);
		if (r == ENOTSUP)
			zend_throw_exception_ex(strobe_exception_ce, 0, "No samples can be taken: %s", delivery_reason());
		else
			zend_throw_exception(strobe_exception_ce, "No thread could be started for the sampler", 0);
		RETURN_THROWS();
	}
	s->running = true;
	s->next = a->samplers;
	s->link = &a->samplers;
	if (s->next)
		s->next->link = &s->next;
	a->samplers = s;
}

ZEND_METHOD(Strobe_Sampler, stop)
{
	struct sampler_object *s = from_object(Z_OBJ_P(ZEND_THIS));
	struct call_tree *t;

	ZEND_PARSE_PARAMETERS_NONE();
	if (!s->running) {
		zend_throw_exception(strobe_exception_ce, "The sampler is not running", 0);
		RETURN_THROWS();
	}
	if (!s->timer.running && delivery_reason())
		php_error_docref(NULL, E_WARNING, "Sampling ended when the JIT was enabled: %s", delivery_reason());
	timer_deliver_rest(&s->timer);
	halt(s);
	t = sampled_tree(s->tries, s->trie_count, s->lost, (uint64_t)s->period_ns, s->clock == TIMER_CPU);
	release_tries(api_thread_if_any(), s);
	if (!t) {
		zend_throw_exception(strobe_exception_ce, "Not enough memory for the profile", 0);
		RETURN_THROWS();
	}
	t->start_ns = s->start_ns;
	t->end_ns = realtime_ns();
	if (t->end_ns < t->start_ns)
		t->end_ns = t->start_ns;	/* the clock was set back */
	profile_object_init(return_value, t);
}

ZEND_METHOD(Strobe_Sampler, isRunning)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_BOOL(from_object(Z_OBJ_P(ZEND_THIS))->running);
}

static const zend_function_entry strobe_sampler_methods[] = {
	ZEND_ME(Strobe_Sampler, __construct, arginfo_strobe_sampler_construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Sampler, start, arginfo_strobe_void, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Sampler, stop, arginfo_strobe_stop, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Sampler, isRunning, arginfo_strobe_bool, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

void sampler_class_register(void)
{
	zend_class_entry ce;

	INIT_NS_CLASS_ENTRY(ce, "Strobe", "Sampler", strobe_sampler_methods);
	sampler_ce = zend_register_internal_class(&ce);
	sampler_ce->create_object = create;
	class_seal(sampler_ce, &handlers, offsetof(struct sampler_object, std), free_object);
}

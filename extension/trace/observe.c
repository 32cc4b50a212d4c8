/* observe.c: installs and removes the handlers of functions.
 *
 * PHP asks an observer about a function at its first call in a request, and keeps the answer until the request ends.
 * While nothing is traced the answer is "no handlers", which costs a call almost nothing; and we remember where the
 * answer is stored: in the function's run-time cache. These caches stay in place during the request, except those of
 * closures with their own cache, which is freed with the closure; such closures are searched among living objects
 * instead.
 *
 * Functions have handlers for two reasons: their calls are traced, or timers wait for calls because interrupts are not safe
 * (delivery.h). PHP has room for only one pair of handlers of ours, so if both apply one pair does both.
 *
 * Code that runs once (the file scope of a script) is looked up each time, so it need not be remembered.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "capture.h"
#include "delivery.h"
#include "php_strobe.h"

#include "zend_closures.h"
#include "zend_extensions.h"
#include "zend_fibers.h"
#include "zend_observer.h"

#include <stdlib.h>

static bool registered;

/* The lowest bit of a remembered cache marks internal functions, for which PHP 8.4 stores the answer elsewhere. */
#define INTERNAL ((uintptr_t)1)
#define SUSPENDS ((uintptr_t)2)

static int handle_of(bool internal)
{
#if PHP_VERSION_ID >= 80400
	if (internal)
		return zend_observer_fcall_internal_function_extension;
#endif
	return zend_observer_fcall_op_array_extension;
}

/* A remembered function: its run-time cache and kind. */
struct seen {
	void **cache;
	bool internal;
	bool suspends;			/* Fiber::suspend() and Fiber's other methods */
};

static struct seen unpack(uintptr_t packed)
{
	return (struct seen){ (void **)(packed & ~(INTERNAL | SUSPENDS)), packed & INTERNAL, packed & SUSPENDS };
}

/* PHP's functions for changing handlers take a function, but read only its type and run-time cache. */
static void stand_in(zend_function *f, const struct seen *s)
{
	memset(f, 0, sizeof(*f));
	f->type = s->internal ? ZEND_INTERNAL_FUNCTION : ZEND_USER_FUNCTION;
	ZEND_MAP_PTR_INIT(f->common.run_time_cache, s->cache);
}

static void remove_from(const struct seen *s, const struct capture_handlers *h)
{
	zend_function f;

	stand_in(&f, s);
#if PHP_VERSION_ID >= 80400
	{
		zend_observer_fcall_begin_handler next_begin;
		zend_observer_fcall_end_handler next_end;

		zend_observer_remove_begin_handler(&f, h->begin, &next_begin);
		zend_observer_remove_end_handler(&f, h->end, &next_end);
	}
#else
	zend_observer_remove_begin_handler(&f, h->begin);
	zend_observer_remove_end_handler(&f, h->end);
#endif
}

static void add_to(const struct seen *s, const struct capture_handlers *h)
{
	zend_function f;

	/* Removing them twice would be wrong: closures may share a cache. */
	remove_from(s, h);
	stand_in(&f, s);
	zend_observer_add_begin_handler(&f, h->begin);
	zend_observer_add_end_handler(&f, h->end);
}

/* When a fiber is switched away from, its stack no longer has a root. */
static bool suspends(const zend_function *f)
{
	return !ZEND_USER_CODE(f->type) && f->common.scope == zend_ce_fiber;
}

static bool has_own_cache(const zend_function *f)
{
	return ZEND_USER_CODE(f->type) && (f->common.fn_flags & ZEND_ACC_HEAP_RT_CACHE);
}

static void remember(struct capture *c, const zend_function *f)
{
	uintptr_t cache = (uintptr_t)RUN_TIME_CACHE(&f->common);

	STROBE_ASSERT(cache && !(cache & (INTERNAL | SUSPENDS)));
	if (c->seen_count == c->seen_capacity) {
		uint32_t wanted = c->seen_capacity ? c->seen_capacity * 2 : 1024;
		void *bigger = realloc(c->seen, wanted * sizeof(*c->seen));

		if (!bigger)
			return;
		c->seen = bigger;
		c->seen_capacity = wanted;
	}
	c->seen[c->seen_count++] = cache | (ZEND_USER_CODE(f->type) ? 0 : INTERNAL) | (suspends(f) ? SUSPENDS : 0);
}

/* Handlers that only deliver due timers. As the ticking thread notes the running calls (tick_note.h), it is enough to
 * check occasionally: when functions written in PHP begin and end, and before a fiber's stack loses its root. If that
 * thread cannot read the stack, every event is checked. */
static void begin_poll(zend_execute_data *frame)
{
	if (timers_due_at_call())
		timers_at_call(frame->prev_execute_data);
}

static void end_poll(zend_execute_data *frame, zval *result)
{
	if (timers_due_at_call())
		timers_at_call(frame);
}

static const struct capture_handlers poll_user = { begin_poll, end_poll };
static const struct capture_handlers poll_all = { begin_poll, end_poll };

static bool is_wanted(const struct capture *c, const zend_function *f)
{
	STROBE_ASSERT(c->installed);
	if (!ZEND_USER_CODE(f->type))
		return c->installed_internals || (c->installed == &poll_user && suspends(f));
	return f->common.function_name || c->installed_files;
}

/* Called by PHP once per function. */
static zend_observer_fcall_handlers answer(zend_execute_data *frame)
{
	struct capture *c = CAPTURE;
	const zend_function *f = frame->func;
	zend_observer_fcall_handlers none = { NULL, NULL };
	const struct capture_handlers *h;

#ifdef ZTS
	if (!c)
		return none;
#endif
	if (f->common.function_name && !has_own_cache(f))
		remember(c, f);
	h = c->installed;
	if (!h || !is_wanted(c, f))
		return none;
	return (zend_observer_fcall_handlers){ h->begin, h->end };
}

static void for_each_function(struct capture *c, const struct capture_handlers *h,
			      void (*change)(const struct seen *s, const struct capture_handlers *h), bool internals)
{
	for (uint32_t i = 0; i < c->seen_count; i++) {
		struct seen s = unpack(c->seen[i]);

		if (!s.internal || internals || (h == &poll_user && s.suspends))
			change(&s, h);
	}
	if (!EG(objects_store).object_buckets)
		return;
	for (uint32_t i = 1; i < EG(objects_store).top; i++) {
		zend_object *o = EG(objects_store).object_buckets[i];
		const zend_function *f;
		struct seen s = { 0 };

		if (!IS_OBJ_VALID(o) || o->ce != zend_ce_closure)
			continue;
		f = zend_get_closure_method_def(o);
		if (!has_own_cache(f))
			continue;
		s.cache = RUN_TIME_CACHE(&f->common);
		if (s.cache && s.cache[handle_of(false)])
			change(&s, h);
	}
}

static const struct capture_handlers *wanted_handlers(const struct capture *c)
{
	if (c->active && !c->polling)
		return &capture_handlers[c->mode];
	if (c->active)
		return &capture_handlers[c->metrics & TRACE_CHART ? CAPTURE_ANY_CHART_POLLED :
					 c->mode == CAPTURE_COUNTS ? CAPTURE_COUNTS_POLLED : CAPTURE_ANY_POLLED];
	if (!c->polling)
		return NULL;
	return delivery_notes() ? &poll_user : &poll_all;
}

void observe_update(struct capture *c)
{
	const struct capture_handlers *h = wanted_handlers(c);
	bool internals = h == &poll_all || (c->active && (c->internals || (c->polling && !delivery_notes())));
	bool files = c->polling || (c->active && c->files);

	if (!STROBE_G(in_request))
		return;
	STROBE_ASSERT(h || !internals);
	if (h != c->installed || internals != c->installed_internals) {
		if (c->installed)
			for_each_function(c, c->installed, remove_from, c->installed_internals);
		if (h)
			for_each_function(c, h, add_to, internals);
	}
	c->installed = h;
	c->installed_internals = internals;
	c->installed_files = files;
}

/* Called when timers begin or cease to wait for calls of this thread. */
static void watch(bool on)
{
	struct capture *c = CAPTURE;

#ifdef ZTS
	if (!c)
		return;
#endif
	c->polling = on;
	observe_update(c);
}

void observe_request_end(struct capture *c)
{
	c->polling = false;
	c->installed = NULL;
	c->seen_count = 0;
	if (c->seen_capacity > 65536) {
		free(c->seen);
		c->seen = NULL;
		c->seen_capacity = 0;
	}
}

/* PHP reserves room for answers after all modules have started, so a module loaded by dl() has none. */
void observe_startup(int type)
{
	if (!STROBE_G(instrument) || type != MODULE_PERSISTENT)
		return;
	zend_observer_fcall_register(answer);
	delivery_offer_calls(watch);
	registered = true;
}

bool observe_available(void)
{
	return registered;
}

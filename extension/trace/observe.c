/* observe.c: gives functions their handlers and takes them away.
 *
 * PHP asks an observer about a function when it is called first in a request, and goes by the answer for the rest of it.
 * While nothing is traced the answer is "no handlers", which costs a call almost nothing; and we remember where the answer
 * is kept: in the function's run-time cache. Caches are of the request and stay where they are, but for those of closures
 * that have one of their own, which goes away with the closure; these are looked for among the living objects instead.
 *
 * Functions have handlers for two reasons: their calls are traced, or timers wait for calls because interrupts are not safe
 * (delivery.h). PHP has room for one pair of handlers of ours, so where both are true one pair does both.
 *
 * Code that runs once (the file scope of a script) is asked about anew each time, so it needs no memory.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "capture.h"
#include "delivery.h"
#include "php_strobe.h"

#include "zend_closures.h"
#include "zend_extensions.h"
#include "zend_observer.h"

#include <stdlib.h>

static bool registered;

/* The lowest bit of a remembered cache says that the function is internal: PHP 8.4 keeps the answer elsewhere there. */
#define INTERNAL ((uintptr_t)1)

static int handle_of(bool internal)
{
#if PHP_VERSION_ID >= 80400
	if (internal)
		return zend_observer_fcall_internal_function_extension;
#endif
	return zend_observer_fcall_op_array_extension;
}

/* PHP's calls that change handlers want a function, and look only at its type and run-time cache. */
static void stand_in(zend_function *f, void **cache, bool internal)
{
	memset(f, 0, sizeof(*f));
	f->type = internal ? ZEND_INTERNAL_FUNCTION : ZEND_USER_FUNCTION;
	ZEND_MAP_PTR_INIT(f->common.run_time_cache, cache);
}

static zend_observer_fcall_begin_handler begin_of(const struct capture_handlers *h, bool internal)
{
	return internal ? h->begin_internal : h->begin;
}

static void remove_from(void **cache, bool internal, const struct capture_handlers *h)
{
	zend_function f;

	stand_in(&f, cache, internal);
#if PHP_VERSION_ID >= 80400
	{
		zend_observer_fcall_begin_handler next_begin;
		zend_observer_fcall_end_handler next_end;

		zend_observer_remove_begin_handler(&f, begin_of(h, internal), &next_begin);
		if (h->end)
			zend_observer_remove_end_handler(&f, h->end, &next_end);
	}
#else
	zend_observer_remove_begin_handler(&f, begin_of(h, internal));
	if (h->end)
		zend_observer_remove_end_handler(&f, h->end);
#endif
}

static void add_to(void **cache, bool internal, const struct capture_handlers *h)
{
	zend_function f;

	/* Twice would be once too often: closures may share a cache. */
	remove_from(cache, internal, h);
	stand_in(&f, cache, internal);
	zend_observer_add_begin_handler(&f, begin_of(h, internal));
	if (h->end)
		zend_observer_add_end_handler(&f, h->end);
}

static bool has_own_cache(const zend_function *f)
{
	return ZEND_USER_CODE(f->type) && (f->common.fn_flags & ZEND_ACC_HEAP_RT_CACHE);
}

static void remember(struct capture *c, const zend_function *f)
{
	uintptr_t cache = (uintptr_t)RUN_TIME_CACHE(&f->common);

	if (c->seen_count == c->seen_capacity) {
		uint32_t wanted = c->seen_capacity ? c->seen_capacity * 2 : 1024;
		void *bigger = realloc(c->seen, wanted * sizeof(*c->seen));

		if (!bigger)
			return;
		c->seen = bigger;
		c->seen_capacity = wanted;
	}
	c->seen[c->seen_count++] = (void **)(cache | (ZEND_USER_CODE(f->type) ? 0 : INTERNAL));
}

/* Handlers that only pass on what is due. As the ticking thread notes what ran (tick_note.h), it is enough to look now and then:
 * when a function written in PHP begins, and at the end of a script. Where it cannot read that, every event counts. */
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

static const struct capture_handlers poll_begins = { begin_poll, begin_poll, NULL };
static const struct capture_handlers poll_all = { begin_poll, begin_poll, end_poll };

static bool is_wanted(const struct capture *c, const zend_function *f)
{
	if (!ZEND_USER_CODE(f->type))
		return c->installed_internals;
	return f->common.function_name || c->installed_files;
}

/* PHP asks about a function. */
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
	if (!f->common.function_name && h == &poll_begins)
		h = &poll_all;
	return (zend_observer_fcall_handlers){ begin_of(h, !ZEND_USER_CODE(f->type)), h->end };
}

static void for_each_cache(struct capture *c, const struct capture_handlers *h,
			   void (*change)(void **cache, bool internal, const struct capture_handlers *h), bool internals)
{
	for (uint32_t i = 0; i < c->seen_count; i++) {
		bool internal = (uintptr_t)c->seen[i] & INTERNAL;

		if (!internal || internals)
			change((void **)((uintptr_t)c->seen[i] & ~INTERNAL), internal, h);
	}
	if (!EG(objects_store).object_buckets)
		return;
	for (uint32_t i = 1; i < EG(objects_store).top; i++) {
		zend_object *o = EG(objects_store).object_buckets[i];
		const zend_function *f;
		void **cache;

		if (!IS_OBJ_VALID(o) || o->ce != zend_ce_closure)
			continue;
		f = zend_get_closure_method_def(o);
		if (!has_own_cache(f))
			continue;
		cache = RUN_TIME_CACHE(&f->common);
		if (cache && cache[handle_of(false)])
			change(cache, false, h);
	}
}

static const struct capture_handlers *wanted(const struct capture *c)
{
	if (c->active)
		return &capture_handlers[c->polling ? CAPTURE_POLLED : c->mode];
	if (!c->polling)
		return NULL;
	return delivery_notes() ? &poll_begins : &poll_all;
}

void observe_update(struct capture *c)
{
	const struct capture_handlers *h = wanted(c);
	bool internals = h == &poll_all || (c->active && (c->internals || (c->polling && !delivery_notes())));
	bool files = c->polling || (c->active && c->files);

	if (!STROBE_G(in_request))
		return;
	if (h != c->installed || internals != c->installed_internals) {
		if (c->installed)
			for_each_cache(c, c->installed, remove_from, c->installed_internals);
		if (h)
			for_each_cache(c, h, add_to, internals);
	}
	c->installed = h;
	c->installed_internals = internals;
	c->installed_files = files;
}

/* Timers begin or cease to wait for calls of this thread. */
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

/* PHP reserves the room for answers when it has started all modules: for one that dl() loads there is none. */
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

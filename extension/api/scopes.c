/* scopes.c: the scopes of a request, and what fibers do to them. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "scopes.h"

#include "api_thread.h"
#include "php_strobe.h"
#include "sampler.h"

#include "zend_fibers.h"
#include "zend_observer.h"

#include <stdlib.h>

void scopes_changing(void)
{
	sampler_catch_up();
}

void scopes_changed(struct api_thread *a)
{
	const struct scope *s = a->scope;

	STROBE_G(own_labels) = s->labels.count ? &s->labels : NULL;
	STROBE_G(labels_version)++;
	STROBE_G(unsampled) = !s->work->sampled;
}

static struct scope *hold(struct scope *s)
{
	s->references++;
	return s;
}

static void release(struct scope *s)
{
	while (s && s->link && --s->references == 0) {
		struct scope *outer = s->outer;

		*s->link = s->next;
		if (s->next)
			s->next->link = s->link;
		free(s);
		s = outer;
	}
}

/* What holds where `s` was entered: itself, or what is around the outermost one that is over. Whatever is not over is held
 * by whoever has begun it. */
static struct scope *holding(struct scope *s)
{
	struct scope *r = s;

	for (; s; s = s->outer)
		if (s->over)
			r = s->outer;
	return r;
}

void scope_visit(struct api_thread *a, struct scope *s)
{
	if (a->scope == s)
		return;
	scopes_changing();
	a->scope = s;
	scopes_changed(a);
}

struct scope *scope_begin(struct api_thread *a, struct work *work)
{
	struct scope *outer = a->scope, *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	s->outer = hold(outer);
	s->work = work ? work : outer->work;
	s->references = 1;
	s->over = false;
	s->labels.count = outer->labels.count;
	memcpy(s->labels.items, outer->labels.items, outer->labels.count * sizeof(*s->labels.items));
	s->next = a->scopes;
	s->link = &a->scopes;
	if (s->next)
		s->next->link = &s->next;
	a->scopes = s;
	scope_visit(a, s);
	return s;
}

void scope_end(struct api_thread *a, struct scope *s)
{
	s->over = true;
	scope_visit(a, holding(a->scope));
	release(s);
}

/* --- fibers */

static zend_ulong key_of(const zend_fiber_context *context)
{
	return (zend_ulong)(uintptr_t)context;
}

static struct scope *take(struct api_thread *a, const zend_fiber_context *context)
{
	struct scope *s = a->has_fibers ? zend_hash_index_find_ptr(&a->fibers, key_of(context)) : NULL;

	if (s)
		zend_hash_index_del(&a->fibers, key_of(context));
	return s;
}

static void remember(struct api_thread *a, const zend_fiber_context *context, struct scope *s)
{
	if (!a->has_fibers)
		zend_hash_init(&a->fibers, 8, NULL, NULL, true);
	a->has_fibers = true;
	zend_hash_index_update_ptr(&a->fibers, key_of(context), hold(s));
}

/* A fiber that nobody remembers is in the scope of the request. */
static void switched(zend_fiber_context *from, zend_fiber_context *to)
{
	struct api_thread *a = api_thread_if_any();
	struct scope *s;

	if (!a || !a->scope || (a->scope == &a->base && !a->has_fibers))
		return;
	s = take(a, to);
	if (from->status != ZEND_FIBER_STATUS_DEAD && a->scope != &a->base)
		remember(a, from, a->scope);
	if (s)
		scope_visit(a, holding(s));
	else
		scope_visit(a, to->status == ZEND_FIBER_STATUS_INIT ? a->scope : &a->base);
	release(s);
}

/* Its address may come to mean another one. */
static void destroyed(zend_fiber_context *context)
{
	struct api_thread *a = api_thread_if_any();

	if (a)
		release(take(a, context));
}

static void forget_fibers(struct api_thread *a)
{
	struct scope *s;

	if (!a->has_fibers)
		return;
	ZEND_HASH_FOREACH_PTR(&a->fibers, s) {
		release(s);
	} ZEND_HASH_FOREACH_END();
	zend_hash_destroy(&a->fibers);
	a->has_fibers = false;
}

void scopes_startup(void)
{
	zend_observer_fiber_switch_register(switched);
	zend_observer_fiber_destroy_register(destroyed);
}

/* --- requests */

void scopes_request_start(struct api_thread *a)
{
	a->base.work = &a->request;
	a->base.labels.count = 0;
	a->scope = &a->base;
	scopes_changed(a);
}

void scopes_request_end(struct api_thread *a, bool free_all)
{
	for (struct scope *s = a->scopes; s; s = s->next)
		s->over = true;
	forget_fibers(a);
	while (free_all && a->scopes) {
		struct scope *s = a->scopes;

		a->scopes = s->next;
		free(s);
	}
	a->base.labels.count = 0;
	a->request.sampled = false;
	a->scope = &a->base;
	scopes_changed(a);
}

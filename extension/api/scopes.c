/* scopes.c: the scopes of a request, and their relation to fibers. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "scopes.h"

#include "api_thread.h"
#include "php_strobe.h"
#include "sampler.h"
#include "strobe_assert.h"

#include "zend_fibers.h"
#include "zend_observer.h"

#include <stdlib.h>

static void switched(zend_fiber_context *from, zend_fiber_context *to);
static void destroyed(zend_fiber_context *context);

void scopes_changing(void)
{
	sampler_catch_up();
}

void scopes_changed(struct api_thread *a)
{
	const struct scope *s = a->scope;

	STROBE_ASSERT(s && s->work && s->labels.count <= REQUEST_LABELS);
	STROBE_G(own_labels) = s->labels.count ? &s->labels : NULL;
	STROBE_G(unsampled) = !s->work->sampled;
	/* Must be the last change, since the ticker's thread may be reading (watch.h). */
	__atomic_store_n(&STROBE_G(labels_version), STROBE_G(labels_version) + 1, __ATOMIC_RELEASE);
}

static struct scope *hold(struct scope *s)
{
	STROBE_ASSERT(!s->link || s->references > 0);
	s->references++;
	return s;
}

static void release(struct scope *s)
{
	while (s && s->link && --s->references == 0) {
		struct scope *outer = s->outer;

		STROBE_ASSERT(*s->link == s && !s->inner && !s->sibling_link);
		*s->link = s->next;
		if (s->next)
			s->next->link = s->link;
		free(s);
		s = outer;
	}
}

/* Returns `s` or the innermost scope around it that has not ended. */
static struct scope *holding(struct scope *s)
{
	while (s->over) {
		STROBE_ASSERT(s->outer);
		s = s->outer;
	}
	return s;
}

void scope_visit(struct api_thread *a, struct scope *s)
{
	if (a->scope == s)
		return;
	scopes_changing();
	a->scope = s;
	scopes_changed(a);
}

/* --- nesting */

static void put_inside(struct scope *s, struct scope *outer)
{
	STROBE_ASSERT(s != outer && !outer->over);
	s->outer = hold(outer);
	s->sibling = outer->inner;
	s->sibling_link = &outer->inner;
	if (s->sibling)
		s->sibling->sibling_link = &s->sibling;
	outer->inner = s;
}

/* Unlinks the scope, but keeps its `outer` for scopes still inside it. */
static void take_out(struct scope *s)
{
	if (!s->sibling_link)
		return;
	STROBE_ASSERT(*s->sibling_link == s && s->outer);
	*s->sibling_link = s->sibling;
	if (s->sibling)
		s->sibling->sibling_link = s->sibling_link;
	s->sibling_link = NULL;
}

static void move(struct scope *s, struct scope *to)
{
	struct scope *from = s->outer;

	take_out(s);
	put_inside(s, to);
	release(from);
}

/* Begins an iteration over everything inside a scope, inner scopes first, the scope itself last. */
static struct scope *innermost_of(struct scope *s)
{
	while (s->inner)
		s = s->inner;
	return s;
}

static struct scope *next_of(struct scope *s, const struct scope *top)
{
	if (s == top)
		return NULL;
	return s->sibling ? innermost_of(s->sibling) : s->outer;
}

/* Whether a scope between the two has set or changed this label. */
static bool is_set_between(struct scope *s, const struct scope *from, const char *key)
{
	while ((s = s->outer) != from) {
		const struct request_label *label = request_labels_find(&s->labels, key);

		if (label && !label->inherited)
			return true;
	}
	return false;
}

/* Removes the labels that `s` has inherited from the enclosing `from`, and restores the values outside `from`. */
static void take_labels_back(struct scope *s, const struct scope *from)
{
	for (unsigned i = s->labels.count; i-- > 0;) {
		struct request_label *label = &s->labels.items[i];
		const struct request_label *around;

		if (!label->inherited || is_set_between(s, from, label->key))
			continue;
		around = request_labels_find(&from->outer->labels, label->key);
		if (around)
			memcpy(label->value, around->value, sizeof(label->value));
		else
			request_labels_remove(&s->labels, label->key, strlen(label->key));
	}
}

/* When a scope ends, scopes that other fibers have begun inside it move to the enclosing one. */
static void move_inner_scope_out(struct scope *top, const struct scope *over)
{
	for (struct scope *s = innermost_of(top); s; s = next_of(s, top)) {
		if (s->work == over->work)
			s->work = over->outer->work;
		take_labels_back(s, over);
	}
	move(top, over->outer);
}

static struct scope *innermost_of_fiber(struct scope *s)
{
	struct scope *i = s->inner;

	while (i) {
		if (i->fiber != s->fiber) {
			i = i->sibling;
			continue;
		}
		s = i;
		i = s->inner;
	}
	return s;
}

/* Ends `s` and the scopes that its fiber has begun inside it, innermost first. Their labels stay unchanged, since a
 * run may still need them. */
static void end_inside(struct scope *s)
{
	struct scope *i, *outer;

	for (i = innermost_of_fiber(s);; i = innermost_of_fiber(outer)) {
		outer = i->outer;
		STROBE_ASSERT(outer && !i->over);
		while (i->inner)
			move_inner_scope_out(i->inner, i);
		i->over = true;
		take_out(i);
		if (i == s)
			return;
	}
}

/* PHP calls handlers at each switch of every fiber, which costs 36 instructions each, so they are registered only
 * when the first scope begins. The list of handlers has no lock, so in thread-safe PHP they are registered at
 * startup. */
static void follow_fibers(void)
{
	static bool follows;

	if (follows)
		return;
	zend_observer_fiber_switch_register(switched);
	zend_observer_fiber_destroy_register(destroyed);
	follows = true;
}

/* Returns the bottom frame of a fiber's stack; NULL for the main program, and for a fiber that has not begun or has
 * ended. */
static zend_execute_data *bottom_of(zend_fiber_context *context)
{
	return context->kind == zend_ce_fiber ? zend_fiber_from_context(context)->stack_bottom : NULL;
}

static zend_execute_data *resumer_of(zend_fiber_context *context)
{
	const zend_execute_data *bottom = bottom_of(context);

	return bottom ? bottom->prev_execute_data : NULL;
}

struct scope *scope_begin(struct api_thread *a, struct work *work)
{
	struct scope *outer = a->scope, *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	follow_fibers();
	if (EG(active_fiber))
		a->resumer = resumer_of(&EG(active_fiber)->context);
	s->inner = NULL;
	s->fiber = a->fiber;
	s->work = work ? work : outer->work;
	s->references = 1;
	s->over = false;
	s->labels.count = outer->labels.count;
	memcpy(s->labels.items, outer->labels.items, outer->labels.count * sizeof(*s->labels.items));
	for (unsigned i = 0; i < s->labels.count; i++)
		s->labels.items[i].inherited = true;
	put_inside(s, outer);
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
	STROBE_ASSERT(s != &a->base);
	if (!s->over) {
		scopes_changing();
		end_inside(s);
		a->scope = holding(a->scope);
		scopes_changed(a);
	}
	release(s);
}

/* --- fibers */

struct fiber {
	struct scope *scope;		/* its scope while it does not run; NULL: that of the request */
	uint64_t number;		/* unique within this request */
};

static struct fiber *find_fiber(struct api_thread *a, const zend_fiber_context *context)
{
	return a->has_fibers ? zend_hash_index_find_ptr(&a->fibers, (zend_ulong)(uintptr_t)context) : NULL;
}

static struct fiber *add_fiber(struct api_thread *a, const zend_fiber_context *context)
{
	struct fiber *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	if (!a->has_fibers)
		zend_hash_init(&a->fibers, 8, NULL, NULL, true);
	a->has_fibers = true;
	zend_hash_index_update_ptr(&a->fibers, (zend_ulong)(uintptr_t)context, f);
	return f;
}

static void remember(struct api_thread *a, const zend_fiber_context *context)
{
	struct fiber *f = find_fiber(a, context);

	if (!f && a->scope != &a->base)
		f = add_fiber(a, context);
	if (!f)
		return;
	STROBE_ASSERT(!f->scope);
	f->number = a->fiber;
	f->scope = a->scope == &a->base ? NULL : hold(a->scope);
}

/* A fiber without an entry has no open scope. */
static void enter(struct api_thread *a, const zend_fiber_context *context)
{
	struct fiber *f = find_fiber(a, context);
	struct scope *s = f ? f->scope : NULL;

	a->fiber = f ? f->number : ++a->last_fiber;
	if (f)
		f->scope = NULL;
	if (s)
		scope_visit(a, holding(s));
	else
		scope_visit(a, context->status == ZEND_FIBER_STATUS_INIT ? a->scope : &a->base);
	release(s);
}

/* A suspended fiber has lost the base of its stack. It is sampled once more if the labels change. */
static void switched(zend_fiber_context *from, zend_fiber_context *to)
{
	struct api_thread *a = api_thread_if_any();
	zend_execute_data *rootless;

	if (!a || !a->scope || (a->scope == &a->base && !a->has_fibers))
		return;
	rootless = from->status != ZEND_FIBER_STATUS_DEAD && !resumer_of(from) ? bottom_of(from) : NULL;
	if (rootless)
		rootless->prev_execute_data = a->resumer;
	if (from->status != ZEND_FIBER_STATUS_DEAD)
		remember(a, from);
	enter(a, to);
	if (rootless)
		rootless->prev_execute_data = NULL;
	a->resumer = to->status == ZEND_FIBER_STATUS_INIT ? EG(current_execute_data) : resumer_of(to);
}

static void forget(struct fiber *f)
{
	release(f->scope);
	free(f);
}

/* The address may be reused for another fiber. */
static void destroyed(zend_fiber_context *context)
{
	struct api_thread *a = api_thread_if_any();
	struct fiber *f = a ? find_fiber(a, context) : NULL;

	if (!f)
		return;
	zend_hash_index_del(&a->fibers, (zend_ulong)(uintptr_t)context);
	forget(f);
}

static void forget_fibers(struct api_thread *a)
{
	struct fiber *f;

	if (!a->has_fibers)
		return;
	ZEND_HASH_FOREACH_PTR(&a->fibers, f) {
		forget(f);
	} ZEND_HASH_FOREACH_END();
	zend_hash_destroy(&a->fibers);
	a->has_fibers = false;
}

/* --- labels of a unit of work */

/* The outermost scope of the work sets the label; those inside inherit it. */
static void set_label(struct scope *s, const struct request_label *label)
{
	if (request_labels_set(&s->labels, label->key, strlen(label->key), label->value, strlen(label->value)) == 0)
		request_labels_find(&s->labels, label->key)->inherited = s->outer && s->outer->work == s->work;
}

void scopes_set_label(struct api_thread *a, const struct work *work, const struct request_label *label)
{
	scopes_changing();
	if (a->base.work == work)
		set_label(&a->base, label);
	for (struct scope *s = a->scopes; s; s = s->next)
		if (s->work == work && !s->over)
			set_label(s, label);
	scopes_changed(a);
}

void scopes_startup(void)
{
#ifdef ZTS
	follow_fibers();
#endif
}

/* --- requests */

void scopes_request_start(struct api_thread *a)
{
	a->base.work = &a->request;
	a->base.labels.count = 0;
	a->scope = &a->base;
	a->resumer = NULL;
	scopes_changed(a);
}

void scopes_request_end(struct api_thread *a, bool free_all)
{
	for (struct scope *s = a->scopes; s; s = s->next) {
		s->over = true;
		take_out(s);
	}
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

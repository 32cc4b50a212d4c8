/* strands.c: follows fibers in the stack of running calls.
 *
 * PHP reports each switch. A resumed fiber runs below its resumer, like its real stack, until it is suspended or
 * ends: its running calls are then removed from the stack, and stored if it can be resumed. While it is suspended no
 * time passes for them. They are counted once, where they began.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "capture.h"

#include "zend_fibers.h"
#include "zend_observer.h"

#include <stdlib.h>

static bool add_strand(struct capture *c, zend_fiber_context *context)
{
	if (c->strand_count == c->strand_capacity) {
		size_t wanted = c->strand_capacity ? c->strand_capacity * 2 : 8;
		void *bigger = realloc(c->strands, wanted * sizeof(*c->strands));

		if (!bigger)
			return false;
		c->strands = bigger;
		c->strand_capacity = wanted;
	}
	c->strands[c->strand_count++] = (struct strand){ context, (size_t)(c->top - c->stack) + 1 };
	return true;
}

bool strands_concern(const struct capture *c, const struct trace_session *s)
{
	if (!s->context)
		return true;
	for (size_t i = c->strand_count; i-- > 0;)
		if (c->strands[i].context == s->context)
			return true;
	return false;
}

void strands_move(struct capture *c, size_t from)
{
	for (size_t i = 0; i < c->strand_count; i++)
		if (c->strands[i].bottom == from)
			c->strands[i].bottom = (size_t)(c->top - c->stack) + 1;
}

static void forget(struct suspended *s)
{
	free(s->calls);
	free(s);
}

void strands_done(struct capture *c)
{
	while (c->suspended) {
		struct suspended *s = c->suspended;

		c->suspended = s->next;
		forget(s);
	}
	c->strand_count = 0;
}

static struct suspended *take_suspended(struct capture *c, const zend_fiber_context *context)
{
	for (struct suspended **p = &c->suspended; *p; p = &(*p)->next)
		if ((*p)->context == context) {
			struct suspended *s = *p;

			*p = s->next;
			return s;
		}
	return NULL;
}

/* Whether the entry is the marker of a session that records nothing until the fiber is resumed, and then the same
 * calls again. */
static bool belongs_to_strand(struct capture *c, const struct entry *e, const zend_fiber_context *context)
{
	const struct trace_session *session = capture_marked_by(c, e);

	return session && session->context == context;
}

/* Stores the running calls from `bottom` up, without markers of sessions that follow the resumed strand. */
static void save(struct capture *c, zend_fiber_context *context, size_t bottom)
{
	/* Entries below it are calls that ended with a session of their own. */
	size_t running = (size_t)(c->top - c->stack) + 1, depth = running > bottom ? running - bottom : 0;
	struct suspended *s = calloc(1, sizeof(*s));
	size_t i;

	if (!s)
		return;
	s->context = context;
	s->calls = calloc(depth ? depth : 1, sizeof(*s->calls));
	if (!s->calls) {
		free(s);
		return;
	}
	for (struct entry *e = c->top; e >= c->stack + bottom; e--)
		if (e->frame || belongs_to_strand(c, e, context))
			s->calls[s->count++] = (struct saved_call){ e->node->key, e->node->function, e->frame };
	/* Root first. */
	for (i = 0; i < s->count / 2; i++) {
		struct saved_call call = s->calls[i];

		s->calls[i] = s->calls[s->count - 1 - i];
		s->calls[s->count - 1 - i] = call;
	}
	s->next = c->suspended;
	c->suspended = s;
}

/* Suspends the running strand. */
static void leave(struct capture *c)
{
	struct strand *s = &c->strands[--c->strand_count];

	STROBE_ASSERT(s->bottom > 0);		/* the root is never popped */
	if (s->context->status != ZEND_FIBER_STATUS_DEAD)
		save(c, s->context, s->bottom);
	while ((size_t)(c->top - c->stack) >= s->bottom)
		capture_pop(c);
}

/* Begins or resumes a strand, on top of the running one. */
static void enter(struct capture *c, zend_fiber_context *context)
{
	struct suspended *s = take_suspended(c, context);
	bool resumed = false;

	if (!add_strand(c, context)) {
		if (s)
			forget(s);
		return;
	}
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++) {
		struct node *n;

		if (!s->calls[i].frame) {
			capture_mark_again(c, s->calls[i].key);
			continue;
		}
		n = capture_node(c, &s->calls[i]);

		if (!capture_push(c, n, s->calls[i].frame))
			break;
		capture_chart_resumed(c);
		n->resumptions += !resumed;
		c->nodes.resumptions += !resumed;
		resumed = true;
	}
	forget(s);
}

/* Whether `from` resumes or starts a fiber, instead of returning control. */
static bool is_resumption(const zend_fiber_context *from)
{
	return EG(active_fiber) && &EG(active_fiber)->context != from;
}

static void switched(zend_fiber_context *from, zend_fiber_context *to)
{
	struct capture *c = CAPTURE;
	bool first;

#ifdef ZTS
	if (!c)
		return;
#endif
	if (!c->active)
		return;
	first = capture_changing(c);
	if (c->forked)
		capture_become_child(c);
	if (is_resumption(from)) {
		enter(c, to);
	} else {
		do
			leave(c);
		while (c->strand_count && c->strands[c->strand_count - 1].context != to);
		if (!c->strand_count)
			enter(c, to);	/* the trace began in the fiber: the resumed calls were never recorded */
	}
	capture_mark(c);
	capture_changed(c, first);
}

/* Owner of sessions whose fiber no longer exists. */
static const char nobody;

/* Called when a fiber is freed, suspended or not, since its address may be reused. */
static void destroyed(zend_fiber_context *context)
{
	struct capture *c = CAPTURE;
	struct suspended *s;

#ifdef ZTS
	if (!c)
		return;
#endif
	if (!c->active)
		return;
	s = take_suspended(c, context);
	if (s)
		forget(s);
	for (struct trace_session *session = c->sessions; session; session = session->next)
		if (session->context == context)
			session->context = &nobody;
}

/* PHP calls handlers at each switch of every fiber, so they are registered only with the first trace. The list of
 * handlers has no lock, so in thread-safe PHP they are registered at startup. */
static void observe_switches(void)
{
	static bool follows;

	if (follows)
		return;
	zend_observer_fiber_switch_register(switched);
	zend_observer_fiber_destroy_register(destroyed);
	follows = true;
}

bool strands_init(struct capture *c)
{
	STROBE_ASSERT(!c->suspended);
	observe_switches();
	c->strand_count = 0;
	return add_strand(c, EG(current_fiber_context));
}

void strands_startup(void)
{
#ifdef ZTS
	observe_switches();
#endif
}

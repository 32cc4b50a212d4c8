/* spill.c: passes a full tree on and restarts.
 *
 * A consumer that needs only sums over all paths (the arrays of the xhprof family have pairs of caller and callee)
 * can add up the tree whenever it is full. So no path has to be folded as long as the running calls leave room for
 * others.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "capture.h"

#include <stdlib.h>

static bool is_possible(const struct capture *c)
{
	if ((size_t)(c->top - c->stack) * 2 > c->nodes.max)
		return false;
	for (const struct trace_session *s = c->sessions; s; s = s->next)
		if (!s->options.spill)
			return false;
	return true;
}

static void forget_trees(struct capture *c)
{
	for (struct trace_session *s = c->sessions; s; s = s->next) {
		call_tree_free(s->spilled);
		s->spilled = NULL;
	}
}

static bool make_trees(struct capture *c)
{
	for (struct trace_session *s = c->sessions; s; s = s->next) {
		STROBE_ASSERT(!s->spilled);
		s->spilled = capture_project(c, s);
		if (!s->spilled) {
			forget_trees(c);
			return false;
		}
	}
	return true;
}

/* Creates new nodes for the running calls, which have been counted where they began. */
static void run_again(struct capture *c, const struct saved_call *calls, struct entry *top)
{
	c->stack[0].node = c->nodes.root;
	for (c->top = c->stack; c->top < top; c->top++) {
		struct node *n = capture_node(c, &calls[c->top - c->stack]);

		c->top[1].node = n ? n : c->nodes.sink;
	}
	c->guess = &c->top->node->first;
	STROBE_ASSERT(c->top == top);
}

bool capture_spill(struct capture *c)
{
	struct entry *top = c->top;
	struct saved_call *calls;

	STROBE_ASSERT(nodes_full(&c->nodes));
	if (!is_possible(c))
		return false;
	calls = malloc(((size_t)(top - c->stack) + 1) * sizeof(*calls));
	if (!calls)
		return false;
	for (struct entry *e = c->stack + 1; e <= top; e++)
		calls[e - c->stack - 1] = (struct saved_call){ e->node->key, e->node->function, e->frame };
	capture_flush(c);
	if (!make_trees(c) || !nodes_reset(&c->nodes)) {
		forget_trees(c);
		free(calls);
		return false;
	}
	run_again(c, calls, top);
	free(calls);
	for (struct trace_session *s = c->sessions; s; s = s->next)
		s->options.spill(s->options.owner, s->spilled);
	forget_trees(c);
	capture_restart_values(c);
	return true;
}

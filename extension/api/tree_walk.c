/* tree_walk.c: walks trees and stacks. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "tree_walk.h"

#include "strobe_assert.h"

/* First child and next sibling of each node; 0: none. */
struct links {
	uint32_t *first, *next;
};

static struct links link_nodes(const struct call_tree *t)
{
	struct links l = {
		ecalloc(t->node_count, sizeof(*l.first)),
		ecalloc(t->node_count, sizeof(*l.next)),
	};

	STROBE_ASSERT(t->node_count > 0);
	for (uint32_t n = t->node_count; n-- > 1;) {
		STROBE_ASSERT(t->nodes[n].parent < n);
		l.next[n] = l.first[t->nodes[n].parent];
		l.first[t->nodes[n].parent] = n;
	}
	return l;
}

static void walk(const struct call_tree *t, const struct links *l, const struct tree_visitor *v, void *data)
{
	uint32_t n = 0, depth = 0;

	for (;;) {
		if (v->enter)
			v->enter(data, n, depth);
		if (l->first[n]) {
			n = l->first[n];
			depth++;
			continue;
		}
		for (;;) {
			if (v->leave)
				v->leave(data, n, depth);
			STROBE_ASSERT((n == 0) == (depth == 0));
			if (n == 0)
				return;
			if (l->next[n])
				break;
			n = t->nodes[n].parent;
			depth--;
		}
		n = l->next[n];
	}
}

void tree_walk(const struct call_tree *t, const struct tree_visitor *v, void *data)
{
	struct links l = link_nodes(t);

	walk(t, &l, v, data);
	efree(l.first);
	efree(l.next);
}

struct stacks {
	const struct call_tree *tree;
	const struct stack_visitor *visitor;
	void *data;
	struct links links;
	bool rootless;
	uint32_t functions[STACKS_DEPTH + 1];
	int64_t elided[METRICS];	/* values of frames that are too deep, below the current node */
};

/* Computes the self values of node `n`. Returns whether any is nonzero. */
static bool own_values(const struct stacks *s, uint32_t n, int64_t *values)
{
	const struct call_tree *t = s->tree;
	bool any = false;

	for (unsigned k = 0; k < s->visitor->metric_count; k++) {
		int m = s->visitor->metrics[k];

		values[k] = metric_value(t, n, m);
		if (metric_is_inclusive(m))
			for (uint32_t c = s->links.first[n]; c; c = s->links.next[c])
				values[k] -= metric_value(t, c, m);
		any |= values[k] != 0;
	}
	return any;
}

/* Returns the number of frames of a stack that ends at this depth. */
static size_t frames(const struct stacks *s, uint32_t depth)
{
	return depth + !s->rootless;
}

static void enter_node(void *data, uint32_t n, uint32_t depth)
{
	struct stacks *s = data;
	size_t size = frames(s, depth);
	int64_t values[METRICS];

	if (size > STACKS_DEPTH) {
		own_values(s, n, values);
		for (unsigned k = 0; k < s->visitor->metric_count; k++)
			s->elided[k] += values[k];
		return;
	}
	STROBE_ASSERT(s->tree->nodes[n].function < s->tree->function_count);
	if (size)
		s->functions[size - 1] = s->tree->nodes[n].function;
	if (own_values(s, n, values) && size)
		s->visitor->stack(s->data, s->functions, size, values);
}

static void leave_node(void *data, uint32_t n, uint32_t depth)
{
	struct stacks *s = data;
	bool any = false;

	if (frames(s, depth) != STACKS_DEPTH)
		return;
	for (unsigned k = 0; k < s->visitor->metric_count; k++)
		any |= s->elided[k] != 0;
	if (!any)
		return;
	s->functions[STACKS_DEPTH] = s->tree->function_count;
	s->visitor->stack(s->data, s->functions, STACKS_DEPTH + 1, s->elided);
	memset(s->elided, 0, sizeof(s->elided));
}

void stacks_walk(const struct call_tree *t, const struct stack_visitor *v, void *data)
{
	const struct tree_visitor visitor = { enter_node, leave_node };
	struct stacks *s = ecalloc(1, sizeof(*s));

	STROBE_ASSERT(v->metric_count <= METRICS);
	s->tree = t;
	s->visitor = v;
	s->data = data;
	s->rootless = t->period_ns != 0;
	s->links = link_nodes(t);
	walk(t, &s->links, &visitor, s);
	efree(s->links.first);
	efree(s->links.next);
	efree(s);
}

zend_string **names_new(const struct call_tree *t)
{
	const size_t size = 65536;
	zend_string **names = safe_emalloc(t->function_count, sizeof(*names), sizeof(*names));
	char *text = emalloc(size);

	for (uint32_t i = 0; i < t->function_count; i++)
		names[i] = zend_string_init(text, call_function_text(&t->functions[i], text, size), 0);
	names[t->function_count] = zend_string_init(ZEND_STRL("[elided]"), 0);
	efree(text);
	return names;
}

void names_free(zend_string **names, const struct call_tree *t)
{
	for (uint32_t i = 0; i <= t->function_count; i++)
		zend_string_release(names[i]);
	efree(names);
}

/* walk.c: walks a tree that is stored as an array of parents, depth first. */

#include "walk.h"

#include "mem.h"

#include <assert.h>

void walk_init(struct walk *w, const struct profile *p)
{
	*w = (struct walk){ .p = p, .node = PROFILE_ROOT };
	w->first_child = xcalloc(p->node_count, sizeof(*w->first_child));
	w->next_sibling = xcalloc(p->node_count, sizeof(*w->next_sibling));
	for (uint32_t n = p->node_count - 1; n > 0; n--) {
		assert(p->parents[n] < n);
		w->next_sibling[n] = w->first_child[p->parents[n]];
		w->first_child[p->parents[n]] = n;
	}
}

static bool go(struct walk *w, uint32_t node, bool leaving)
{
	w->node = node;
	w->leaving = leaving;
	return node != PROFILE_ROOT;
}

bool walk_next(struct walk *w)
{
	if (!w->leaving && w->first_child[w->node])
		return go(w, w->first_child[w->node], false);
	if (!w->leaving)
		return go(w, w->node, true);
	if (w->next_sibling[w->node])
		return go(w, w->next_sibling[w->node], false);
	return go(w, w->p->parents[w->node], true);
}

void walk_done(struct walk *w)
{
	free(w->first_child);
	free(w->next_sibling);
	w->first_child = w->next_sibling = NULL;
}

/* flame_layout.h: shared by all layouts for the canvas: totals, and children in the order of their names. */
#ifndef RENDER_FLAME_LAYOUT_H
#define RENDER_FLAME_LAYOUT_H

#include "profile.h"
#include "render.h"

#include <stdbool.h>

struct flame_layout {
	const struct profile *p;
	enum flamegraph_width_of width_of;	/* for a difference; set before the totals */
	int64_t *totals;
	int64_t *before, *after;	/* for a difference: totals of both sides; else NULL */
	int64_t *measured;		/* if `before` is scaled: unscaled; else NULL */
	int64_t least;			/* boxes narrower than this are left out */
	uint32_t left_out;
	const bool *open;		/* by node: whether its children are needed; NULL: all */
	uint32_t *first_child;		/* by node, into `children`; node_count + 1 of them */
	uint32_t *children;		/* nodes, by parent and then by name */
	uint32_t *order;		/* nodes, by depth and then by start: the output */
	uint32_t count;
	int64_t *starts;		/* by node */
	uint32_t *depths;		/* index in `order` of the first node of each depth */
	size_t depth_count, depth_capacity;
};

/* Computes totals of a column, and of both sides of a difference unless `before_column` is UINT32_MAX. */
void flame_layout_totals(struct flame_layout *l, uint32_t column, uint32_t before_column);

/* Fills first_child and children with the nodes that are boxes. */
void flame_layout_children(struct flame_layout *l);
void flame_layout_done(struct flame_layout *l);

static inline bool flame_layout_is_box(const struct flame_layout *l, uint32_t node)
{
	return node == PROFILE_ROOT || (l->totals[node] >= l->least && (!l->open || l->open[l->p->parents[node]]));
}

#endif

/* flame_arrays.h: a flame graph as Pyroscope's arrays, of one tree or of two that are compared.
 *
 * One array per depth, and per node of it, left to right, for each tree
 *	x	the distance from the end of the node before in the same array
 *	total, self
 * and behind these one index of a name. The first array is the root's, which has the name 0, "total". Nodes that do
 * not fit become the last child `other` of their parent.
 */
#ifndef PYROSCOPE_FLAME_ARRAYS_H
#define PYROSCOPE_FLAME_ARRAYS_H

#include "name_tree.h"

struct flame_arrays {
	struct intern names;
	struct flame_level {
		int64_t *values;
		size_t count, capacity;
	} *levels;
	size_t level_count;		/* at least 1 */
	unsigned sides;			/* 1 or 2 */
	int64_t total, max_self;	/* over both */
	int64_t totals[2];
};

/* `right` is NULL unless two trees are compared. About `most` (above 0) nodes are shown. */
void flame_arrays_init(struct flame_arrays *f, const struct name_tree *left, const struct name_tree *right, uint32_t most);
void flame_arrays_done(struct flame_arrays *f);

/* Appends the message FlameGraph or FlameGraphDiff. */
void flame_arrays_put(const struct flame_arrays *f, struct buf *out);

#endif

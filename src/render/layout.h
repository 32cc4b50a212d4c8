/* layout.h: the position of each frame in a flame graph: its row, and the values where it begins and ends.
 *
 * It works in values, not in pixels: a box begins at `start` and is `value` wide, both in the unit of the column, and
 * the root is as wide as everything together. Boxes are in preorder, siblings are sorted like lines of folded stacks
 * (by bytes), so that equal profiles give equal pictures. Frames too narrow or too deep to be drawn are counted, and
 * may become hidden boxes, so that sums over boxes equal those of the profile.
 */
#ifndef RENDER_LAYOUT_H
#define RENDER_LAYOUT_H

#include "profile.h"

struct layout_box {
	uint32_t node, frame;		/* in the profile; the root's frame is UINT32_MAX */
	uint32_t depth;			/* the root's is 0 */
	bool hidden;			/* not drawn; follows its visible siblings */
	int64_t start, value;
};

struct layout {
	struct layout_box *boxes;	/* box 0 is the root; there is none if the total is 0 */
	size_t count;
	size_t drawn;			/* boxes that are not hidden */
	size_t beyond;			/* nodes with a value that are not a box */
	int64_t total;
	uint32_t depth;			/* depth of the deepest visible box */
	uint32_t depth_boxes;		/* depth of the deepest box */

	size_t narrow;			/* nodes not drawn because they are too narrow */
	int64_t narrow_value;		/* their value, including everything on top of them */
	uint32_t negative;		/* nodes with a negative self value, which no width can represent */
	int64_t negative_value;		/* their sum, 0 or less */
	size_t deep;			/* nodes left out below `depth_max` */
	uint32_t depth_uncut;		/* depth of the picture without depth_max */
};

/* Leaves out nodes narrower than `min_width`, which is in pixels for a root that is `width` wide, or a percentage,
 * and nodes deeper than `depth_max`. */
struct layout_limits {
	double min_width, width;
	bool percent;
	uint32_t depth_max;
	size_t hidden_max;		/* nodes that are not drawn become hidden boxes, widest first, up to about
					 * this number; 0: none */
	const int64_t *widths;		/* by node, not negative: replaces the column's self values; NULL: these */
	int64_t total;			/* the minimum width of the root */
};

/* Returns the value below which a node is too narrow, for a root of `total`. */
double layout_narrowest(int64_t total, const struct layout_limits *limits);

/* Lays out `column` of `p` (UINT32_MAX: none). Negative self values, as for freed memory, count as zero and are
 * summed separately. */
void layout_init(struct layout *l, const struct profile *p, uint32_t column, const struct layout_limits *limits);
void layout_done(struct layout *l);

#endif

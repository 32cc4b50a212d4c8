/* lines.h: lays out lines of folded stacks exactly like flamegraph.pl, to the last digit.
 *
 * Its merging is not that of a tree: lines are sorted as strings, including counts, and adjacent lines share their
 * common first frames. So a frame may become several boxes, if a line of another function sorts between its lines. It
 * uses Perl's arithmetic: integers where possible, otherwise doubles, and the end of a frame keeps only 15 digits,
 * because it was part of a hash key.
 */
#ifndef RENDER_LINES_H
#define RENDER_LINES_H

#include "render.h"

struct line_box {
	struct str name;		/* in the lines, or in the layout's memory; "" at depth 0 is the root */
	uint32_t depth;
	uint32_t order;			/* order in which frames began; boxes are sorted by it: preorder */
	double start, end, width;	/* in counts */
	double delta;			/* change of a line with two counts */
	bool has_delta;
	bool gone;			/* used while laying out */
};

struct line_layout {
	struct line_box *boxes;
	size_t count;
	double total;			/* sum of all lines, or the requested one if that is larger; 0: no counts */
	double max_delta;		/* at least 1 */
	uint32_t depth;			/* depth of the deepest box */
	uint64_t stacks, ignored;	/* lines with and without a count */
	const struct flamegraph_line *first_ignored;	/* the one with the lowest number; NULL: none */
	size_t narrow;			/* frames too narrow to be drawn */
	double narrow_value;		/* value of those whose caller is drawn */
	struct arena memory;		/* holds lines that had to be rewritten */
};

#define LINE_DEPTH_MAX ((uint32_t)1 << 20)	/* frames per stack */

/* The lines must stay valid while the layout is used. Returns -ERANGE for counts that do not fit into a double,
 * -E2BIG above LINE_DEPTH_MAX; call line_layout_done in any case. */
int line_layout_init(struct line_layout *l, const struct flamegraph_line *lines, size_t count,
		     const struct flamegraph_options *o, struct err *err);
void line_layout_done(struct line_layout *l);

#endif

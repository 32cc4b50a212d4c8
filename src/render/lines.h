/* lines.h: lays out lines of folded stacks as flamegraph.pl does, to the last digit.
 *
 * Its merging is not that of a tree: lines are sorted as whole strings, counts included, and neighbors share the
 * frames that they begin with. So a frame can be several boxes, where a line of another function sorts between its own.
 * It counts in Perl's numbers: whole ones as integers, others as doubles, of which the end of a frame keeps 15 digits,
 * because it was part of a hash key.
 */
#ifndef RENDER_LINES_H
#define RENDER_LINES_H

#include "render.h"

struct line_box {
	struct str name;		/* into the lines, or into the layout's memory; "" at depth 0 is the root */
	uint32_t depth;
	uint32_t order;			/* in which frames began; boxes are sorted by it, which is preorder */
	double start, end, width;	/* in counts */
	double delta;			/* own change of a line with two counts */
	bool has_delta;
	bool gone;			/* used while laying out */
};

struct line_layout {
	struct line_box *boxes;
	size_t count;
	double total;			/* sum of all lines, or the larger one that was requested; 0: there are no counts */
	double max_delta;		/* at least 1 */
	uint32_t depth;			/* depth of the deepest box */
	uint64_t stacks, ignored;	/* lines with and without a count */
	const struct flamegraph_line *first_ignored;	/* that of the lowest number; NULL: none */
	size_t narrow;			/* frames that are too narrow to be drawn */
	double narrow_value;		/* value of those whose caller is drawn */
	struct arena memory;		/* holds lines that had to be rewritten */
};

#define LINE_DEPTH_MAX ((uint32_t)1 << 20)	/* frames of one stack */

/* The lines must stay while the layout is used. -ERANGE for counts that a double does not hold, -E2BIG above
 * LINE_DEPTH_MAX; call line_layout_done in any case. */
int line_layout_init(struct line_layout *l, const struct flamegraph_line *lines, size_t count,
		     const struct flamegraph_options *o, struct err *err);
void line_layout_done(struct line_layout *l);

#endif

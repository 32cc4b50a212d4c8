/* callgraph.h: draws a call graph with Graphviz. Pure, like all pictures: profile and options in, bytes out.
 *
 * One box per function, one arrow per caller and callee. A value counts once for each function and once for each
 * arrow on its stack, no matter how often they occur. For a profile with edges (edges.h) all values come from these,
 * unknown ones as limits, "≤"; with `focus`, the graph is built from stacks, which are then an estimate. Graphviz
 * does the layout (src/graphviz), which takes minutes for large graphs: so a graph is first pruned to a number of
 * functions, and reports what was left out.
 */
#ifndef RENDER_CALLGRAPH_H
#define RENDER_CALLGRAPH_H

#include "buf.h"
#include "err.h"
#include "profile.h"

#define CALLGRAPH_NODES		150	/* number of functions that are laid out in a tenth of a second */
#define CALLGRAPH_NODES_MAX	5000

struct diff;

struct callgraph_options {
	uint32_t column;
	uint32_t before_column;		/* in a difference (diff.h): `column` before; UINT32_MAX: not a difference */
	const struct diff *compared;	/* marks changes that may be noise, which are drawn pale; NULL: none */
	const char *value_name;		/* "wall_ns", if `column` is named "after"; NULL: the name of the column */
	size_t max_nodes;		/* functions: the critical path, then those with the largest total; 0 is CALLGRAPH_NODES */
	double threshold;		/* functions and arrows below this percentage of the total are left out */
	const bool *focus;		/* by frame: only stacks through one of these; NULL is all */
	const char *title;		/* may be NULL */
	bool plain;			/* straight arrows without labels, which are much faster to lay out */
};

/* The numbers of functions in the result. */
struct callgraph_counts {
	size_t functions, wanted, shown;	/* functions above zero, those above the threshold, and those in the graph */
	size_t edges, edges_shown;
};

void callgraph_defaults(struct callgraph_options *o);

/* Appends the graph in Graphviz's language. A difference has the functions and arrows of both sides, sized by the
 * larger side, orange for increases, blue for decreases, dashed if gone. Names may be any bytes, numbers are
 * formatted as in flame graphs; the critical path is bold. Returns -EINVAL if the column does not exist; `ret` may be
 * NULL. */
int callgraph_dot(const struct profile *p, const struct callgraph_options *o, struct buf *out,
		  struct callgraph_counts *ret, struct err *err);

/* The same in two steps, for callers that try several sizes: first the sums, which take the time, then the graph of
 * at most `max_nodes` functions (0: as in `o`). `p` and the pointers in `o` must stay valid. Returns NULL if the
 * column does not exist; callgraph_free accepts NULL. */
struct callgraph *callgraph_new(const struct profile *p, const struct callgraph_options *o, struct err *err);
void callgraph_put(const struct callgraph *c, size_t max_nodes, bool plain, struct buf *out,
		   struct callgraph_counts *ret);
struct callgraph *callgraph_free(struct callgraph *c);
void callgraph_freep(struct callgraph **c);

/* Replaces backslashes in tooltips, a private-use character: Graphviz 2.42 expands \N, \E, \G, \H, \L and \T in
 * tooltips twice, so that any escape of the backslash in App\Log would still become the label of its box. */
#define CALLGRAPH_BACKSLASH "\xee\x81\x9c"		/* U+E05C */

/* Appends an SVG made by Graphviz, changed to fill the window and with zoom, pan and dark mode. Any other SVG is
 * appended unchanged. */
void callgraph_finish_svg(struct str svg, struct buf *out);

/* The same SVG with backslashes restored, for a page with its own style and script. */
void callgraph_bare_svg(struct str svg, struct buf *out);

/* 'sha256-…' of that script, like flamegraph_svg_script_hashes for flame graphs. */
extern const char callgraph_svg_script_hash[];

#endif

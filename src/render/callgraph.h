/* callgraph.h: draws a call graph with Graphviz. Pure, like all pictures: profile and options in, bytes out.
 *
 * One box per function, one arrow per caller and callee. A value counts once for each function and once for each arrow
 * on its stack, however often they stand there. For a profile with edges (edges.h) all values come from these,
 * undetermined ones as limits, "≤"; with `focus` the graph is of stacks, which are an estimate then. Laying the boxes
 * out is Graphviz's work (src/graphviz), which needs minutes for large graphs: so a graph is pruned to a number of
 * functions first, and notes what it left out.
 */
#ifndef RENDER_CALLGRAPH_H
#define RENDER_CALLGRAPH_H

#include "buf.h"
#include "err.h"
#include "profile.h"

#define CALLGRAPH_NODES		150	/* functions that are laid out in a tenth of a second */
#define CALLGRAPH_NODES_MAX	5000

struct diff;

struct callgraph_options {
	uint32_t column;
	uint32_t before_column;		/* in a difference (diff.h): `column` before; UINT32_MAX: there is none */
	const struct diff *compared;	/* marks changes that may be noise, which are pale; NULL: none */
	const char *value_name;		/* "wall_ns", where `column` is called "after"; NULL: as the column */
	size_t max_nodes;		/* functions: the critical path, then those with the largest total; 0 is CALLGRAPH_NODES */
	double threshold;		/* percent of the total below which a function or an arrow is left out */
	const bool *focus;		/* by frame: only stacks through one of these; NULL is all */
	const char *title;		/* may be NULL */
	bool plain;			/* straight arrows without words, which are laid out in a fraction of the
					 * time */
};

/* The outcome. */
struct callgraph_counts {
	size_t functions, wanted, shown;	/* functions above zero, those of them above the threshold, and those in the graph */
	size_t edges, edges_shown;
};

void callgraph_defaults(struct callgraph_options *o);

/* Appends the graph in Graphviz's language. A difference has the functions and arrows of both sides, each as large as
 * the larger one, orange where there is more than before, blue where there is less, dashed what is gone. Names are of
 * any bytes, numbers as of flame graphs; the critical path is drawn bold. -EINVAL without such a column; `ret`
 * may be NULL. */
int callgraph_dot(const struct profile *p, const struct callgraph_options *o, struct buf *out,
		  struct callgraph_counts *ret, struct err *err);

/* The same in two steps, for callers that try several sizes: the sums, which take the time, and the graph of at most
 * `max_nodes` functions (0: as `o` says). `p` and what `o` points to must stay. NULL without such a column;
 * callgraph_free takes NULL. */
struct callgraph *callgraph_new(const struct profile *p, const struct callgraph_options *o, struct err *err);
void callgraph_put(const struct callgraph *c, size_t max_nodes, bool plain, struct buf *out,
		   struct callgraph_counts *ret);
struct callgraph *callgraph_free(struct callgraph *c);
void callgraph_freep(struct callgraph **c);

/* It stands for a backslash in tooltips, a character for private use: Graphviz 2.42 expands \N, \E, \G, \H, \L and \T of a tooltip
 * twice, so that any replacement of the one in App\Log becomes the label of its box. */
#define CALLGRAPH_BACKSLASH "\xee\x81\x9c"		/* U+E05C */

/* Appends an SVG of Graphviz, made to fill the window and with zoom, pan and dark mode. Any other SVG is appended
 * unchanged. */
void callgraph_finish_svg(struct str svg, struct buf *out);

/* The same SVG with backslashes, for a page with its own style and script. */
void callgraph_bare_svg(struct str svg, struct buf *out);

/* 'sha256-…' of that script, as flamegraph_svg_script_hashes has those of flame graphs. */
extern const char callgraph_svg_script_hash[];

#endif

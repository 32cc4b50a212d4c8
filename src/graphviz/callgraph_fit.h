/* callgraph_fit.h: the largest picture of a call graph that can be laid out in time.
 *
 * The graph is drawn in several sizes: a few functions, which takes some milliseconds, so that there is always
 * a picture; more of them, with arrows that cost less; and the graph that was requested. */
#ifndef GRAPHVIZ_CALLGRAPH_FIT_H
#define GRAPHVIZ_CALLGRAPH_FIT_H

#include "callgraph.h"
#include "graphviz.h"

struct callgraph_fit {
	struct callgraph_counts counts;		/* counts in the drawing */
	bool reduced;				/* the picture is smaller than requested … */
	char why[sizeof(((struct err *)0)->text)];	/* … because of this */
	bool plain;				/* edges have no labels */
};

/* Appends the picture. `max_nodes` is that of callgraph_put; layout may take `seconds`, until `end_ns` of
 * clock_monotonic_ns(). Errors are those of graphviz_draw. */
int callgraph_fit_draw(struct graphviz *graphviz, const struct callgraph *graph, size_t max_nodes, double seconds,
		       int64_t end_ns, struct buf *picture, struct callgraph_fit *ret, struct err *err);

#endif

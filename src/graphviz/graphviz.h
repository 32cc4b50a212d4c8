/* graphviz.h: lays a graph out and draws it, by Graphviz, in a process of its own.
 *
 * Graphviz's time grows without bound with the graph, and its memory too; now and then it crashes. None of that is the caller's
 * concern: the work is done in a child with limits, and what goes wrong there is a sentence here. It knows nothing of
 * profiles.
 */
#ifndef GRAPHVIZ_GRAPHVIZ_H
#define GRAPHVIZ_GRAPHVIZ_H

#include "buf.h"
#include "err.h"

struct graphviz_limits {
	int wall_ms;			/* then it is ended: -ETIMEDOUT */
	size_t memory;			/* bytes beside those that this process has already */
	size_t output;			/* bytes; more is -EFBIG */
};

/* False if this program was built without Graphviz: then graphviz_draw is -ENOTSUP. */
bool graphviz_known(void);

/* Appends the picture of `dot`, a graph in Graphviz's language, in `format` ("svg", "png", "pdf"). -ECANCELED if Graphviz crashed,
 * -EINVAL if it refused the graph or the format. */
int graphviz_draw(const char *dot, const char *format, const struct graphviz_limits *limits, struct buf *out,
		  struct err *err);

#endif

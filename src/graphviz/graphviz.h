/* graphviz.h: lays out and draws graphs with Graphviz in a child process.
 *
 * Graphviz's time and memory grow without bound with the graph, and sometimes it crashes. The caller is
 * protected: the work is done in a child with limits, whose failures are reported as a sentence. Callers
 * that need a picture in time hand over the same graph in several sizes, and get the largest that is ready. It knows
 * nothing of profiles.
 */
#ifndef GRAPHVIZ_GRAPHVIZ_H
#define GRAPHVIZ_GRAPHVIZ_H

#include "buf.h"
#include "err.h"

#include <stdint.h>

struct graphviz;

struct graphviz_limits {
	int cpu_seconds;		/* limit of the child */
	size_t memory;			/* bytes beyond the current size of this process */
	size_t output;			/* bytes; larger pictures are refused */
};

/* Returns false if this program was built without Graphviz; graphviz_start then returns -ENOTSUP. */
bool graphviz_known(void);

/* Starts the child, which draws in `format` ("svg", "png", "pdf"). It loads its libraries and fonts while the caller
 * is busy with other things, since that takes longer than laying out a small graph. Returns 0; free `*ret` with
 * graphviz_free. */
int graphviz_start(const char *format, const struct graphviz_limits *limits, struct graphviz **ret, struct err *err);

/* Draws `dots`, graphs in Graphviz's language, one after the other, until `end_ns` of clock_monotonic_ns(), and
 * appends the picture of the last one that was ready. The first graph, which should be small, has two seconds more,
 * since on a busy machine late is better than never. Can be called once. Returns the index of the picture; if it is
 * not the last one, `err` has the reason. Without any picture: -ETIMEDOUT, -EFBIG, -ECANCELED if Graphviz crashed,
 * -EINVAL if it refused the graphs or the format. */
int graphviz_draw(struct graphviz *g, const char *const *dots, size_t count, int64_t end_ns, struct buf *out,
		  struct err *err);

/* Ends the child and waits for it, which takes milliseconds. NULL is fine; returns NULL. */
struct graphviz *graphviz_free(struct graphviz *g);
void graphviz_freep(struct graphviz **g);

#endif

/* graphviz.h: lays graphs out and draws them, by Graphviz, in a process of its own.
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
	size_t memory;			/* bytes beside those that this process has already */
	size_t output;			/* bytes; a picture with more is not taken */
};

/* False if this program was built without Graphviz: then graphviz_start is -ENOTSUP. */
bool graphviz_known(void);

/* Starts the child, which draws in `format` ("svg", "png", "pdf"). It finds fonts and loads its libraries while the
 * caller is busy with other things, which takes longer than laying a small graph out. Returns 0; `*ret` is for
 * graphviz_free. */
int graphviz_start(const char *format, const struct graphviz_limits *limits, struct graphviz **ret, struct err *err);

/* Once: draws `dots`, graphs in Graphviz's language, one after the other, until `end_ns` of clock_monotonic_ns(), and
 * appends the picture of the last one that was ready; the first one, which should be small, has two seconds more, since late is
 * better than never on a busy machine. Returns its index; `err` says then why it was not the last of
 * all. If there is none: -ETIMEDOUT, -EFBIG, -ECANCELED if Graphviz crashed, -EINVAL if it refused the graphs or the
 * format. */
int graphviz_draw(struct graphviz *g, const char *const *dots, size_t count, int64_t end_ns, struct buf *out,
		  struct err *err);

/* Ends the child and waits for it, which takes milliseconds. NULL is fine; returns NULL. */
struct graphviz *graphviz_free(struct graphviz *g);
void graphviz_freep(struct graphviz **g);

#endif

/* trace_copy.h: copies the trace of a PHP thread for another thread, while the PHP thread is in one long call.
 *
 * watch.h explains why this is safe at all. Everything is copied by guarded_read.h. Each pointer in a copy must be
 * among the addresses of copied nodes and functions; otherwise the copy is discarded. The state that never recurs is
 * the capture itself with the innermost call, its node, and the node of the call that ended last below it:
 *
 *	A call that begins is counted in its node, which then is that of the innermost call.
 *	A call that ends adds its time to its node, which then is that of the call that ended last. To come back to the same
 *	innermost call and the same last one, that one has to be called again, and is counted.
 *	Both touch nothing else, but for what makes nodes.
 *
 * Anything that takes longer or changes more (new nodes, fibers, sessions, hand-overs, a growing stack) makes the
 * capture's `sequence` odd while it lasts, and leaves another number. Calls pay nothing for any of this. Allocation
 * counts, which change in the middle of calls, are not covered: traces that have them are not copied.
 */
#ifndef STROBE_TRACE_COPY_H
#define STROBE_TRACE_COPY_H

#include "tracer.h"
#include "watch.h"

struct trace_copy;
struct capture;

/* Returns the capture of the calling thread; NULL if it has none. */
const struct capture *trace_copy_source(void);

/* Copies a capture, with its running calls updated to now. NULL if the thread has moved on and will hand over by
 * itself, if nothing is traced, or if it could not be read. */
struct trace_copy *trace_copy_make(const struct capture *of, const struct watch_context *context);

/* Whether nothing has changed while it was copied and since. Call it before using the copy. */
bool trace_copy_holds(const struct trace_copy *c, const struct watch_context *context);

/* Returns the options of the i-th open session, in the order of opening; NULL after the last one. */
const struct trace_options *trace_copy_session(const struct trace_copy *c, unsigned i);

/* Returns the tree of that session. The caller frees it before the copy. NULL without memory, and for a session with
 * a filter. */
struct call_tree *trace_copy_tree(struct trace_copy *c, unsigned i);

void trace_copy_free(struct trace_copy *c);	/* NULL is fine */

#endif

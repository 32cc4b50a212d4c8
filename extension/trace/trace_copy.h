/* trace_copy.h: the trace of a PHP thread as another thread can read it, while the PHP thread is in one long call.
 *
 * watch.h explains why this is safe at all. Everything is copied by guarded_read.h, and each pointer in a copy is looked up
 * among the addresses of nodes and functions that were copied, or the copy is not used. The state that never recurs is the
 * capture itself with the innermost call, its node, and the node of the call that ended last below it:
 *
 *	A call that begins is counted in its node, which then is that of the innermost call.
 *	A call that ends adds its time to its node, which then is that of the call that ended last. To come back to the same
 *	innermost call and the same last one, that one has to be called again, and is counted.
 *	Both touch nothing else, but for what makes nodes.
 *
 * All that takes longer or changes more (new nodes, fibers, sessions, hand-overs, a stack that grows) leaves the capture's `sequence`
 * odd meanwhile, and another number afterwards. A call pays nothing for any of this. The allocator's counts, which change in
 * the middle of calls, are no part of it: traces that have them are not copied.
 */
#ifndef STROBE_TRACE_COPY_H
#define STROBE_TRACE_COPY_H

#include "tracer.h"
#include "watch.h"

struct trace_copy;
struct capture;

/* The capture of the calling thread; NULL if it has none. */
const struct capture *trace_copy_source(void);

/* Copies a capture, with its running calls brought up to now. NULL if the thread has moved on and will hand over by itself, if nothing
 * is traced, or if it could not be read. */
struct trace_copy *trace_copy_make(const struct capture *of, const struct watch_context *context);

/* Whether nothing has changed while it was copied and since; before the copy is used. */
bool trace_copy_holds(const struct trace_copy *c, const struct watch_context *context);

/* The options of the i-th open session, in the order of opening; NULL: there are no more. */
const struct trace_options *trace_copy_session(const struct trace_copy *c, unsigned i);

/* The tree that it has seen. The caller frees it, before the copy. NULL without memory, and for a session with a filter. */
struct call_tree *trace_copy_tree(struct trace_copy *c, unsigned i);

void trace_copy_free(struct trace_copy *c);	/* NULL is fine */

#endif

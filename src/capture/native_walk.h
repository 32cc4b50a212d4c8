/* native_walk.h: walks the native stack of a thread that does not run, with the same walker (bpf/unwind.h) and tables
 * as BPF, so that ids are the same.
 *
 * Reads the memory of the process that remote_memory_select chose. Only one thread of the program may use this.
 */
#ifndef CAPTURE_NATIVE_WALK_H
#define CAPTURE_NATIVE_WALK_H

#include "unwind_maps.h"

/* Returns the frame (NATIVE_FRAME) of an address of the process; 0 if no file with tables is mapped there. */
u64 native_frame_at(const struct unwind_layout *layout, u64 address);

struct native_walk;

struct native_walk *native_walk_new(const struct unwind_maps *maps);
struct native_walk *native_walk_free(struct native_walk *w);		/* NULL is fine; returns NULL */

struct native_registers {
	u64 ip, sp, fp, bx, link;
};

/* Walks the stack; `layout` has the mappings. The event, ready to be delivered, is valid until the next walk.
 * `ret_counter` is the counter for an incomplete stack, else COUNTERS; `fiber`: PHP's stack includes a fiber. */
const struct native_stack_event *native_walk(struct native_walk *w, const struct unwind_layout *layout,
					     const struct native_registers *r, bool fiber, enum counter *ret_counter);

#endif

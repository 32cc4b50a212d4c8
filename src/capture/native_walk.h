/* native_walk.h: the native stack of a thread that stands still, by the walker that BPF runs (bpf/unwind.h) and the tables that
 * it runs by, so that ids are the same.
 *
 * Reads the memory of the process that remote_memory_select chose. Only one thread of the program may use this.
 */
#ifndef CAPTURE_NATIVE_WALK_H
#define CAPTURE_NATIVE_WALK_H

#include "unwind_maps.h"

/* The frame (NATIVE_FRAME) of code at an address of the process; 0 if no file that has tables is mapped there. */
u64 native_frame_at(const struct unwind_layout *layout, u64 address);

struct native_walk;

struct native_walk *native_walk_new(const struct unwind_maps *maps);
struct native_walk *native_walk_free(struct native_walk *w);		/* NULL is fine; returns NULL */

struct native_registers {
	u64 ip, sp, fp, bx, link;
};

/* Walks it; `layout` says what is mapped where. The event, ready to be handed on, is valid until the next walk. `ret_counter` is
 * what to count if the stack is not whole, else COUNTERS; `fiber` says that PHP's stack goes through one. */
const struct native_stack_event *native_walk(struct native_walk *w, const struct unwind_layout *layout,
					     const struct native_registers *r, bool fiber, enum counter *ret_counter);

#endif

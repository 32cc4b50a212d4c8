/* native_walk.c: runs the BPF walker of native stacks in user space. */
#include "native_walk.h"

#include "bpf/unwind.h"
#include "mem.h"

#include <stdlib.h>

struct native_walk {
	const struct unwind_maps *maps;
	struct unwind unwind;		/* includes the cached rules, which workers share */
	struct unwind_page page;
	struct unwind_rule rule;
};

/* The walker's lookup functions have no argument for it. */
static struct native_walk *current;

static const struct unwind_page *unwind_find_page(u32 number)
{
	return unwind_maps_get_page(current->maps, number, &current->page) ? &current->page : NULL;
}

static const struct unwind_rule *unwind_find_rule(u32 number)
{
	return unwind_maps_get_rule(current->maps, number, &current->rule) ? &current->rule : NULL;
}

u64 native_frame_at(const struct unwind_layout *l, u64 address)
{
	u32 range = unwind_range_at(l, address);

	if (!unwind_is_in(l, range, address) || !l->ranges[range].pages)
		return 0;
	return NATIVE_FRAME(l->ranges[range].module, address - l->starts[range] + l->ranges[range].address);
}

struct native_walk *native_walk_new(const struct unwind_maps *maps)
{
	struct native_walk *w = xcalloc(1, sizeof(*w));

	w->maps = maps;
	return w;
}

struct native_walk *native_walk_free(struct native_walk *w)
{
	free(w);
	return NULL;
}

const struct native_stack_event *native_walk(struct native_walk *w, const struct unwind_layout *layout,
					     const struct native_registers *r, bool fiber, enum counter *ret_counter)
{
	struct unwind *u = &w->unwind;

	current = w;
	unwind_start(u, r->ip, r->sp, r->fp, r->bx, r->link);
	while (unwind_step(u, layout))
		;
	u->stack.type = EVENT_NATIVE_STACK;
	u->stack.id = unwind_id(u);
	*ret_counter = unwind_end_counter(u, fiber);
	return &u->stack;
}

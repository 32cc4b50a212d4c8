/* native.h: the native stack of the running thread: finds the layout of its files, walks it, and reports it as an event.
 *
 * The layout of a process is requested from user space at its first sample, and again when the number of its executable
 * pages has changed, because it loaded a library or generated code. Until the reply arrives, the old layout is used. A
 * child has its parent's layout until it becomes another program.
 */
#ifndef CAPTURE_BPF_NATIVE_H
#define CAPTURE_BPF_NATIVE_H

#include "target.h"
#include "unwind.h"

#define ASK_LAYOUT_FIRST_NS	10000000ull	/* programs map their libraries within this time */
#define ASK_LAYOUT_LAST_NS	8000000000ull

/* Registers of a thread in user mode: the instruction pointer, those needed for unwinding, and the two in which PHP's
 * interpreter keeps its state. Zero if unknown. */
struct registers {
	u64 ip, sp, fp, bx, link;
	u64 frame, opline;
};

/* The map of pages is sized when the programs are loaded: one entry if native frames are off. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct unwind_page);
} unwind_pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct unwind_rule);
} unwind_rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct unwind_layout);
} unwind_layouts SEC(".maps");

/* Keyed by tgid in the first pid namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct unwind_process);
} unwind_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct ask_state);
} layout_requests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CONTEXTS);
	__type(key, u32);
	__type(value, struct unwind);
} unwinds SEC(".maps");

static __always_inline const struct unwind_page *unwind_find_page(u32 number)
{
	return bpf_map_lookup_elem(&unwind_pages, &number);
}

static __always_inline const struct unwind_rule *unwind_find_rule(u32 number)
{
	return bpf_map_lookup_elem(&unwind_rules, &number);
}

/* Requests that keep failing for a process are sent at growing intervals: code generators map pages all the time. */
static __always_inline void ask_for_layout(struct task_struct *task)
{
	struct layout_event e = { .type = EVENT_LAYOUT };
	struct ask_state *last, next;
	u32 tgid = FOLLOW(task, tgid);
	u64 now = bpf_ktime_get_ns(), passed;

	last = bpf_map_lookup_elem(&layout_requests, &tgid);
	passed = last ? now - last->at_ns : 0;
	if (last && passed < last->wait_ns)
		return;
	next.at_ns = now;
	next.wait_ns = !last || passed > 16 * last->wait_ns ? ASK_LAYOUT_FIRST_NS :
		       last->wait_ns < ASK_LAYOUT_LAST_NS   ? last->wait_ns * 2 :
							      ASK_LAYOUT_LAST_NS;
	e.pid = visible_pid(task);
	e.tgid = tgid;
	e.start_ticks = start_ticks(task);
	e.executable_pages = FOLLOW(task, mm, exec_vm);
	if (bpf_ringbuf_output(&events, &e, sizeof(e), BPF_RB_FORCE_WAKEUP))
		count(COUNTER_LOST_EVENTS, 1);
	else
		bpf_map_update_elem(&layout_requests, &tgid, &next, BPF_ANY);
}

/* Returns false if user space has not yet reported the files of the process. */
static __always_inline bool find_layout(struct task_struct *task, u32 *ret)
{
	u32 tgid = FOLLOW(task, tgid);
	struct unwind_process *p = bpf_map_lookup_elem(&unwind_processes, &tgid);
	bool known = p && p->start_ticks == start_ticks(task);

	if (!known || p->executable_pages != FOLLOW(task, mm, exec_vm))
		ask_for_layout(task);
	if (!known)
		return false;
	*ret = p->layout;
	return true;
}

static __always_inline void inherit_layout(struct task_struct *parent, struct task_struct *child)
{
	u32 from = parent->tgid, to = child->tgid;
	struct unwind_process *p = bpf_map_lookup_elem(&unwind_processes, &from), copy;

	if (!p || p->start_ticks != start_ticks(parent))
		return;
	copy = *p;
	copy.start_ticks = start_ticks(child);
	bpf_map_update_elem(&unwind_processes, &to, &copy, BPF_ANY);
}

struct unwinding {
	u32 context, layout;
};

/* Unwinds one frame. The verifier checks a global function once, but inlined code repeatedly if a loop calls it: that
 * is 44,000 instructions for a tick with native frames instead of 186,000. */
__noinline int unwind_round(u32 context, u32 layout)
{
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);
	const struct unwind_layout *l = bpf_map_lookup_elem(&unwind_layouts, &layout);

	return !u || !l || !unwind_step(u, l);
}

/* The two kinds of loops as in record_stack.h. The compiler may conclude from unwind_round that a comparison with 0
 * is redundant, but to the verifier a global function may return any number, and a callback must return 0 or 1. */
static long unwind_loop_step(u32 i, void *data)
{
	struct unwinding *x = data;
	int done = unwind_round(x->context, x->layout);

	asm volatile("" : "+r"(done));
	return done != 0;
}

static __always_inline void unwind_all(u32 context, u32 layout)
{
	if (settings.has_loop) {
		struct unwinding x = { context, layout };

		bpf_loop(NATIVE_DEPTH + 1, unwind_loop_step, &x, 0);
		return;
	}
	for (u32 i = 0; i < NATIVE_DEPTH + 1; i++)
		if (unwind_round(context, layout))
			break;
}

static __always_inline void count_unwind(const struct unwind *u, bool fiber)
{
	u32 end = unwind_end_counter(u, fiber);

	count(COUNTER_NATIVE_FRAMES, u->stack.count);
	if (end < COUNTERS)
		count(end, 1);
}

/* Returns the id of the native stack; 0 if it cannot be walked yet. */
static __always_inline u64 record_native(struct task_struct *task, u32 context, const struct registers *r, bool fiber)
{
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);
	u32 layout, n;
	u64 id;

	if (!u || !r->ip) {
		count(COUNTER_NATIVE_NO_REGISTERS, 1);
		return 0;
	}
	if (!find_layout(task, &layout)) {
		count(COUNTER_NATIVE_UNKNOWN, 1);
		return 0;
	}
	unwind_start(u, r->ip, r->sp, r->fp, r->bx, r->link);
	unwind_all(context, layout);
	count_unwind(u, fiber);
	id = unwind_id(u);
	if (is_known(&known_stacks, &id))
		return id;
	n = u->stack.count;
	if (n > NATIVE_DEPTH)
		return 0;
	u->stack.type = EVENT_NATIVE_STACK;
	u->stack.id = id;
	if (bpf_ringbuf_output(&events, &u->stack, offsetof(struct native_stack_event, frames) + n * 8, 0))
		count(COUNTER_LOST_EVENTS, 1);
	else
		set_known(&known_stacks, &id);
	return id;
}

#endif

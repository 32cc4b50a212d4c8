/* record_stack.h: walks a stack of the running thread, reports it to user space once, and counts it under its id. */
#ifndef CAPTURE_BPF_RECORD_STACK_H
#define CAPTURE_BPF_RECORD_STACK_H

#include "native.h"
#include "perl_record.h"
#include "php_names.h"
#include "php_request.h"

static __always_inline long walk_once(struct scratch *scratch)
{
	return !php_walk_step(&scratch->walk, &scratch->layout);
}

static __always_inline void describe_php(struct scratch *scratch, u32 at, struct function_event *e)
{
	struct task_struct *task = current_task();

	php_describe(&scratch->layout, scratch->walk.functions[at], (u8 *)scratch->walk.function, e);
	e->tgid = FOLLOW(task, tgid);
	e->start_ticks = start_ticks(task);
}

/* Reports the function of one frame to user space, unless it was reported before. */
static __always_inline long report_frame(struct scratch *scratch, u32 i)
{
	struct function_event *e = &scratch->function;
	u32 at = i & (PHP_DEPTH - 1);
	u64 id;

	if (i >= scratch->walk.count)
		return 1;
	id = scratch->walk.frames[at].function;
	if (id < FUNCTION_SPECIAL || is_known(&known_functions, &id))
		return 0;
	e->type = EVENT_FUNCTION;
	e->id = id;
	if (settings.languages & 1u << BINARY_PERL && scratch->language == BINARY_PERL)
		perl_describe(&scratch->perl_layout, &scratch->walk, &scratch->perl, at, e);
	else
		describe_php(scratch, at, e);
	if (e->unreadable)
		count(COUNTER_NAME_UNREADABLE, e->unreadable);
	if (bpf_ringbuf_output(&events, e, sizeof(*e), 0))
		count(COUNTER_LOST_EVENTS, 1);
	else
		set_known(&known_functions, &id);
	return 0;
}

/* bpf_loop calls a static function. Kernels without it need a plain loop that calls a global function, which the
 * verifier checks once instead of once per iteration; its argument is a number, since pointers require newer kernels. */
static long walk_step(u32 i, void *data)
{
	struct scratch **scratch = data;

	return !*scratch || walk_once(*scratch);
}

static long report_step(u32 i, void *data)
{
	struct scratch **scratch = data;

	return !*scratch || report_frame(*scratch, i);
}

__noinline int walk_round(u32 context)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &context);

	return !scratch || walk_once(scratch);
}

__noinline int report_round(u32 context, u32 i)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &context);

	return !scratch || report_frame(scratch, i);
}

static __always_inline void walk_all(struct scratch *scratch, u32 context)
{
	u32 steps = 0;

	if (settings.has_loop) {
		steps = bpf_loop(PHP_STEPS, walk_step, &scratch, 0);
	} else {
		for (; steps < PHP_STEPS; steps++)
			if (walk_round(context))
				break;
	}
	if (steps >= PHP_STEPS)
		php_walk_truncate(&scratch->walk);
}

static __always_inline void report_frames(struct scratch *scratch, u32 context)
{
	if (settings.has_loop) {
		bpf_loop(PHP_DEPTH, report_step, &scratch, 0);
		return;
	}
	for (u32 i = 0; i < PHP_DEPTH; i++)
		if (report_round(context, i))
			break;
}

static __always_inline void report_php_stack(struct scratch *scratch, u32 context)
{
	struct php_walk *w = &scratch->walk;
	struct php_stack_event *e = &scratch->php;
	u32 n = w->count & (2 * PHP_DEPTH - 1);

	report_frames(scratch, context);
	e->type = scratch->language == BINARY_PERL ? EVENT_PERL_STACK : EVENT_PHP_STACK;
	e->count = n;
	e->id = w->id;
	if (n > PHP_DEPTH)
		return;
	bpf_probe_read_kernel(e->frames, n * sizeof(e->frames[0]), w->frames);
	if (bpf_ringbuf_output(&events, e, offsetof(struct php_stack_event, frames) + n * sizeof(e->frames[0]), 0))
		count(COUNTER_LOST_EVENTS, 1);
	else
		set_known(&known_stacks, &w->id);
}

static __always_inline void count_walk(const struct php_walk *w)
{
	count(COUNTER_FRAMES, w->count);
	if (w->truncated)
		count(COUNTER_TRUNCATED, 1);
	if (w->unreadable_frames)
		count(COUNTER_FRAME_UNREADABLE, w->unreadable_frames);
	if (w->unreadable_functions)
		count(COUNTER_FUNCTION_UNREADABLE, w->unreadable_functions);
}

static __always_inline bool walk_php(struct scratch *scratch, u32 context, const struct binary *b, u64 bias, u64 globals,
				     const struct registers *r)
{
	struct php_walk *w = &scratch->walk;
	u64 frame = 0;

	if (!globals || !read_user(&frame, 8, globals + b->layout.current_execute_data)) {
		count(COUNTER_GLOBALS_UNREADABLE, 1);
		return false;
	}
	scratch->layout = b->layout;
	php_walk_start(w, frame);
	if (b->hybrid && r->ip - bias >= b->execute_ex && r->ip - bias < b->execute_ex_end) {
		w->leaf_frame = r->frame;
		w->leaf_opline = r->opline;
	}
	walk_all(scratch, context);
	return true;
}

/* Returns the id of the PHP or Perl stack; 0 if no function is running. */
static __always_inline u64 record_stack(struct scratch *scratch, u32 context, const struct binary *b, u64 bias, u64 thread,
					const struct registers *r)
{
	struct php_walk *w = &scratch->walk;

	scratch->language = b->kind;
	if (is_perl(b) ? !walk_perl(scratch, context, &b->perl, bias, thread) :
	    !walk_php(scratch, context, b, bias, php_globals(b, bias, thread, b->executor_globals), r))
		return 0;
	if (!w->count)
		return 0;
	w->id |= 1;
	count_walk(w);
	if (!is_known(&known_stacks, &w->id))
		report_php_stack(scratch, context);
	return w->id;
}

struct kernel_hash {
	struct kernel_stack_event *e;
	u64 h;
};

static long kernel_step(u32 i, void *data)
{
	struct kernel_hash *k = data;

	if (!k->e || i >= k->e->count)
		return 1;
	k->h = mix(k->h, k->e->frames[i & (KERNEL_DEPTH - 1)]);
	return 0;
}

/* Returns the id of the kernel stack, which is in scratch->kernel.frames; 0 if there is none. */
static __always_inline u64 report_kernel_stack(struct scratch *scratch, long bytes)
{
	struct kernel_stack_event *e = &scratch->kernel;
	struct kernel_hash k = { .e = e, .h = 1 };
	u64 id;
	u32 n;

	if (bytes <= 0)
		return 0;
	n = (u32)bytes & (sizeof(e->frames) * 2 - 1);
	if (n > sizeof(e->frames))
		return 0;
	e->type = EVENT_KERNEL_STACK;
	e->count = n / 8;
	if (settings.has_loop)
		bpf_loop(KERNEL_DEPTH, kernel_step, &k, 0);
	else
		for (u32 i = 0; i < KERNEL_DEPTH; i++)
			if (kernel_step(i, &k))
				break;
	id = k.h | 1;
	if (is_known(&known_stacks, &id))
		return id;
	e->id = id;
	if (bpf_ringbuf_output(&events, e, offsetof(struct kernel_stack_event, frames) + n, 0))
		count(COUNTER_LOST_EVENTS, 1);
	else
		set_known(&known_stacks, &id);
	return id;
}

static __always_inline u64 record_kernel(void *ctx, struct scratch *scratch)
{
	return report_kernel_stack(scratch, bpf_get_stack(ctx, scratch->kernel.frames, sizeof(scratch->kernel.frames), 0));
}

/* Returns the id of the request's script and method, or of the Perl program whose stack was just walked; 0 if there
 * is none. */
static __always_inline u64 record_request(struct scratch *scratch, const struct binary *b, u64 bias, u64 thread)
{
	struct request_event *e = &scratch->request;
	bool there = is_perl(b) ? perl_request(&scratch->perl, e) :
		     php_request(&b->layout, php_globals(b, bias, thread, b->sapi_globals), e);

	if (!there || is_known(&known_stacks, &e->id))
		return e->id;
	if (bpf_ringbuf_output(&events, e, sizeof(*e), 0))
		count(COUNTER_LOST_EVENTS, 1);
	else
		set_known(&known_stacks, &e->id);
	return e->id;
}

static __always_inline void report_process(struct task_struct *task)
{
	struct process_event e = { .type = EVENT_PROCESS };
	u32 tgid = FOLLOW(task, tgid);
	u64 version = start_ticks(task) << 16 | (epoch & 0xffff);
	u64 *then = bpf_map_lookup_elem(&known_processes, &tgid);

	if (then && *then == version)
		return;
	fill_process_event(task, &e);
	if (bpf_ringbuf_output(&events, &e, sizeof(e), BPF_RB_FORCE_WAKEUP))
		count(COUNTER_LOST_EVENTS, 1);
	else
		bpf_map_update_elem(&known_processes, &tgid, &version, BPF_ANY);
}

/* Adds to the current table. If it is full, counts the sample as lost and returns false. */
static __always_inline bool add_count(const struct count_key *key, u64 samples, u64 ns)
{
	struct count fresh = { samples, ns }, *there;
	u32 zero = 0;
	void *table = bpf_map_lookup_elem(&counts, &zero);

	if (!table)
		return false;
	there = bpf_map_lookup_elem(table, key);
	if (!there && bpf_map_update_elem(table, key, &fresh, BPF_NOEXIST) == 0)
		return true;
	if (!there)
		there = bpf_map_lookup_elem(table, key);	/* another CPU was faster */
	if (!there) {
		count(COUNTER_LOST_TABLE, samples);
		return false;
	}
	__sync_fetch_and_add(&there->samples, samples);
	__sync_fetch_and_add(&there->ns, ns);
	return true;
}

/* Fills in the key under which a sample of the running thread is counted. `in_kernel`: it may have a kernel stack.
 * Returns false if the process runs no PHP or Perl to be sampled. */
static __always_inline bool record(void *ctx, u32 context, struct task_struct *task, const struct registers *r,
				   bool in_kernel, struct count_key *key)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &context);
	struct binary *b;
	u64 bias = 0, thread;

	if (!scratch || !(b = find_php(task, &bias)) || (settings.target == TARGET_FPM && !b->fpm))
		return false;
	thread = thread_pointer(task);
	/* Always walked: whether a function is running decides whether to keep the sample, even if its name is not
	 * needed. */
	scratch->walk.fibers = 0;
	key->php = runs_interpreter(task, b) ? record_stack(scratch, context, b, bias, thread, r) : 0;
	/* At a switch, this also decides whether the native stack is needed. */
	if (settings.native && (key->php || settings.idle || context != CONTEXT_SWITCH))
		key->native = record_native(task, context, r, scratch->walk.fibers);
	if (settings.kernel && in_kernel)
		key->kernel = record_kernel(ctx, scratch);
	if (settings.requests)
		key->request = record_request(scratch, b, bias, thread);
	if (settings.per_process) {
		key->process = PROCESS_KEY(FOLLOW(task, tgid), start_ticks(task));
		report_process(task);
	}
	return true;
}

#endif

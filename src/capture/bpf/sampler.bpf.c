/* sampler.bpf.c: the programs: a tick of the sampling clock, a switch away from the CPU and back, a wake-up, an exec, a fork,
 * and an iteration over all sleeping threads.
 *
 * None of them needs kprobes or fentry, which many kernels lack.
 */
#include "distribute.h"
#include "file_io.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Reads the registers that the thread had when it entered the kernel. */
static __always_inline void read_saved_registers(struct task_struct *task, struct registers *r)
{
	if (!settings.has_task_registers)
		return;
#if defined(__TARGET_ARCH_x86)
	struct pt_regs *saved = (struct pt_regs *)bpf_task_pt_regs(task);

	r->ip = saved->ip;
	r->sp = saved->sp;
	r->fp = saved->bp;
	r->bx = saved->bx;
	r->frame = saved->r14;
	r->opline = saved->r15;
#elif defined(__TARGET_ARCH_arm64)
	struct user_pt_regs *saved = (struct user_pt_regs *)bpf_task_pt_regs(task);

	r->ip = BPF_CORE_READ(saved, pc);
	r->sp = BPF_CORE_READ(saved, sp);
	r->fp = BPF_CORE_READ(saved, regs[29]);
	r->link = BPF_CORE_READ(saved, regs[30]);
	r->frame = BPF_CORE_READ(saved, regs[27]);
	r->opline = BPF_CORE_READ(saved, regs[28]);
#endif
}

static __always_inline void read_registers(struct perf_context *ctx, struct task_struct *task, struct registers *r,
					   bool *ret_in_kernel)
{
#if defined(__TARGET_ARCH_x86)
	*ret_in_kernel = !(ctx->cs & 3);
	r->ip = ctx->ip;
	r->sp = ctx->sp;
	r->fp = ctx->bp;
	r->bx = ctx->bx;
	r->frame = ctx->r14;
	r->opline = ctx->r15;
#elif defined(__TARGET_ARCH_arm64)
	*ret_in_kernel = (ctx->pstate & 0xf) != 0;
	r->ip = ctx->pc;
	r->sp = ctx->sp;
	r->fp = ctx->regs[29];
	r->link = ctx->regs[30];
	r->frame = ctx->regs[27];
	r->opline = ctx->regs[28];
#endif
	if (!*ret_in_kernel)
		return;
	*r = (struct registers){ 0 };
	read_saved_registers(task, r);
}

SEC("perf_event")
int on_cpu(struct perf_context *ctx)
{
	struct task_struct *task = current_task();
	struct count_key key = { .kind = SAMPLE_ON_CPU };
	struct registers r = { 0 };
	bool in_kernel;

	count(COUNTER_TICKS, 1);
	if (!FOLLOW(task, pid)) {
		count(COUNTER_TICKS_IDLE, 1);
		return 0;
	}
	read_registers(ctx, task, &r, &in_kernel);
	if (FOLLOW(task, flags) & PF_KTHREAD || !is_target(task) || !record(ctx, CONTEXT_TICK, task, &r, in_kernel, &key)) {
		count(COUNTER_TICKS_OTHER, 1);
		return 0;
	}
	if (!key.php)
		count(COUNTER_NO_FRAMES, 1);
	if (add_count(&key, 1, settings.period_ns))
		count(COUNTER_SAMPLES, 1);
	return 0;
}

static __always_inline void add_interval(struct waiting *w, u32 kind, u64 from, u64 to)
{
	struct count_key key = w->key;

	if (to <= from)
		return;
	key.kind = kind;
	add_count(&key, w->weight, (to - from) * w->weight);
}

/* Linux 6.18, at least, does not report every switch: one in a thousand is missing if threads share CPUs. The wait
 * lasted at least until the thread was woken. Mostly that is unknown, too, and the wait is only counted as lost. */
static __always_inline void end_unreported(u32 tid)
{
	struct waiting *w = bpf_map_lookup_elem(&waits, &tid);

	if (!w)
		return;
	count(COUNTER_LOST_RETURNS, w->weight);
	if (w->woken_ns && w->woken_ns - w->since_ns >= settings.min_ns) {
		add_interval(w, SAMPLE_BLOCKED, w->since_ns, w->woken_ns);
		distribute(w->woken_ns - w->since_ns, w->weight);
	}
	bpf_map_delete_elem(&waits, &tid);
}

/* The thread that leaves the CPU is still the current one, so its memory can be read now, but not when it comes back. */
static __always_inline void leave(void *ctx, struct task_struct *task, bool preempted)
{
	struct waiting w = { .preempted = preempted, .weight = 1 };
	struct registers r = { 0 };
	u32 tid = task->pid;

	if (!tid || task->flags & PF_KTHREAD || !is_target(task))
		return;
	end_unreported(tid);
	w.key.kind = preempted ? SAMPLE_RUNNABLE : SAMPLE_BLOCKED;
	if (skip_shift) {
		u64 bias;

		if (!find_php(task, &bias))
			return;
		if (bpf_get_prandom_u32() & ((1u << (skip_shift & 15)) - 1)) {
			count(COUNTER_SWITCHES, 1);
			count(COUNTER_SWITCHES_SKIPPED, 1);
			return;
		}
		w.weight = 1u << (skip_shift & 15);
	}
	read_saved_registers(task, &r);
	if (!record(ctx, CONTEXT_SWITCH, task, &r, true, &w.key))
		return;
	count(COUNTER_SWITCHES, 1);
	if (!w.key.php && !settings.idle) {
		count(COUNTER_SWITCHES_IDLE, 1);
		return;
	}
	w.since_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&waits, &tid, &w, BPF_ANY))
		count(COUNTER_LOST_WAITING, 1);
}

/* A wait consists of up to two intervals: until something woke the thread, and until a CPU was free for it. */
static __always_inline void come_back(u32 tid)
{
	struct waiting *w = bpf_map_lookup_elem(&waits, &tid);
	u64 now;

	if (!w)
		return;
	now = bpf_ktime_get_ns();
	if (now - w->since_ns < settings.min_ns) {
		count(COUNTER_SWITCHES_SHORT, w->weight);
	} else if (w->preempted) {
		add_interval(w, SAMPLE_RUNNABLE, w->since_ns, now);
	} else if (!w->woken_ns) {
		add_interval(w, SAMPLE_BLOCKED, w->since_ns, now);
	} else {
		add_interval(w, SAMPLE_BLOCKED, w->since_ns, w->woken_ns);
		add_interval(w, SAMPLE_RUNNABLE, w->woken_ns, now);
	}
	if (now - w->since_ns >= settings.min_ns)
		distribute(now - w->since_ns, w->weight);
	bpf_map_delete_elem(&waits, &tid);
}

static __always_inline bool is_runnable(struct task_struct *task)
{
	struct task_struct___old *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return !task->__state;
	return !BPF_CORE_READ(old, state);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(off_cpu, bool preempted, struct task_struct *prev, struct task_struct *next)
{
	/* A thread that yields voluntarily, as by sched_yield(), is runnable, too. */
	leave(ctx, prev, preempted || is_runnable(prev));
	come_back(next->pid);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(wake_up, struct task_struct *task)
{
	u32 tid = task->pid;
	struct waiting *w = bpf_map_lookup_elem(&waits, &tid);

	if (w && !w->preempted && !w->woken_ns)
		w->woken_ns = bpf_ktime_get_ns();
	return 0;
}

/* Makes a new program known before its first tick. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(exec, struct task_struct *task)
{
	struct binary *known = 0;
	struct binary_key key;
	u32 tgid = task->tgid;

	bpf_map_delete_elem(&hosted, &tgid);		/* left over from the previous program */
	bpf_map_delete_elem(&host_requests, &tgid);
	if (settings.native) {
		bpf_map_delete_elem(&unwind_processes, &tgid);
		bpf_map_delete_elem(&layout_requests, &tgid);
	}
	if (binary_key_of(task, &key) && !(known = bpf_map_lookup_elem(&binaries, &key)))
		ask_for_binary(task, &key);
	if (settings.ask_programs)
		ask_for_program(task, known);
	return 0;
}

/* A child has the same files at the same addresses, including libphp, so there is no need to ask about it. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(fork, struct task_struct *parent, struct task_struct *child)
{
	u32 from = parent->tgid, to = child->tgid;
	struct hosted_php *php = from == to ? 0 : bpf_map_lookup_elem(&hosted, &from);

	if (settings.native && from != to)
		inherit_layout(parent, child);
	if (settings.ask_programs && from != to)
		inherit_target(parent, child);
	if (php && php->start_ticks == start_ticks(parent) && !bpf_map_update_elem(&hosted, &to, php, BPF_ANY) &&
	    (php = bpf_map_lookup_elem(&hosted, &to)))
		php->start_ticks = start_ticks(child);
	return 0;
}

/* The scheduler reports a sleeping thread only when it wakes up, which may be never, so user space asks once for
 * those that sleep when the recording begins. This program cannot read the memory of other threads, so user space
 * walks their stacks. */
SEC("iter/task")
int sleepers(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	u32 context = CONTEXT_SLEEPERS;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &context);
	struct registers r = { 0 };
	struct sleeper_event *e;
	struct binary *b;
	u64 bias = 0;

	if (!task || !scratch || task->flags & PF_KTHREAD || is_runnable(task) || (settings.target == TARGET_PIDS && !is_target(task)))
		return 0;
	b = find_php(task, &bias);
	if (!b || only_ask || (settings.target == TARGET_FPM && !b->fpm) || !(settings.idle || runs_interpreter(task, b)))
		return 0;
	e = &scratch->sleeper;
	e->runs_interpreter = runs_interpreter(task, b);
	e->type = EVENT_SLEEPER;
	e->pid = visible_pid(task);
	e->start_ticks = start_ticks(task);
	e->tid = task->pid;
	e->tgid = task->tgid;
	e->visible_tid = visible_number(task->thread_pid, task->pid);
	e->thread = thread_pointer(task);
	e->switches = task->nvcsw + task->nivcsw;
	e->kernel = 0;
	if (settings.kernel)
		e->kernel = report_kernel_stack(scratch, bpf_get_task_stack(task, scratch->kernel.frames, sizeof(scratch->kernel.frames), 0));
	if (settings.native)
		read_saved_registers(task, &r);
	e->ip = r.ip;
	e->sp = r.sp;
	e->fp = r.fp;
	e->bx = r.bx;
	e->link = r.link;
	e->executable_pages = task->mm->exec_vm;
	e->bias = bias;
	e->binary = *b;
	if (bpf_ringbuf_output(&events, e, sizeof(*e), 0))
		count(COUNTER_LOST_WAITING, 1);
	return 0;
}

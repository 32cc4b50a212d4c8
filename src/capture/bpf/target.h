/* target.h: decides whether to sample a task, and locates its PHP.
 *
 * Processes are identified by their executable file, not by their number, so one that lives for only 30 ms is sampled
 * without reading /proc first. A new file produces one event, and user space describes it.
 */
#ifndef CAPTURE_BPF_TARGET_H
#define CAPTURE_BPF_TARGET_H

#include "follow.h"

#define NS_PER_TICK	10000000ull	/* ticks in /proc/PID/stat */
#define ASK_FIRST_NS	250000000ull
#define ASK_LAST_NS	64000000000ull

static __always_inline u64 start_ticks(struct task_struct *task)
{
	return (FOLLOW(task, group_leader, start_boottime) + settings.boottime_offset_ns) / NS_PER_TICK;
}

/* Returns a number as the caller sees it; 0 if it is not visible there. */
static __always_inline u32 visible_number(struct pid *pid, u32 number_here)
{
	u32 size = bpf_core_type_size(struct upid);
	struct upid number;

	if (!settings.pid_namespace)
		return number_here;
	for (u32 level = 0; level < 8; level++) {
		if (level > FOLLOW(pid, level) ||
		    bpf_core_read(&number.nr, sizeof(number.nr), (void *)&pid->numbers[0].nr + level * size) ||
		    bpf_core_read(&number.ns, sizeof(number.ns), (void *)&pid->numbers[0].ns + level * size))
			return 0;
		if (BPF_CORE_READ(number.ns, ns.inum) == settings.pid_namespace)
			return number.nr;
	}
	return 0;
}

static __always_inline u32 visible_pid(struct task_struct *task)
{
	return visible_number(FOLLOW(task, group_leader, thread_pid), FOLLOW(task, tgid));
}

/* `task` must be the running one, unless control groups do not matter. */
static __always_inline bool is_target(struct task_struct *task)
{
	switch (settings.target) {
	case TARGET_PIDS: {
		u32 pid = visible_pid(task);
		u64 *start = pid ? bpf_map_lookup_elem(&targets, &pid) : 0;

		return start && *start == start_ticks(task);
	}
	case TARGET_CGROUPS:
		for (u32 i = 0; i < CGROUPS_MAX; i++) {
			if (i >= cgroup_count)
				break;
			if (bpf_current_task_under_cgroup(&cgroups, i) == 1)
				return true;
		}
		return false;
	default:
		return true;
	}
}

static __always_inline bool binary_key_of(struct task_struct *task, struct binary_key *ret)
{
	struct mm_struct *mm = FOLLOW(task, mm);
	struct file *file;
	struct inode *inode;

	if (!mm)
		return false;
	file = FOLLOW(mm, exe_file);
	if (!file)
		return false;
	inode = FOLLOW(file, f_inode);
	ret->dev = FOLLOW(inode, i_sb, s_dev);
	ret->pad = 0;
	ret->inode = FOLLOW(inode, i_ino);
	ret->size = (u64)FOLLOW(inode, i_size);
	return true;
}

static __always_inline void ask_for_binary(struct task_struct *task, const struct binary_key *key)
{
	struct binary_event e = { .type = EVENT_BINARY };
	u32 now = epoch, *then = bpf_map_lookup_elem(&binary_requests, key);

	if (then && *then == now)
		return;
	e.pid = visible_pid(task);
	e.start_ticks = start_ticks(task);
	e.key = *key;
	/* Updated before the event: user space removes the entry if the process no longer exists. */
	bpf_map_update_elem(&binary_requests, key, &now, BPF_ANY);
	if (bpf_ringbuf_output(&events, &e, sizeof(e), BPF_RB_FORCE_WAKEUP))
		bpf_map_delete_elem(&binary_requests, key);
}

static __always_inline void fill_process_event(struct task_struct *task, struct process_event *e)
{
	struct task_struct *leader = FOLLOW(task, group_leader);

	e->pid = visible_pid(task);
	e->tgid = FOLLOW(task, tgid);
	e->parent = FOLLOW(task, real_parent, tgid);
	e->start_ticks = start_ticks(task);
	bpf_core_read(e->comm, sizeof(e->comm), &leader->comm);
}

/* User space looks for processes by their command lines once a second, which is too late for short ones. */
static __always_inline void ask_for_program(struct task_struct *task, const struct binary *known)
{
	struct process_event e = { .type = EVENT_PROGRAM };

	fill_process_event(task, &e);
	bpf_map_delete_elem(&targets, &e.pid);
	if (e.pid && (!known || known->kind != BINARY_OTHER))
		bpf_ringbuf_output(&events, &e, sizeof(e), BPF_RB_FORCE_WAKEUP);
}

/* A child has its parent's command line until it starts a program. */
static __always_inline void inherit_target(struct task_struct *parent, struct task_struct *child)
{
	u32 from = visible_pid(parent), to = visible_pid(child);
	u64 *start = from ? bpf_map_lookup_elem(&targets, &from) : 0, own = start_ticks(child);

	if (to && start && *start == start_ticks(parent))
		bpf_map_update_elem(&targets, &to, &own, BPF_ANY);
}

/* Requests for a process whose program may load libphp are repeated at growing intervals, since it may load it later. */
static __always_inline struct hosted_php *find_hosted(struct task_struct *task)
{
	u32 tgid = FOLLOW(task, tgid);
	struct hosted_php *php = bpf_map_lookup_elem(&hosted, &tgid);
	struct ask_state *last, next;
	struct process_event e = { .type = EVENT_HOST };
	u64 now;

	if (php && php->start_ticks == start_ticks(task))
		return php;
	now = bpf_ktime_get_ns();
	last = bpf_map_lookup_elem(&host_requests, &tgid);
	if (last && now - last->at_ns < last->wait_ns)
		return 0;
	next.at_ns = now;
	next.wait_ns = !last ? ASK_FIRST_NS : last->wait_ns < ASK_LAST_NS ? last->wait_ns * 2 : ASK_LAST_NS;
	bpf_map_update_elem(&host_requests, &tgid, &next, BPF_ANY);
	fill_process_event(task, &e);
	bpf_ringbuf_output(&events, &e, sizeof(e), BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* Returns the PHP or Perl in the process, and the bias of its addresses; NULL if there is none, or it should not be
 * sampled. */
static __always_inline struct binary *find_php(struct task_struct *task, u64 *ret_bias)
{
	struct hosted_php *library;
	struct binary_key key;
	struct binary *b;

	if (!binary_key_of(task, &key))
		return 0;
	b = bpf_map_lookup_elem(&binaries, &key);
	if (!b) {
		ask_for_binary(task, &key);
		return 0;
	}
	*ret_bias = FOLLOW(task, mm, start_code) - b->text;
	if (b->kind == BINARY_HOST) {
		library = find_hosted(task);
		if (!library)
			return 0;
		*ret_bias = library->bias;
		b = &library->binary;
	}
	return (b->kind == BINARY_PHP || b->kind == BINARY_PERL) && settings.languages & 1u << b->kind ? b : 0;
}

/* Constant if only PHP is sampled, so that the verifier drops the code for Perl. */
static __always_inline bool is_perl(const struct binary *b)
{
	return settings.languages & 1u << BINARY_PERL && b->kind == BINARY_PERL;
}

/* A process whose PHP or Perl is not thread-safe has one stack, the first thread's. Other threads, such as those of
 * libraries and of the extension, run no PHP or Perl. */
static __always_inline bool runs_interpreter(struct task_struct *task, const struct binary *b)
{
	return (is_perl(b) ? b->perl.threads : b->zts) || FOLLOW(task, pid) == FOLLOW(task, tgid);
}

static __always_inline u64 thread_pointer(struct task_struct *task)
{
#if defined(__TARGET_ARCH_x86)
	return FOLLOW(task, thread.fsbase);
#elif defined(__TARGET_ARCH_arm64)
	return FOLLOW(task, thread.uw.tp_value);
#endif
}

#endif

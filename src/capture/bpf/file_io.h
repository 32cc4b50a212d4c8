/* file_io.h: the programs that record file I/O: at the start and the end of a system call.
 *
 * While they are attached they run for every system call of the machine, so they are only loaded in this mode, and
 * return at the first test for most calls. All expensive work is done at the end: the process is still in its call,
 * so its stack is that of the call, and the work is not measured as part of the call.
 */
#ifndef CAPTURE_BPF_FILE_IO_H
#define CAPTURE_BPF_FILE_IO_H

#include "distribute.h"
#include "file_named.h"

#include <bpf/bpf_tracing.h>

struct begun_call {
	u64 since_ns;			/* monotonic */
	u64 args[3];
	u32 number, pad;
};

/* Keyed by thread, to separate calls of several threads. A thread may end within a call; the table evicts the oldest. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct begun_call);
} begun_calls SEC(".maps");

/* Like `counts` in maps.h. */
struct file_count_table {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILE_COUNT_ENTRIES);
	__type(key, struct file_key);
	__type(value, struct file_count);
};

struct file_count_table first_file_counts SEC(".maps"), second_file_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__array(values, struct file_count_table);
} file_counts SEC(".maps") = { .values = { &first_file_counts } };

/* Reads each member as volatile: otherwise, compilers would use the zeros that the constant is initialized with. */
static __always_inline struct file_call call_of(u64 number)
{
	u64 i = number & (SYSTEM_CALLS - 1);

	if (number >= SYSTEM_CALLS)
		return (struct file_call){ 0, FORM_NONE };
	return (struct file_call){ file_io.calls[i].operation, file_io.calls[i].form };
}

static __always_inline bool is_recorded(struct task_struct *task)
{
	struct binary *b;
	u64 bias;

	if (FOLLOW(task, flags) & PF_KTHREAD || !is_target(task) || !(b = find_php(task, &bias)))
		return false;
	return settings.target != TARGET_FPM || b->fpm;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(file_begin, struct pt_regs___io *registers, long number)
{
	struct task_struct *task = current_task();
	struct begun_call c = { .number = (u32)number };
	u32 tid = FOLLOW(task, pid);

	if (call_of(number).form == FORM_NONE || !is_recorded(task))
		return 0;
#if defined(__TARGET_ARCH_x86)
	c.args[0] = BPF_CORE_READ(registers, di);
	c.args[1] = BPF_CORE_READ(registers, si);
	c.args[2] = BPF_CORE_READ(registers, dx);
#elif defined(__TARGET_ARCH_arm64)
	for (u32 i = 0; i < 3; i++)
		c.args[i] = BPF_CORE_READ(registers, regs[i]);
#endif
	c.since_ns = bpf_ktime_get_ns();
	bpf_map_update_elem(&begun_calls, &tid, &c, BPF_ANY);
	return 0;
}

static __always_inline void add_call(const struct file_key *key, const struct file_count *c)
{
	struct file_count *there;
	u32 zero = 0;
	void *table = bpf_map_lookup_elem(&file_counts, &zero);

	if (!table)
		return;
	there = bpf_map_lookup_elem(table, key);
	if (!there && bpf_map_update_elem(table, key, c, BPF_NOEXIST) == 0)
		return;
	if (!there)
		there = bpf_map_lookup_elem(table, key);	/* another CPU was faster */
	if (!there) {
		count(COUNTER_LOST_TABLE, c->calls);
		return;
	}
	__sync_fetch_and_add(&there->calls, c->calls);
	__sync_fetch_and_add(&there->failed, c->failed);
	__sync_fetch_and_add(&there->bytes, c->bytes);
	__sync_fetch_and_add(&there->ns, c->ns);
}

/* Finds the file that the call refers to, or reads from if it has two. */
static __always_inline void find_file(const struct begun_call *c, struct file_call call, long result)
{
	if (call.operation == FILE_OPEN && result >= 0)
		file_by_number((u64)result);
	else if (call.form == FORM_PATH)
		file_by_name((u64)AT_FDCWD, c->args[0]);
	else if (call.form == FORM_AT)
		file_by_name(c->args[0], c->args[1]);
	else
		file_by_number(c->args[call.form == FORM_TO_FROM]);
}

static __always_inline void end_call(void *ctx, struct task_struct *task, const struct begun_call *c, struct file_call call,
				     u64 now, long result)
{
	struct file_count n = { .calls = 1, .failed = result < 0, .ns = now - c->since_ns };
	struct count_key stack = { 0 };
	struct file_key key = { .operation = call.operation };
	struct registers none = { 0 };
	struct file_scratch *s = file_scratch();

	if (!s)
		return;
	if (n.ns < settings.min_ns) {
		count(COUNTER_FILE_SHORT, 1);
		return;
	}
	find_file(c, call, result);
	key.file = s->event.id;
	if (!key.file || !record(ctx, CONTEXT_FILE, task, &none, false, &stack))
		return;
	key.php = stack.php;
	key.request = stack.request;
	key.process = stack.process;
	if (result > 0 && (call.operation == FILE_READ || call.operation == FILE_WRITE))
		n.bytes = (u64)result;
	distribute(n.ns, 1);
	add_call(&key, &n);
	if (call.form != FORM_TO_FROM && call.form != FORM_FROM_TO)
		return;
	/* The same bytes are written to another file; the time counts only once. */
	key.operation = FILE_WRITE;
	file_by_number(c->args[call.form == FORM_TO_FROM ? 0 : 2]);
	key.file = s->event.id;
	n.ns = 0;
	if (key.file)
		add_call(&key, &n);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(file_end, struct pt_regs___io *registers, long result)
{
	struct task_struct *task = current_task();
	u64 now = bpf_ktime_get_ns();
#if defined(__TARGET_ARCH_x86)
	u64 number = BPF_CORE_READ(registers, orig_ax);
#elif defined(__TARGET_ARCH_arm64)
	u64 number = (u32)BPF_CORE_READ(registers, syscallno);
#endif
	struct file_call call = call_of(number);
	struct begun_call *there, c;
	u32 tid = FOLLOW(task, pid);

	if (call.form == FORM_NONE || !is_recorded(task))
		return 0;
	there = bpf_map_lookup_elem(&begun_calls, &tid);
	if (!there || there->number != (u32)number) {
		count(COUNTER_FILE_BEGUN_BEFORE, 1);
		return 0;
	}
	c = *there;
	bpf_map_delete_elem(&begun_calls, &tid);
	end_call(ctx, task, &c, call, now, result);
	return 0;
}

#endif

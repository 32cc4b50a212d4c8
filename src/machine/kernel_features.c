/* kernel_features.c: creates and closes tiny programs, maps and events. */
#include "kernel_features.h"

#include "buf.h"
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define BTF_FILE	"/sys/kernel/btf/vmlinux"
#define BTF_MAX		((size_t)64 << 20)
#define RINGBUF_SIZE	4096

static const struct {
	const char *name, *use;
} features[KERNEL_FEATURES] = {
	[KERNEL_BPF] = { "bpf", "BPF programs" },
	[KERNEL_RINGBUF] = { "ringbuf", "BPF ring buffers" },
	[KERNEL_BTF] = { "btf", "the kernel's type information (BTF)" },
	[KERNEL_TP_BTF] = { "tp_btf", "BPF on the scheduler's tracepoint" },
	[KERNEL_PERF] = { "perf", "perf events of all processes" },
	[KERNEL_PERF_OWN] = { "perf_own", "perf events of one's own processes" },
	[KERNEL_TRACEFS] = { "tracefs", "the list of tracepoints (tracefs)" },
	[KERNEL_BPF_LOOP] = { "bpf_loop", "BPF loops (5.17)" },
	[KERNEL_TASK_POINTER] = { "task_pointer", "BPF pointers to the running task (5.11)" },
	[KERNEL_TASK_REGISTERS] = { "task_pt_regs", "registers of threads in the kernel (BPF, 5.15)" },
	[KERNEL_TASK_ITERATOR] = { "task_iter", "BPF on every thread (5.9)" },
	[KERNEL_READV] = { "readv", "reading memory of other processes (process_vm_readv)" },
};

const char *kernel_feature_name(enum kernel_feature f)
{
	return features[f].name;
}

const char *kernel_feature_use(enum kernel_feature f)
{
	return features[f].use;
}

/* --- STROBE_WITHOUT */

/* Takes the next word off the list; false at its end. */
static bool next_word(const char **list, const char **ret_word, size_t *ret_size)
{
	*list += strspn(*list, ", ");
	*ret_word = *list;
	*ret_size = strcspn(*list, ", ");
	*list += *ret_size;
	return *ret_size;
}

static bool is_word(const char *word, size_t n, enum kernel_feature f)
{
	return strlen(features[f].name) == n && !memcmp(features[f].name, word, n);
}

bool kernel_feature_is_switched_off(enum kernel_feature f)
{
	const char *list = getenv("STROBE_WITHOUT"), *word;
	size_t n;

	while (list && next_word(&list, &word, &n))
		if (is_word(word, n, f))
			return true;
	return false;
}

bool kernel_features_unknown_word(char *out, unsigned size)
{
	const char *list = getenv("STROBE_WITHOUT"), *word;
	size_t n;

	while (list && next_word(&list, &word, &n)) {
		unsigned f = 0;

		while (f < KERNEL_FEATURES && !is_word(word, n, f))
			f++;
		if (f == KERNEL_FEATURES) {
			snprintf(out, size, "%.*s", (int)n, word);
			return true;
		}
	}
	return false;
}

/* --- BPF */

/* Converts the result of a system call, and closes the descriptor. */
static int outcome(long fd)
{
	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

static int load(const struct bpf_insn *program, size_t count, unsigned type, unsigned attach_type, uint32_t btf_id, char *log, unsigned log_size)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insns = (uint64_t)(uintptr_t)program;
	attr.insn_cnt = (uint32_t)count;
	attr.license = (uint64_t)(uintptr_t)"GPL";
	attr.expected_attach_type = attach_type;
	attr.attach_btf_id = btf_id;
	attr.log_level = log_size > 0;
	attr.log_buf = (uint64_t)(uintptr_t)log;
	attr.log_size = log_size;
	return outcome(syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr)));
}

/* "return 0" with a helper that reads memory of the interrupted process before it, which lockdown, or lack of
 *	CAP_PERFMON, forbids even if other programs may be loaded: r1 = r10; r1 += -8; r2 = 8; r3 = 0; call
 *	probe_read_user; r0 = 0; exit */
static int load_reader(unsigned type, unsigned attach_type, uint32_t btf_id)
{
	static const struct bpf_insn program[] = {
		{ .code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_user },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load(program, ARRAY_SIZE(program), type, attach_type, btf_id, NULL, 0);
}

/* A call without arguments is always refused; the verifier's message tells whether the helper is missing. */
static int try_helper(int helper)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = helper },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	char log[4096] = "";
	int r = load(program, ARRAY_SIZE(program), BPF_PROG_TYPE_PERF_EVENT, 0, 0, log, sizeof(log));

	if (r == -EPERM || r == -ENOSYS)
		return r;
	return strstr(log, "invalid func ") || strstr(log, "unknown func ") ? -EOPNOTSUPP : 0;
}

static int try_ringbuf(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_RINGBUF;
	attr.max_entries = RINGBUF_SIZE;
	return outcome(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

/* Returns 0 and the id of a kernel type, or -errno. */
static int find_type(const char *name, unsigned kind, uint32_t *ret_id)
{
	_cleanup_(buf_done) struct buf btf = { 0 };
	int r;

	buf_init(&btf);
	r = io_read_file(BTF_FILE, &btf, BTF_MAX, NULL);
	if (r < 0)
		return r;
	*ret_id = btf_find(btf.data, btf.size, name, kind);
	return *ret_id ? 0 : -ENOENT;
}

static int find_sched_switch(uint32_t *ret_id)
{
	return find_type("btf_trace_sched_switch", BTF_KIND_TYPEDEF, ret_id);
}

static int try_tp_btf(void)
{
	uint32_t id;
	int r = find_sched_switch(&id);

	return r < 0 ? r : load_reader(BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, id);
}

static int try_iterator(void)
{
	uint32_t id;
	int r = find_type("bpf_iter_task", BTF_KIND_FUNC, &id);

	return r < 0 ? r : load_reader(BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, id);
}

/* --- perf, tracefs, memory */

static int open_clock(pid_t pid, int cpu)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_SOFTWARE;
	attr.size = sizeof(attr);
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = 1000000000;
	attr.disabled = 1;
	/* Excludes the kernel, since perf_event_paranoid=2 reserves that for privileged users. */
	attr.exclude_kernel = pid == 0;
	return outcome(syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

static int try_tracefs(void)
{
	static const char *const places[] = { "/sys/kernel/tracing/events/sched", "/sys/kernel/debug/tracing/events/sched" };
	int error = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		int r = outcome(open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC));

		if (r == 0)
			return 0;
		if (r == -EACCES)
			error = r;
	}
	return error;
}

/* Reads our own memory, for which only the system call itself can be forbidden. */
static int try_readv(void)
{
	char from = 'x', to = 0;
	struct iovec remote = { &from, 1 }, local = { &to, 1 };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 ? 0 : -errno;
}

static int try_it(enum kernel_feature f)
{
	uint32_t id;

	switch (f) {
	case KERNEL_BPF:
		return load_reader(BPF_PROG_TYPE_PERF_EVENT, 0, 0);
	case KERNEL_RINGBUF:
		return try_ringbuf();
	case KERNEL_BTF:
		return find_sched_switch(&id);
	case KERNEL_TP_BTF:
		return try_tp_btf();
	case KERNEL_PERF:
		return open_clock(-1, 0);
	case KERNEL_PERF_OWN:
		return open_clock(0, -1);
	case KERNEL_TRACEFS:
		return try_tracefs();
	case KERNEL_BPF_LOOP:
		return try_helper(BPF_FUNC_loop);
	case KERNEL_TASK_POINTER:
		return try_helper(BPF_FUNC_get_current_task_btf);
	case KERNEL_TASK_REGISTERS:
		return try_helper(BPF_FUNC_task_pt_regs);
	case KERNEL_TASK_ITERATOR:
		return try_iterator();
	case KERNEL_READV:
		return try_readv();
	default:
		return -EINVAL;
	}
}

int kernel_feature_probe(enum kernel_feature f)
{
	/* Features that require bpf(2). */
	static const bool needs_bpf[KERNEL_FEATURES] = {
		[KERNEL_RINGBUF] = true, [KERNEL_TP_BTF] = true, [KERNEL_BPF_LOOP] = true, [KERNEL_TASK_POINTER] = true,
		[KERNEL_TASK_REGISTERS] = true, [KERNEL_TASK_ITERATOR] = true,
	};
	static const bool needs_btf[KERNEL_FEATURES] = { [KERNEL_TP_BTF] = true, [KERNEL_TASK_ITERATOR] = true };

	if (kernel_feature_is_switched_off(f) || (needs_bpf[f] && kernel_feature_is_switched_off(KERNEL_BPF)) ||
	    (needs_btf[f] && kernel_feature_is_switched_off(KERNEL_BTF)))
		return -ECANCELED;
	return try_it(f);
}

/* kernel_types.h: the few kernel structs that the programs read, trimmed to the fields they read.
 *
 * The real offsets come from the running kernel's BTF when a program is loaded (CO-RE), so neither order nor size
 * matters here, and no kernel headers are needed to build.
 */
#ifndef CAPTURE_BPF_KERNEL_TYPES_H
#define CAPTURE_BPF_KERNEL_TYPES_H

#include <linux/types.h>
#include <linux/bpf.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;
typedef _Bool bool;
#define true 1
#define false 0

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct super_block {
	u32 s_dev;
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	long long i_size;
};

struct file {
	struct inode *f_inode;
};

struct mm_struct {
	struct file *exe_file;
	unsigned long start_code;
	unsigned long exec_vm;
};

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

#if defined(__TARGET_ARCH_x86)
struct thread_struct {
	unsigned long fsbase;
};
#elif defined(__TARGET_ARCH_arm64)
struct thread_uw {
	unsigned long tp_value;
};
struct thread_struct {
	struct thread_uw uw;
};
#endif

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, bp, bx, ip, sp;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	u64 regs[31], sp, pc;
};
#endif

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	int pid, tgid;
	struct mm_struct *mm;
	struct task_struct *group_leader, *real_parent;
	struct pid *thread_pid;
	u64 start_boottime;
	unsigned long nvcsw, nivcsw;
	char comm[16];
	struct thread_struct thread;
};

struct bpf_iter__task {
	struct task_struct *task;
};

/* As it was before 5.14. */
struct task_struct___old {
	long state;
};

#pragma clang attribute pop

/* The context of a perf_event program: the interrupted registers. Only whole 8-byte reads are allowed. */
#if defined(__TARGET_ARCH_x86)
struct perf_context {
	u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};
#elif defined(__TARGET_ARCH_arm64)
struct perf_context {
	u64 regs[31], sp, pc, pstate;
};
#endif

#define PF_KTHREAD	0x00200000

#endif

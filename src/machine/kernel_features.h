/* kernel_features.h: probes the kernel's features by using them, not by its version.
 *
 * Each probe is one or two system calls and leaves nothing behind. Any of them may be forbidden by a system call filter
 * that kills, so call them in a child process.
 *
 * The environment variable STROBE_WITHOUT switches features off, as if the kernel had none: a list of their names,
 * separated by commas ("bpf,perf"), for tests of how to do without them.
 */
#ifndef MACHINE_KERNEL_FEATURES_H
#define MACHINE_KERNEL_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

enum kernel_feature {
	KERNEL_BPF,		/* a BPF program that reads memory of processes may be loaded */
	KERNEL_RINGBUF,		/* BPF maps of the ring buffer type (5.8) */
	KERNEL_BTF,		/* types of the kernel in /sys/kernel/btf/vmlinux */
	KERNEL_TP_BTF,		/* programs for the tracepoint sched_switch with the kernel's types */
	KERNEL_PERF,		/* a clock on each processor that sees all processes */
	KERNEL_PERF_OWN,	/* such a clock for processes of our own */
	KERNEL_TRACEFS,		/* the directory of tracepoints may be read */
	KERNEL_BPF_LOOP,	/* the helper bpf_loop (5.17); plain loops run without it */
	KERNEL_TASK_POINTER,	/* the helper bpf_get_current_task_btf (5.11); each step is a read without it */
	KERNEL_TASK_REGISTERS,	/* the helper bpf_task_pt_regs (5.15): registers of a thread that is in the kernel */
	KERNEL_TASK_ITERATOR,	/* programs that see every thread once (5.9), also those that sleep throughout */
	KERNEL_READV,		/* memory of another process may be read (process_vm_readv) */
	KERNEL_FEATURES
};

/* "bpf", its name in STROBE_WITHOUT, and its purpose, for people. */
const char *kernel_feature_name(enum kernel_feature f);
const char *kernel_feature_use(enum kernel_feature f);

/* Tries it. 0: it works; else -errno. -ECANCELED: STROBE_WITHOUT names it. Features that are loaded with bpf(2) count
 * as off when KERNEL_BPF is. */
int kernel_feature_probe(enum kernel_feature f);

/* Whether STROBE_WITHOUT names it. */
bool kernel_feature_is_switched_off(enum kernel_feature f);

/* The first word of STROBE_WITHOUT that names no feature, in `out`; false if there is none. */
bool kernel_features_unknown_word(char *out, unsigned size);

/* The id of a type in BTF bytes ("btf_trace_sched_switch" of kind `kind`, a BTF_KIND_…); 0 if it is not there or the bytes
 * are no BTF. */
uint32_t btf_find(const void *bytes, uint64_t size, const char *name, unsigned kind);

#endif

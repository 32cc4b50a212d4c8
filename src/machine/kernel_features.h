/* kernel_features.h: probes the kernel's features by using them, not by its version.
 *
 * Each probe is one or two system calls and leaves nothing behind. Any of them may be forbidden by a system call filter
 * that kills, so call them in a child process.
 *
 * The environment variable STROBE_WITHOUT disables features as if the kernel lacked them: a comma-separated list of
 * names ("bpf,perf"), for tests of the fallbacks.
 */
#ifndef MACHINE_KERNEL_FEATURES_H
#define MACHINE_KERNEL_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

enum kernel_feature {
	KERNEL_BPF,		/* may load a BPF program that reads memory of processes */
	KERNEL_RINGBUF,		/* BPF maps of the ring buffer type (5.8) */
	KERNEL_BTF,		/* types of the kernel in /sys/kernel/btf/vmlinux */
	KERNEL_TP_BTF,		/* programs for the tracepoint sched_switch with the kernel's types */
	KERNEL_PERF,		/* a clock event on each CPU that covers all processes */
	KERNEL_PERF_OWN,	/* such an event for our own processes */
	KERNEL_TRACEFS,		/* may read the directory of tracepoints */
	KERNEL_BPF_LOOP,	/* the helper bpf_loop (5.17); without it, plain loops run */
	KERNEL_TASK_POINTER,	/* the helper bpf_get_current_task_btf (5.11); without it, each step is a read */
	KERNEL_TASK_REGISTERS,	/* the helper bpf_task_pt_regs (5.15): user registers of a thread inside the kernel */
	KERNEL_TASK_ITERATOR,	/* iterators over all threads (5.9), including those that sleep throughout */
	KERNEL_READV,		/* may read memory of another process (process_vm_readv) */
	KERNEL_FEATURES
};

/* The name in STROBE_WITHOUT ("bpf"), and the purpose in words. */
const char *kernel_feature_name(enum kernel_feature f);
const char *kernel_feature_use(enum kernel_feature f);

/* Probes a feature. Returns 0 if it works, else -errno; -ECANCELED if STROBE_WITHOUT names it. Features that need
 * bpf(2) are off if KERNEL_BPF is. */
int kernel_feature_probe(enum kernel_feature f);

/* Whether STROBE_WITHOUT names it. */
bool kernel_feature_is_switched_off(enum kernel_feature f);

/* Copies the first word of STROBE_WITHOUT that is not a feature to `out`; false if there is none. */
bool kernel_features_unknown_word(char *out, unsigned size);

/* Finds the id of a type in BTF bytes ("btf_trace_sched_switch" of kind `kind`, a BTF_KIND_…); 0 if it is missing or
 * the bytes are not BTF. */
uint32_t btf_find(const void *bytes, uint64_t size, const char *name, unsigned kind);

#endif

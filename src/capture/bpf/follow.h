/* follow.h: access to the running task and to pointers in kernel structs, on all kernels.
 *
 * Since 5.11 a helper returns the running task as a pointer that programs may follow as in C. Before, it was a
 * number, and each step requires a call of a helper. `settings` is constant when a program is loaded, so the verifier
 * sees only one variant.
 */
#ifndef CAPTURE_BPF_FOLLOW_H
#define CAPTURE_BPF_FOLLOW_H

#include "maps.h"

#include <bpf/bpf_core_read.h>

#define FOLLOW_1(p, a)		((p)->a)
#define FOLLOW_2(p, a, b)	((p)->a->b)
#define FOLLOW_CHOOSE(a, b, name, ...)	name

/* FOLLOW(task, group_leader, tgid) is task->group_leader->tgid. */
#define FOLLOW(p, ...)									\
	(settings.has_task_pointer ? FOLLOW_CHOOSE(__VA_ARGS__, FOLLOW_2, FOLLOW_1)(p, __VA_ARGS__) :	\
	 BPF_CORE_READ(p, __VA_ARGS__))

static __always_inline struct task_struct *current_task(void)
{
	return settings.has_task_pointer ? bpf_get_current_task_btf() : (struct task_struct *)bpf_get_current_task();
}

#endif

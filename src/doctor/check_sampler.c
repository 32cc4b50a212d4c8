/* check_sampler.c: checks whether the kernel lets the caller inspect other processes. */
#include "doctor.h"

#include "buf.h"
#include "kernel_features.h"
#include "kernel_limits.h"
#include "obstacles.h"

#include <linux/capability.h>
#include <string.h>

struct state {
	struct findings *f;
	const char *proc;
	struct kernel_limits limits;
	struct task_status self;
	int result[KERNEL_FEATURES];
};

/* --- obstacles */

static void add_refused(struct state *s, enum kernel_feature f)
{
	struct obstacle o;

	obstacle_for_feature(s->proc, f, s->result[f], &o);
	findings_add(s->f, o.chosen ? LEVEL_NOTE : LEVEL_WARNING, AREA_SAMPLER, kernel_feature_name(f), kernel_feature_use(f),
		     *o.remedy ? o.remedy : NULL, "%s", o.cause);
}

/* Whether a feature works, for choosing the fallback to report. */
static bool works(const struct state *s, enum kernel_feature f)
{
	return s->result[f] == 0;
}

static void add_fallback(struct state *s)
{
	bool programs = works(s, KERNEL_BPF) && works(s, KERNEL_RINGBUF) && works(s, KERNEL_BTF) && works(s, KERNEL_TP_BTF);

	if (programs && works(s, KERNEL_PERF))
		findings_add(s->f, LEVEL_OK, AREA_SAMPLER, "ladder", "", NULL,
			     "kernel %s supports sampling every process, on and off CPU (BPF, perf events, BTF, tp_btf)", s->limits.release);
	else if (programs)
		findings_add(s->f, LEVEL_NOTE, AREA_SAMPLER, "ladder", "", NULL,
			     "kernel %s supports waits and calls of every process (BPF, BTF, tp_btf); on CPU %s", s->limits.release,
			     works(s, KERNEL_READV) ? "it samples PHP stacks of your own processes, by reading their memory" : "only the extension can sample");
	else if (works(s, KERNEL_READV))
		findings_add(s->f, LEVEL_NOTE, AREA_SAMPLER, "ladder", "", NULL,
			     "on kernel %s you get PHP stacks of your own processes by reading their memory, without native and kernel frames",
			     s->limits.release);
	else
		findings_add(s->f, LEVEL_NOTE, AREA_SAMPLER, "ladder", "", NULL,
			     "on kernel %s only the extension can sample", s->limits.release);
}

/* Adds the newer kernel features that are missing; only one thing fails without them. */
static void add_lacking(struct state *s)
{
	static const struct {
		enum kernel_feature feature;
		const char *without;
	} newer[] = {
		{ KERNEL_BPF_LOOP, "missing; plain loops replace it" },
		{ KERNEL_TASK_POINTER, "missing; a helper replaces it" },
		{ KERNEL_TASK_REGISTERS, "missing: samples in the kernel, and waits, have no native frames" },
		{ KERNEL_TASK_ITERATOR, "missing: waits that began before a recording are not known" },
	};

	for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++)
		if (!works(s, newer[i].feature))
			findings_add(s->f, LEVEL_NOTE, AREA_SAMPLER, kernel_feature_name(newer[i].feature),
				     kernel_feature_use(newer[i].feature),
				     s->result[newer[i].feature] == -ECANCELED ? "unset STROBE_WITHOUT" : "a newer kernel", "%s",
				     newer[i].without);
}

static void add_unknown_feature(struct findings *f, const char *word)
{
	_cleanup_(buf_done) struct buf names = { 0 };

	buf_init(&names);
	for (unsigned i = 0; i < KERNEL_FEATURES; i++)
		buf_printf(&names, "%s%s", !i ? "use " : i + 1 < KERNEL_FEATURES ? ", " : " or ", kernel_feature_name((enum kernel_feature)i));
	findings_add(f, LEVEL_WARNING, AREA_SAMPLER, "without", "STROBE_WITHOUT", names.data, "no kernel feature is called '%s'", word);
}

static void add_limits(struct state *s)
{
	if (s->limits.ptrace_scope > 0 && !task_has_capability(&s->self, CAP_SYS_PTRACE))
		findings_add(s->f, LEVEL_WARNING, AREA_SAMPLER, "ptrace_scope", "kernel.yama.ptrace_scope", obstacle_remedy_ptrace_scope(s->proc),
			     "%d: memory of processes that you have not started may not be read", s->limits.ptrace_scope);
	if (!task_has_capability(&s->self, CAP_SYS_PTRACE))
		findings_add(s->f, LEVEL_NOTE, AREA_SAMPLER, "cap_sys_ptrace", "", obstacle_remedy_capabilities(s->proc),
			     "you lack CAP_SYS_PTRACE, so files of other users' processes (for native names) are not readable");
}

void doctor_sampler(struct findings *f, const void *data)
{
	const struct doctor *d = data;
	struct state s = { .f = f, .proc = d->proc };
	struct obstacle closed;
	char word[64];

	kernel_limits_read("", &s.limits);
	if (task_status_read(d->proc, "self", &s.self) < 0)
		s.self = (struct task_status){ .seccomp = -1 };
	if (kernel_features_unknown_word(word, sizeof(word)))
		add_unknown_feature(f, word);
	for (unsigned i = 0; i < KERNEL_FEATURES; i++) {
		findings_set_subject(f, "%s", kernel_feature_use((enum kernel_feature)i));
		s.result[i] = kernel_feature_probe((enum kernel_feature)i);
	}
	add_fallback(&s);
	if (obstacle_for_pid_namespace(d->proc, &closed))
		findings_add(f, LEVEL_PROBLEM, AREA_SAMPLER, "proc", "/proc", closed.remedy, "%s", closed.cause);
	if (!works(&s, KERNEL_BPF))
		add_refused(&s, KERNEL_BPF);
	if (!works(&s, KERNEL_PERF))
		add_refused(&s, KERNEL_PERF);
	if (!works(&s, KERNEL_BTF))
		add_refused(&s, KERNEL_BTF);
	/* These fail for the same reason as BPF. */
	if (works(&s, KERNEL_BPF) && !works(&s, KERNEL_RINGBUF))
		add_refused(&s, KERNEL_RINGBUF);
	if (works(&s, KERNEL_BPF) && works(&s, KERNEL_BTF) && !works(&s, KERNEL_TP_BTF))
		add_refused(&s, KERNEL_TP_BTF);
	if (works(&s, KERNEL_BPF) && works(&s, KERNEL_BTF))
		add_lacking(&s);
	if (!works(&s, KERNEL_READV))
		add_refused(&s, KERNEL_READV);
	if (s.result[KERNEL_PERF_OWN] < 0 && !works(&s, KERNEL_PERF))
		add_refused(&s, KERNEL_PERF_OWN);
	if (!works(&s, KERNEL_TRACEFS))
		findings_add(f, LEVEL_NOTE, AREA_SAMPLER, "tracefs", "tracefs",
			     works(&s, KERNEL_BTF) ? NULL : "mount -t tracefs tracefs /sys/kernel/tracing", "%s%s",
			     s.result[KERNEL_TRACEFS] == -EACCES ? "you may not read it" :
			     s.result[KERNEL_TRACEFS] == -ECANCELED ? "switched off by STROBE_WITHOUT" : "is not mounted",
			     works(&s, KERNEL_BTF) ? ", and is not needed where BTF works" : "");
	add_limits(&s);
}

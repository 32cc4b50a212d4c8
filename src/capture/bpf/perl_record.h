/* perl_record.h: the stack of a running Perl thread, walked in BPF and reported to user space. */
#ifndef CAPTURE_BPF_PERL_RECORD_H
#define CAPTURE_BPF_PERL_RECORD_H

#include "maps.h"
#include "perl_names.h"

static __always_inline long perl_walk_once(struct scratch *scratch)
{
	return !perl_walk_step(&scratch->walk, &scratch->perl, &scratch->perl_layout);
}

/* Both forms of a loop, as in record_stack.h. */
static long perl_walk_round(u32 i, void *data)
{
	struct scratch **scratch = data;

	return !*scratch || perl_walk_once(*scratch);
}

__noinline int perl_walk_plain_round(u32 context)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &context);

	return !scratch || perl_walk_once(scratch);
}

static __always_inline void perl_walk_all(struct scratch *scratch, u32 context)
{
	u32 steps = 0;

	if (settings.has_loop) {
		steps = bpf_loop(PERL_STEPS, perl_walk_round, &scratch, 0);
	} else {
		for (; steps < PERL_STEPS; steps++)
			if (perl_walk_plain_round(context))
				break;
	}
	if (steps >= PERL_STEPS)
		php_walk_truncate(&scratch->walk);
}

/* Walks the stack into scratch->walk; returns false if no Perl runs there, or it cannot be read. */
static __always_inline bool walk_perl(struct scratch *scratch, u32 context, const struct perl_place *p, u64 bias, u64 thread)
{
	u64 interpreter = perl_interpreter(p, bias, thread);

	scratch->perl.program = 0;
	/* The thread belongs to a host program and has no interpreter. */
	if (!interpreter)
		return false;
	if (!perl_walk_start(&scratch->walk, &scratch->perl, p, bias, interpreter)) {
		count(COUNTER_GLOBALS_UNREADABLE, 1);
		return false;
	}
	scratch->perl_layout = p->layout;
	perl_walk_all(scratch, context);
	if (scratch->perl.unfinished)
		count(COUNTER_FRAME_UNFINISHED, scratch->perl.unfinished);
	return true;
}

#endif

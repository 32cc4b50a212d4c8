/* same_kind.h: profiles derived from others, stack by stack. */
#ifndef REPORT_SAME_KIND_H
#define REPORT_SAME_KIND_H

#include "profile.h"

/* Returns an empty profile with everything of `p` except frames and nodes. */
static inline struct profile *same_kind(const struct profile *p)
{
	struct profile *r = profile_new();

	profile_keep_lines(r, p->keeps_lines);
	profile_describe(r, p->period_ns, p->mixed_periods, &p->labels);
	profile_cover(r, p->start_ns, p->end_ns);
	r->estimated = p->estimated;
	for (uint32_t c = 0; c < p->column_count; c++)
		profile_column(r, p->columns[c].name, p->columns[c].unit);
	return r;
}

static inline void copy_values(struct profile *r, uint32_t to, const struct profile *p, uint32_t from)
{
	for (uint32_t c = 0; c < p->column_count; c++)
		if (p->columns[c].self[from])
			profile_add(r, to, c, p->columns[c].self[from]);
}

#endif

/* push_pprof.h: a pushed profile.proto into series: labels of samples become labels of series. */
#ifndef EXCHANGE_PUSH_PPROF_H
#define EXCHANGE_PUSH_PPROF_H

#include "pushed.h"

/* Facts that a push gives beside the profile. */
struct push_about {
	const struct labels *labels;		/* labels of the series, set by pushed_label; they win over those of samples */
	struct str name;			/* __name__: "process_cpu", "wall", "memory", "mutex" …; "": by its columns */
	int64_t from_ns, until_ns;		/* 0: as the profile says */
};

/* Adds the profile, which may be compressed by gzip. Values keep their columns; those of `mutex` and `block`, which have the same
 * names, begin with it. -EINVAL with a sentence if it is damaged, -E2BIG above a limit. */
int push_pprof(struct pushed *p, const struct push_about *a, const void *bytes, size_t n, struct err *err);

#endif

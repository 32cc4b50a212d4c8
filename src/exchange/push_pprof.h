/* push_pprof.h: reads a pushed profile.proto into series: labels of samples become labels of series. */
#ifndef EXCHANGE_PUSH_PPROF_H
#define EXCHANGE_PUSH_PPROF_H

#include "pushed.h"

/* Facts from the push that are not in the profile. */
struct push_metadata {
	const struct labels *labels;		/* set by pushed_label; they override those of samples */
	struct str name;			/* __name__: "process_cpu", "wall", "memory", "mutex" …; "": by its columns */
	int64_t from_ns, until_ns;		/* 0: use the profile's */
};

/* Adds the profile, which may be compressed by gzip. Values keep their columns; those of `mutex` and `block` share
 * names, so they get the kind as a prefix. -EINVAL with a sentence if it is damaged, -E2BIG above a limit. */
int push_pprof(struct pushed *p, const struct push_metadata *a, const void *bytes, size_t n, struct err *err);

#endif

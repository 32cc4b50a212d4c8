/* otlp_read.h: reads a request of OTLP profiles into series.
 *
 * Each profile is checked completely before any of it is added, so that it is accepted or rejected as a whole. */
#ifndef EXCHANGE_OTLP_READ_H
#define EXCHANGE_OTLP_READ_H

#include "otlp_layout.h"
#include "pushed.h"

struct otlp_outcome {
	uint64_t profiles, rejected;		/* rejected profiles are part of `profiles` */
	struct err why;				/* reason of the first rejection */
};

/* Adds all valid profiles. With `from_json` the bytes were converted from JSON (otlp_messages.h), which has names
 * instead of layouts and where times are varints. -EINVAL with a sentence if the request as a whole is damaged or has
 * an unsupported layout; -E2BIG above a limit. */
int otlp_read(struct pushed *p, const void *bytes, size_t n, bool from_json, struct otlp_outcome *ret, struct err *err);

#endif

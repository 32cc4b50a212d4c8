/* otlp_read.h: a request of OTLP profiles into series.
 *
 * Each profile is checked as a whole before anything of it is taken, so that it is there as a whole or rejected. */
#ifndef EXCHANGE_OTLP_READ_H
#define EXCHANGE_OTLP_READ_H

#include "otlp_layout.h"
#include "pushed.h"

struct otlp_outcome {
	uint64_t profiles, rejected;		/* rejected of those */
	struct err why;				/* reason of the first one that was rejected */
};

/* Adds all profiles that are fine. With `from_json` the bytes were made of JSON (otlp_messages.h), which has names instead of
 * layouts, and times in it are varints. -EINVAL with a sentence if the request as a whole is damaged or of an unsupported layout;
 * -E2BIG above a limit. */
int otlp_read(struct pushed *p, const void *bytes, size_t n, bool from_json, struct otlp_outcome *ret, struct err *err);

#endif

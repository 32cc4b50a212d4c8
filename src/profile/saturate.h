/* saturate.h: sums that stop at the ends of int64_t, as profile_add does. */
#ifndef PROFILE_SATURATE_H
#define PROFILE_SATURATE_H

#include <stdint.h>

static inline void saturating_add(int64_t *sum, int64_t v)
{
	if (__builtin_add_overflow(*sum, v, sum))
		*sum = v < 0 ? INT64_MIN : INT64_MAX;
}

#endif

/* saturate.h: sums, differences and products that saturate at the ends of their type, like profile_add. */
#ifndef PROFILE_SATURATE_H
#define PROFILE_SATURATE_H

#include <stdint.h>

static inline void saturating_add(int64_t *sum, int64_t v)
{
	if (__builtin_add_overflow(*sum, v, sum))
		*sum = v < 0 ? INT64_MIN : INT64_MAX;
}

static inline void saturating_count(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

static inline int64_t saturating_sum(int64_t a, int64_t b)
{
	saturating_add(&a, b);
	return a;
}

static inline int64_t saturating_difference(int64_t a, int64_t b)
{
	int64_t difference;

	if (!__builtin_sub_overflow(a, b, &difference))
		return difference;
	return a < b ? INT64_MIN : INT64_MAX;
}

static inline int64_t saturating_product(int64_t a, int64_t b)
{
	int64_t product;

	if (!__builtin_mul_overflow(a, b, &product))
		return product;
	return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

#endif

/* memory_cap.h: a cap on the memory of queries, their answers and uploads together.
 *
 * It only counts. Callers reserve the maximum they may need before they allocate, and return the rest. Any thread. */
#ifndef SERVE_MEMORY_CAP_H
#define SERVE_MEMORY_CAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct memory_cap {
	uint64_t most;
	_Atomic uint64_t used;
};

/* False, without reserving anything, if less than `n` is left. */
static inline bool memory_cap_reserve(struct memory_cap *c, uint64_t n)
{
	uint64_t used = c->used;

	do
		if (n > c->most || used > c->most - n)
			return false;
	while (!atomic_compare_exchange_weak(&c->used, &used, used + n));
	return true;
}

static inline void memory_cap_release(struct memory_cap *c, uint64_t n)
{
	c->used -= n;
}

#endif

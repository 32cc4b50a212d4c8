/* test_random.h: random numbers for tests, the same in each run and on each machine. */
#ifndef BASE_TEST_RANDOM_H
#define BASE_TEST_RANDOM_H

#include <stdint.h>

static uint64_t random_state = 88172645463325252u;

/* Returns 0 to n - 1, by xorshift; the sequence is the same in each program. */
static inline uint32_t below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 33) % n;
}

#endif

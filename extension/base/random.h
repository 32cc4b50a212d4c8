/* random.h: our own random numbers: an application's mt_rand must not depend on whether it is profiled. */
#ifndef STROBE_RANDOM_H
#define STROBE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Must be zeroed before its first use, and again in a forked child, which must not repeat its parent's numbers. */
struct random {
	uint64_t state;
};

/* Returns a number from 0 up to, but not including, 1. */
double random_share(struct random *r);

/* Fills `out` with 32 hexadecimal digits and a NUL: 128 bits from the kernel, or from `r` if the kernel has none. */
void random_id(struct random *r, char out[33]);

#endif

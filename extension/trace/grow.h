/* grow.h: growing arrays. */
#ifndef STROBE_GROW_H
#define STROBE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Doubles the capacity of an array, `*array`; new elements are uninitialized. Without memory returns false and
 * changes nothing. */
static inline bool grow(void *array, uint32_t *capacity, size_t size)
{
	uint32_t wanted = *capacity ? *capacity * 2 : 64;
	void **p = array;
	void *bigger = realloc(*p, (size_t)wanted * size);

	if (!bigger)
		return false;
	*p = bigger;
	*capacity = wanted;
	return true;
}

#endif

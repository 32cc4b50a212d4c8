/* test_letters.h: profiles of functions with one-letter names, for tests. */
#ifndef PROFILE_TEST_LETTERS_H
#define PROFILE_TEST_LETTERS_H

#include "profile.h"

#include <string.h>

/* Returns the node of a stack such as "fgf". */
static inline uint32_t stack(struct profile *p, const char *letters)
{
	uint32_t frames[64];
	size_t depth = strlen(letters);

	for (size_t i = 0; i < depth; i++)
		frames[i] = profile_frame(p, (struct str){ letters + i, 1 }, (struct str){ "", 0 }, 0);
	return profile_stack(p, frames, depth);
}

static inline void add(struct profile *p, const char *letters, const char *column, int64_t v)
{
	profile_add(p, stack(p, letters), profile_column(p, column, "count"), v);
}

#endif

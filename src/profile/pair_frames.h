/* pair_frames.h: matches the functions of one profile with those of another.
 *
 * Functions are the same if they have the same name, and their file and line match best: one that moved is not new.
 * Paths are compared below the directory of their release (releases.h). Closures, and other functions with the same
 * name in a file, are identified by the enclosing function and their order in it. Generated classes, whose names end
 * with a hash, are paired by the rest of their names, in the order in which they occur.
 */
#ifndef PROFILE_PAIR_FRAMES_H
#define PROFILE_PAIR_FRAMES_H

#include "profile.h"

enum pair_names {
	PAIR_RELEASES,		/* as described above */
	PAIR_AS_WRITTEN,	/* only equal names match */
};

/* Adds the frames of `a` and `b` to `into`; paired frames become one, with the location that it has in `b`. `ret_a`
 * and `ret_b` have one element per frame. With `strip_hex`, all numbers 0x... in names are equal. */
void pair_frames(struct profile *into, const struct profile *a, const struct profile *b, enum pair_names names,
		 bool strip_hex, uint32_t *ret_a, uint32_t *ret_b);

#endif

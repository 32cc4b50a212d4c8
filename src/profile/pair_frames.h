/* pair_frames.h: matches the functions of one profile with those of another.
 *
 * A function is the same if its name is, and its file and line agree best: one that moved is no new one. Paths are compared
 * below the directory of their release (releases.h). Closures, and other functions that share one name in a file, are known
 * by the function that they stand in and their order there. Generated classes, whose names end with a hash, are paired by
 * the rest of their names, in the order in which they come.
 */
#ifndef PROFILE_PAIR_FRAMES_H
#define PROFILE_PAIR_FRAMES_H

#include "profile.h"

enum pair_names {
	PAIR_RELEASES,		/* as said above */
	PAIR_AS_WRITTEN,	/* only equal names are the same */
};

/* Adds the frames of `a` and `b` to `into`, those of one function as one, which stands where it stands in `b`.
 * `ret_a` and `ret_b` have one element per frame. With `strip_hex` numbers 0x... in names are all the same. */
void pair_frames(struct profile *into, const struct profile *a, const struct profile *b, enum pair_names names,
		 bool strip_hex, uint32_t *ret_a, uint32_t *ret_b);

#endif

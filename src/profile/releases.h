/* releases.h: maps the directories of one release to those of another.
 *
 * A program that runs in /srv/shop/releases/7 is the same in /srv/shop/releases/8, and its files are known by their paths
 * below that. The files themselves vote for which directory became which: those that are on one side only, and have
 * the end of their paths in common with one that is only on the other.
 */
#ifndef PROFILE_RELEASES_H
#define PROFILE_RELEASES_H

#include "buf.h"
#include "intern.h"

struct releases;

/* Paths of both sides, in any order and as often as they come; they must stay where they are. */
struct releases *releases_new(void);
void releases_free(struct releases *r);		/* NULL is fine */
void releases_add(struct releases *r, bool is_after, struct str path);

/* Once all paths are there. */
void releases_decide(struct releases *r);

/* A path of the side before as it is after: in `scratch`, or `path` itself if it stays. */
struct str releases_after(const struct releases *r, struct str path, struct buf *scratch);

#endif

/* releases.h: maps the directories of one release to those of another.
 *
 * A program in /srv/shop/releases/7 is the same in /srv/shop/releases/8, and its files are identified by their paths
 * below that. The files themselves vote for the mapping of directories: each file that exists only on one side votes
 * if its path has the same end as a file that exists only on the other side.
 */
#ifndef PROFILE_RELEASES_H
#define PROFILE_RELEASES_H

#include "buf.h"
#include "intern.h"

struct releases;

/* Paths of both sides may be added in any order, and repeatedly; their memory must stay valid. */
struct releases *releases_new(void);
void releases_free(struct releases *r);		/* NULL is fine */
void releases_add(struct releases *r, bool is_after, struct str path);

/* Call it once all paths have been added. */
void releases_decide(struct releases *r);

/* Maps a path of the earlier side to the later one: returned in `scratch`, or `path` itself if it stays. */
struct str releases_after(const struct releases *r, struct str path, struct buf *scratch);

#endif

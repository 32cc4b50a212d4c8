/* leaderboard.h: ranks functions by how often they were running, counted like arclamp-grep. Pure: a profile in, rows out.
 *
 * Each stack counts for its deepest frame that is not skipped. Skipped are names without a capital letter (PHP's
 * functions, files) unless requested, and names that match a pattern. Names that differ only by a version of
 * MediaWiki ("1.45.0-wmf.3", "1.27wmf10") count as one name, with X.XXwmfXX in its place.
 */
#ifndef ARCLAMP_LEADERBOARD_H
#define ARCLAMP_LEADERBOARD_H

#include "profile.h"

struct leaderboard_options {
	const char *grep;		/* only stacks that contain this, such as "a;b;c"; NULL or "": all */
	const char *const *skip;	/* shell patterns */
	size_t skip_count;
	bool keep_lowercase;
};

struct leaderboard {
	struct leaderboard_row { struct str name; int64_t samples; } *rows;	/* largest first, then by name */
	size_t count;
	int64_t scale;			/* divisor of all sample counts, which may be fractions */
	int64_t samples;		/* sum of all rows */
	int64_t passed_over;		/* samples of matching stacks in which every frame is skipped */
	int64_t unmatched;		/* samples of stacks that do not contain `grep` */

	/* private */
	struct intern names;
};

void leaderboard_make(const struct profile *p, uint32_t column, const struct leaderboard_options *o,
		      struct leaderboard *ret);
void leaderboard_done(struct leaderboard *l);

#endif

/* log_tags.h: the set of tags that have log files.
 *
 * Entry points come from outside. One becomes a tag if it is fit for a file name (log_tag_is_fit) and if not LOG_TAGS
 * others have files in the tree; all others are "other". The tags are found again at the start, and once in an hour, so
 * that those whose files were removed make room.
 */
#ifndef ARCLAMP_LOG_TAGS_H
#define ARCLAMP_LOG_TAGS_H

#include "log_name.h"
#include "logs.h"

#define LOG_TAGS	1000u

enum { LOG_TAG_ALL, LOG_TAG_OTHER, LOG_TAG_FIRST };	/* numbers of tags */

struct log_tags {
	struct intern names;
	bool logged_full;			/* that there are too many was logged */
};

void log_tags_init(struct log_tags *t);
void log_tags_done(struct log_tags *t);

/* The number of the tag of an entry point ("index", NULL if there is none), new ones are added. `names` are the formats
 * of the groups: a tag that would make files of another group in the same directory is not fit. */
uint32_t log_tags_of(struct log_tags *t, const char *entry, const struct logs_options *o, const struct log_name *names);

/* Restarts with those that have files. Numbers change. */
void log_tags_scan(struct log_tags *t, const struct logs_options *o, const struct log_name *names);

/* "/srv/w/index.php" is "index". */
struct str log_entry_point(const char *first_frame);

#endif

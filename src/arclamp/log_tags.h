/* log_tags.h: the set of tags that have log files.
 *
 * Entry points are untrusted. One becomes a tag if it is valid in a file name (log_tag_is_fit) and fewer than
 * LOG_TAGS others have files in the tree; all others are "other". The tree is scanned at the start and every hour, so
 * that tags whose files were removed make room.
 */
#ifndef ARCLAMP_LOG_TAGS_H
#define ARCLAMP_LOG_TAGS_H

#include "log_name.h"
#include "logs.h"

#define LOG_TAGS	1000u

enum { LOG_TAG_ALL, LOG_TAG_OTHER, LOG_TAG_FIRST };	/* predefined tags */

struct log_tags {
	struct intern names;
	bool logged_full;			/* the overflow was logged */
};

void log_tags_init(struct log_tags *t);
void log_tags_done(struct log_tags *t);

/* Returns the tag of an entry point ("index", NULL if there is none); new ones are added. `names` are the formats of
 * the groups: a tag that would make files of another group in the same directory is invalid. */
uint32_t log_tags_of(struct log_tags *t, const char *entry, const struct logs_options *o, const struct log_name *names);

/* Rebuilds the set from existing files. Tags get new numbers. */
void log_tags_scan(struct log_tags *t, const struct logs_options *o, const struct log_name *names);

/* Returns "index" for "/srv/w/index.php". */
struct str log_entry_point(const char *first_frame);

#endif

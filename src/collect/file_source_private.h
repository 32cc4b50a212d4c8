/* file_source_private.h: the source that follows a file, common to the reading of files and to the resuming after a restart. */
#ifndef COLLECT_FILE_SOURCE_PRIVATE_H
#define COLLECT_FILE_SOURCE_PRIVATE_H

#include "file_source.h"
#include "file_state.h"
#include "line_options.h"
#include "tail.h"

#include <sys/stat.h>

#define FILE_TAILS_MAX	256u		/* rotated files with lines that no sink has; each is open */

struct file_source {
	struct source base;
	struct line_options options;
	char *path;
	char *state_directory;		/* NULL: offsets are not saved */
	char *state_path;		/* the state file; NULL if offsets are not saved */
	char *found_path;		/* holds the offsets until reading begins, perhaps under the name of another path;
					 * NULL: there are none */
	bool has_begun;			/* reading has begun; before that nothing is saved */
	struct watch timer;
	struct tail *tails;		/* in the order of their epochs; the last one that is open is what the path
					 * names */
	struct tail *reading;		/* the file whose lines are being handed over */
	struct tail *current;		/* the file at the path; NULL: none at present */
	uint32_t last_epoch;
	int64_t seen_ns;		/* when the path last named `current`; 0: never */
	struct file_offset ended[FILE_STATE_ENDED];	/* rotated files that were read to their end, the oldest first */
	size_t ended_count;
	bool has_missed;		/* missed files were found that no state file has yet */
	bool caught_up, state_failed, logged_unreadable, logged_missing;
	int64_t next_full_ns;		/* when "too many files" may be logged again */
	uint64_t acknowledged, saved;	/* numbers of ack tokens */
	struct file_source *next;	/* in `all` */
	char piece[256u * 1024];
};

size_t file_source_count_tails(const struct file_source *s);		/* open ones */
struct tail *file_source_find_tail(const struct file_source *s, const struct stat *st);	/* NULL: the file is not open here */
void file_source_add_tail(struct file_source *s, struct tail *t);

/* Opens a file that no source has open, from an offset. Takes over `fd`. */
struct tail *file_source_begin_tail(struct file_source *s, int fd, const struct stat *st, uint64_t offset);

/* Whether the source of another path reads this file, which was renamed. A source being closed counts, since its
 * lines may not be stored yet. */
bool file_source_is_read_elsewhere(const struct file_source *s, const struct stat *st);

void file_source_add_ended(struct file_source *s, const struct file_offset *o);

/* --- file_resume.c --- */

/* Continues the files of the offsets at `found_path`, and adds those that rotation made meanwhile. -EINVAL: the file has no
 * offsets. */
int file_source_resume(struct file_source *s, struct err *err);

#endif

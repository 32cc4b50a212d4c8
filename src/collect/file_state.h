/* file_state.h: the saved offsets of followed files, "file-….position" in the state directory.
 *
 *	strobe file 1
 *	origin TEXT				identity of the source; missing in older files
 *	last EPOCH				the last epoch in use
 *	seen NANOSECONDS			when the path named the last one of the files below, since 1970; missing in older files
 *	at EPOCH DEVICE INODE OFFSET MARK	for each file that is being read; the last one is what the path named
 *	was SECONDS DEVICE INODE OFFSET MARK	for the last FILE_STATE_ENDED rotated files that were read to their end, and when
 *						that was, since 1970; missing in older files
 *
 * Its name is a hash of the followed path without links in its directories. Where the file has another path since, it is
 * found by what it says about that file: device and inode, and the hash of its first bytes (tail_mark). Does not know what
 * sources are. */
#ifndef COLLECT_FILE_STATE_H
#define COLLECT_FILE_STATE_H

#include "buf.h"
#include "err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define FILE_STATE_MAX		(64u * 1024)
#define FILE_STATE_BEGIN	"strobe file 1\n"
#define FILE_STATE_ORIGIN	"origin "
#define FILE_STATE_ENDED	16u

struct file_offset {
	uint32_t epoch;			/* only in "at" lines */
	int64_t ended;			/* only in "was" lines; 0: an "at" line */
	uint64_t device, inode, offset, mark;
};

/* Parses an "at" line; false for any other. */
bool file_offset_parse(const char *line, struct file_offset *ret);

/* The same for a "was" line. */
bool file_offset_parse_ended(const char *line, struct file_offset *ret);

/* Whether the offset is one of this open file: of the same inode, and all that was read is still there. */
bool file_offset_matches(const struct file_offset *o, int fd, const struct stat *st);

/* The same for a "was" line; a file made since, with the same inode, is another one. */
bool file_offset_was_of(const struct file_offset *ended, int fd, const struct stat *st);

/* The path without links in its directories. `path` is absolute and has no slash at its end. The caller frees it. */
char *file_state_real_path(const char *path);

/* The file in `directory` that has the offsets of `path`. The caller frees it. */
char *file_state_path(const char *directory, const char *path);

/* Returns the state file under the name of `path`, or else the latest one whose last offset is of the file at
 * `path`; NULL: none. Files in `taken` belong to other sources. The caller frees it. */
char *file_state_find(const char *directory, const char *path, char *const *taken, size_t taken_count);

void file_state_put_ended(const struct file_offset *o, struct buf *out);	/* a "was" line */

/* Finds the furthest offset of an open file, "at" or "was", in all files of `directory`. */
bool file_state_find_offset(const char *directory, int fd, const struct stat *st, struct file_offset *ret);

/* Replaces "at" lines of a file by the "was" line `ended` in all state files of `directory` that are not in
 * `taken`, since another source continues the file. */
int file_state_end(const char *directory, const struct file_offset *ended, char *const *taken, size_t taken_count, struct err *err);

#endif

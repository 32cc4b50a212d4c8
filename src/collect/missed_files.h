/* missed_files.h: the files that a followed path named, one after the other, while nobody read it.
 *
 * Rotation gave each of them another name, as it did to the file that was read last:
 *
 *	x.2	read last, known by its inode
 *	x.1	missed
 *	x	what the path names now
 *
 * A copy of a file must not be taken for a missed one, since its lines would count twice. So a file is one only if
 *
 *	1. the file that was read last is in the same directory, and has a number or a date in its name: x.N, x-YYYYMMDD…,
 *	   or in front of the extension (x-YYYYMMDD.log of x.log)
 *	2. the name of the missed file has a number or a date in the same place and form, and is later by it
 *	3. it was made after the path was looked at for the last time, and before the file that the path names now
 *	4. the order in which the files were made is that of their names, and each was written after it was made
 *	5. it is not compressed, and its first bytes are not those of another one of these files
 *
 * Other files with such names that changed meanwhile are doubtful. Does not know what sources are. */
#ifndef COLLECT_MISSED_FILES_H
#define COLLECT_MISSED_FILES_H

#include "file_state.h"

#include <time.h>

struct missed_file {
	char *path;
	int fd;			/* -1 if it cannot be opened */
	struct stat st;
	char *doubt;		/* why it may not be a missed file; NULL: it certainly is one */
	bool is_compressed;
	bool may_be_last;	/* the file that was read last, or a copy of it, though not under its inode */
};

struct missed_files {
	struct missed_file *items;	/* the oldest first */
	size_t count;
};

/* `last` is the file that was read last, and `seen` the time at which the path still named it. Empty files are left out. */
void missed_files_find(const char *path, const struct file_offset *last, const struct timespec *seen, struct missed_files *ret);
void missed_files_done(struct missed_files *m);

#endif

/* log_files.h: the files that are being appended to, some of them kept open.
 *
 * Others may remove, rename, compress or shorten them at any time: each time a file is asked for, the name is looked up
 * and one that leads elsewhere is opened anew. Not for several threads. */
#ifndef ARCLAMP_LOG_FILES_H
#define ARCLAMP_LOG_FILES_H

#include "err.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_FILES_OPEN	256u		/* a quarter of the limit of descriptors where that is less */
#define LOG_FILES_SYNC	16u		/* more than so many are synced with all of their file system */

struct log_file {
	char *path;			/* as given */
	int fd;				/* -1: this one is free */
	uint64_t hash, device, inode;
	uint64_t used;			/* when it was asked for last; counts calls */
	bool is_dirty;			/* appended to, and not synced */
};

struct log_files {
	struct log_file files[LOG_FILES_OPEN];
	size_t most;			/* of them that may be open */
	uint64_t calls;
	bool closed_dirty;		/* one was closed before it was synced */
	_Atomic uint64_t open_now;
};

void log_files_init(struct log_files *l);
void log_files_done(struct log_files *l);

/* The file, made with mode 0644 if it is not there; its directory too. Another one may be closed for it.
 * Valid until the next call. No symbolic link is followed, and what is no regular file is an error. */
int log_files_get(struct log_files *l, const char *path, struct log_file **ret, struct err *err);

int log_file_append(struct log_file *f, const void *bytes, size_t n, struct err *err);

/* What was appended to is durable when it returns 0. */
int log_files_sync(struct log_files *l, struct err *err);

/* Closes those that were not asked for since the last time: a removed file takes room on the disk while it is open. */
void log_files_close_idle(struct log_files *l);

#endif

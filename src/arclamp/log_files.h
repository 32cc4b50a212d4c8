/* log_files.h: log files open for appending.
 *
 * Other processes may remove, rename, compress or truncate them at any time, so each request looks the name up and
 * reopens the file if it has changed. Not thread-safe. */
#ifndef ARCLAMP_LOG_FILES_H
#define ARCLAMP_LOG_FILES_H

#include "err.h"
#include "fd_budget.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_FILES_OPEN	(FD_BUDGET / 2)	/* limit */
#define LOG_FILES_SYNC	16u		/* above this number, whole file systems are synced */

struct log_file {
	char *path;			/* as given */
	int fd;				/* -1: free slot */
	uint64_t hash, device, inode;
	uint64_t used;			/* time of the last request, in calls */
	bool is_dirty;			/* has unsynced data */
};

struct log_files {
	struct log_file files[LOG_FILES_OPEN];
	uint64_t calls;
	bool closed_dirty;		/* a file was closed before it was synced */
	_Atomic uint64_t open_now;
};

void log_files_init(struct log_files *l);
void log_files_done(struct log_files *l);

/* Returns the file; creates it with mode 0644, and its directory, if missing. If too many are open, or the process
 * has no descriptor left, others are closed. Valid until the next call. Symbolic links are not followed, and anything
 * but a regular file is an error. */
int log_files_get(struct log_files *l, const char *path, struct log_file **ret, struct err *err);

int log_file_append(struct log_file *f, const void *bytes, size_t n, struct err *err);

/* Makes appended data durable; 0 on success. */
int log_files_sync(struct log_files *l, struct err *err);

/* Closes the least recently used file, for callers that ran out of descriptors. False if none is open. */
bool log_files_close_oldest(struct log_files *l);

/* Closes files not used since the last call, since removed files take up disk space while they are open. */
void log_files_close_idle(struct log_files *l);

#endif

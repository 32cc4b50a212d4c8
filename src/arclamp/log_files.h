/* log_files.h: log files open for appending.
 *
 * Others may remove, rename, compress or truncate them at any time: each request looks the name up, and reopens the
 * file if the name leads elsewhere. Not thread-safe. */
#ifndef ARCLAMP_LOG_FILES_H
#define ARCLAMP_LOG_FILES_H

#include "err.h"
#include "fd_budget.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_FILES_OPEN	(FD_BUDGET / 2)	/* at most */
#define LOG_FILES_SYNC	16u		/* more than so many are synced with all of their file system */

struct log_file {
	char *path;			/* as given */
	int fd;				/* -1: this one is free */
	uint64_t hash, device, inode;
	uint64_t used;			/* when it was last requested; counts calls */
	bool is_dirty;			/* appended to, and not synced */
};

struct log_files {
	struct log_file files[LOG_FILES_OPEN];
	uint64_t calls;
	bool closed_dirty;		/* one was closed before it was synced */
	_Atomic uint64_t open_now;
};

void log_files_init(struct log_files *l);
void log_files_done(struct log_files *l);

/* Returns the file, created with mode 0644 if it does not exist; its directory too. Others are closed for it if too many are open, or
 * if the process has no descriptor left.
 * Valid until the next call. Symbolic links are not followed, and a file that is not regular is an error. */
int log_files_get(struct log_files *l, const char *path, struct log_file **ret, struct err *err);

int log_file_append(struct log_file *f, const void *bytes, size_t n, struct err *err);

/* Makes appended data durable; 0 on success. */
int log_files_sync(struct log_files *l, struct err *err);

/* Closes the least recently used file, for a caller that has run out of descriptors. False if none is open. */
bool log_files_close_oldest(struct log_files *l);

/* Closes files not used since the last call: a removed file takes up disk space while it is open. */
void log_files_close_idle(struct log_files *l);

#endif

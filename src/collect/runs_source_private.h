/* runs_source_private.h: the state that the two halves of a runs: source share. runs_scan.c finds files and queues them,
 * runs_source.c reads them and waits for their commit. */
#ifndef COLLECT_RUNS_SOURCE_PRIVATE_H
#define COLLECT_RUNS_SOURCE_PRIVATE_H

#include "runs_source.h"

#include "sandbox.h"
#include "map.h"
#include "runs_seen.h"
#include "source_url.h"

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>

struct run_file {
	uint64_t id;				/* as in runs_seen.h */
	int64_t changed_ns;
	bool is_handed;				/* it waits to be committed */
	bool is_closed;				/* its writer has closed it */
	char name[NAME_MAX + 1];
};

struct runs_source {
	struct source base;
	struct source_hints hints;
	char *path;				/* as configured; links in it may change */
	char *directory_path;			/* the real path; NULL: unknown at present */
	char *state;				/* NULL: imported files are not saved */
	struct runs_seen seen;
	struct map logged;			/* ids of files whose error was logged once, and that are retried */
	uint32_t epoch;				/* in ack tokens, so that those from before a restart never match */

	struct watch timer, notify, child;
	int directory;				/* -1 while there is none */
	dev_t device;
	ino_t inode;
	DIR *scan;				/* the running scan; NULL: none */
	int64_t next_scan_ns, next_check_ns;	/* monotonic; the check is whether the path still names the directory */
	bool has_fresh;				/* the scan has skipped a file that may still be written */
	bool has_caught_up;
	int logged_error;			/* errno logged last for an unreadable directory; 0: readable */

	struct run_file *queue;			/* in the order in which they were found */
	size_t queue_count;
	size_t queue_max;
	struct sandbox sandbox;
	uint64_t reading;			/* id of the file that the child reads; 0: none */
	int64_t next_warning_ns;
};

/* --- runs_source.c --- */

uint64_t runs_file_id(const char *name, const struct stat *st);
int64_t runs_file_changed_ns(const struct stat *st);
struct run_file *runs_find_queued(struct runs_source *s, uint64_t id);	/* NULL: it is not in the queue */

/* Counts and logs a file that will never be read, and remembers it. */
void runs_refuse(struct runs_source *s, uint64_t id, enum source_file_error e, const char *name, const char *why);

/* Starts the child on the first queued file, if none is being read and there is room for its run. */
void runs_read_next(struct runs_source *s);

/* --- runs_scan.c --- */

int runs_scan_open_seen(struct runs_source *s, struct err *err);	/* opens the list of the directory that the
									 * path leads to */
void runs_scan_continue(struct runs_source *s);			/* scans a part of the directory, if it is due */
void runs_scan_soon(struct runs_source *s);
void runs_scan_notified(struct watch *w, uint32_t events);		/* inotify has events */
void runs_scan_close(struct runs_source *s);

#endif

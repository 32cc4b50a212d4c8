/* runs_seen.h: the list of imported run files of a directory, kept across restarts.
 *
 * A file is known by a hash of its name, inode, size and time of change: a rewritten one is another one. The
 * hashes are kept in a file of the daemon's own, "strobe runs 1" and a line of 16 hexadecimal digits for each, to
 * which lines are appended. Files that are gone are forgotten after a scan of the directory.
 */
#ifndef COLLECT_RUNS_SEEN_H
#define COLLECT_RUNS_SEEN_H

#include "err.h"
#include "map.h"
#include <stdbool.h>

struct runs_seen {
	char *path;			/* NULL: nothing is remembered across restarts */
	struct runs_seen_set {
		struct map map;
		uint64_t *items;
		size_t count, capacity;
	} known, met;			/* met: those of `known` that the running scan has found */
	size_t lines;			/* lines in the file */
	int fd;				/* to append to; -1: the file has to be rewritten */
	bool logged;
};

/* Takes `path`. -EINVAL with a sentence for any other file. runs_seen_done in any case. */
int runs_seen_init(struct runs_seen *s, char *path, struct err *err);
void runs_seen_done(struct runs_seen *s);

/* Also adds the files of another list, which may be missing. */
int runs_seen_read_also(struct runs_seen *s, const char *path, struct err *err);

bool runs_seen_has(const struct runs_seen *s, uint64_t id);
void runs_seen_add(struct runs_seen *s, uint64_t id);

/* Around a scan of the whole directory: ids found in the scan are kept at its end, all others dropped. */
void runs_seen_mark(struct runs_seen *s, uint64_t id);
void runs_seen_end_scan(struct runs_seen *s);

/* Retries failed writes; free if there are none. */
void runs_seen_save(struct runs_seen *s);

#endif

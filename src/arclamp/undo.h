/* undo.h: makes a batch of lines for many files atomic.
 *
 * Before a batch is written, its id and the length of each of its files are noted and synced; when all files are
 * synced, so is its end. A batch without an end (found at a start after a crash, or by the next try after a full disk)
 * is undone: its files are cut back, and files it created are removed. The ids of batches are kept, so that one that is
 * delivered again after a restart is known: of the last UNDO_IDS batches, and of all that may still be delivered again
 * (undo_keep_ids). Two processes cannot work on one tree.
 *
 * All is in `<base>/.strobe`: `lock`, which is locked while a process works here, and `batches`, a ledger (ledger.h),
 * in whose place comes one with the ids alone when it has grown. Bodies of its records are a kind, then varints:
 *
 *   1 begun       id, number of files, and of each: length of path, path below the base, inode (0: the file was not there),
 *                 length in bytes
 *   2 ended       id
 *   3 taken back  id
 *   4 ids         number, and the ids, the oldest first
 *
 * Events whose record was cut off have not happened. If more was cut off than a crash can cause, nothing is taken back.
 */
#ifndef ARCLAMP_UNDO_H
#define ARCLAMP_UNDO_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNDO_IDS	8192u

struct undo;

struct undo_file {
	const char *path;		/* below the base */
	uint64_t inode, length;		/* both 0: it is not there yet */
};

/* Undoes what a crash left half done. -EBUSY if another process works on this tree. */
int undo_open(const char *base, struct undo **ret, struct err *err);
struct undo *undo_close(struct undo *u);		/* NULL is fine; returns NULL */

bool undo_knows(const struct undo *u, uint64_t id);	/* the batch ended once; 0 is no id and never known */

/* Drops the ids of batches that are neither in `open` nor among the last UNDO_IDS. */
void undo_keep_ids(struct undo *u, const uint64_t *open, size_t count);

/* Durable when it returns 0; then the files may be created and appended to. The batch before must have ended, or have
 * been undone. */
int undo_begin(struct undo *u, uint64_t id, const struct undo_file *files, size_t count, struct err *err);
int undo_end(struct undo *u, struct err *err);

/* Undoes the batch that began and did not end, if there is one; may be called again after a failure. */
int undo_back(struct undo *u, struct err *err);

uint64_t undo_count(const struct undo *u);		/* batches that were undone */

#endif

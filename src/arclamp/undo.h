/* undo.h: what makes a batch of lines for many files one that is there wholly or not at all.
 *
 * Before a batch is written its id and the length of each of its files are noted and synced; when all files are synced,
 * so is that it ended. What finds a batch that began and did not end (a start after a crash, the next try after a full
 * disk) cuts its files back, and removes those that it made. The ids of the last UNDO_IDS batches are kept: one that
 * comes again after a restart is known. Two processes can not work on one tree.
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
 * What a record that was cut off should have said has not happened. If more was cut off than a crash can have, nothing
 * is taken back.
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

/* Takes back what a crash left half done. -EBUSY if another process works on this tree. */
int undo_open(const char *base, struct undo **ret, struct err *err);
struct undo *undo_close(struct undo *u);		/* NULL is fine; returns NULL */

bool undo_knows(const struct undo *u, uint64_t id);	/* the batch ended once; 0 is no id and never known */

/* Durable when it returns 0; then the files may be made and appended to. The batch before must have ended, or have been
 * taken back. */
int undo_begin(struct undo *u, uint64_t id, const struct undo_file *files, size_t count, struct err *err);
int undo_end(struct undo *u, struct err *err);

/* Takes the batch back that began and did not end, if there is one; fine to call again after a failure. */
int undo_back(struct undo *u, struct err *err);

uint64_t undo_count(const struct undo *u);		/* batches that were taken back */

#endif

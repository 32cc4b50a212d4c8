/* undo.h: makes a batch of lines for many files atomic.
 *
 * Before a batch is written, its id and the length of each of its files are recorded and synced; when all files are
 * synced, its end is recorded likewise. A batch without an end (found at startup after a crash, or by the next
 * attempt after a full disk) is rolled back: its files are truncated, and files it created are removed. Ids are kept
 * to recognize batches that are delivered again after a restart: those of the last UNDO_IDS batches, and of all that
 * may still be delivered again (undo_keep_ids). Two processes cannot work on one tree.
 *
 * `<base>/.strobe` has `lock`, which is locked while a process works here, and `batches`, a ledger (ledger.h) that is
 * replaced by one with only the ids when it has grown. Bodies of its records are a kind, then varints:
 *
 *   1 begun       id, number of files, and of each: length of path, path below the base, inode (0: the file was not there),
 *                 length in bytes
 *   2 ended       id
 *   3 taken back  id
 *   4 ids         number, and the ids, the oldest first
 *
 * Events whose record was truncated have not happened. If more was truncated than a crash can cause, nothing is
 * rolled back.
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
	uint64_t inode, length;		/* both 0: it does not exist yet */
};

/* Rolls back what a crash left incomplete. -EBUSY if another process works on this tree. */
int undo_open(const char *base, struct undo **ret, struct err *err);
struct undo *undo_close(struct undo *u);		/* NULL is fine; returns NULL */

bool undo_knows(const struct undo *u, uint64_t id);	/* whether the batch has ended before; 0 is not an id */

/* Drops the ids of batches that are neither in `open` nor among the last UNDO_IDS. */
void undo_keep_ids(struct undo *u, const uint64_t *open, size_t count);

/* Records the beginning durably; then files may be created and appended to. The previous batch must have ended or
 * been rolled back. */
int undo_begin(struct undo *u, uint64_t id, const struct undo_file *files, size_t count, struct err *err);
int undo_end(struct undo *u, struct err *err);

/* Rolls back the batch that has begun and not ended, if there is one; may be called again after a failure. */
int undo_roll_back(struct undo *u, struct err *err);

uint64_t undo_count(const struct undo *u);		/* number of batches rolled back */

#endif

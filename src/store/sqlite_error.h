/* sqlite_error.h: SQLite's errors as a negative errno and a sentence. */
#ifndef STORE_SQLITE_ERROR_H
#define STORE_SQLITE_ERROR_H

#include "err.h"
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* Fills `err` with "cannot DOING 'PATH': …" for the last failure of `db` and returns its errno: -ENOSPC when the disk
 * is full, -EBADMSG when the file is damaged or no database, -EBUSY, -ENOMEM, -EACCES, -EFBIG, -EMFILE, otherwise -EIO. */
int sqlite_failed(sqlite3 *db, const char *doing, const char *path, struct err *err);

/* Call before SQLite opens a file. Returns -EBADMSG for a pipe, which would block forever, or a device; -EIO for a
 * dangling link, such as to a disk that is not mounted. A missing file is not an error. */
int sqlite_check_file(const char *path, struct err *err);

/* Prepares one of our statements; returns -EBADMSG if the file's tables do not match it, otherwise errors as in
 * sqlite_failed. */
int sqlite_prepare(sqlite3 *db, const char *sql, const char *path, sqlite3_stmt **ret, struct err *err);

/* Tells whether an operation that returned `result` should be retried: waits a moment and returns true if it was
 * -EBUSY and the monotonic clock is not past `deadline_ns`. SQLite's busy timeout does not cover all of opening:
 * switching an empty file to WAL (journal_mode) fails at once as locked while another connection reads the file. */
bool sqlite_wait_to_retry(int result, int64_t deadline_ns);

static inline void stmt_finalizep(sqlite3_stmt **s)
{
	sqlite3_finalize(*s);
}

static inline void stmt_resetp(sqlite3_stmt **s)
{
	sqlite3_reset(*s);
}

#endif

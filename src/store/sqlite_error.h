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

/* Before SQLite opens a file: -EBADMSG if a pipe, which would keep it waiting forever, or a device stands in its place; -EIO for
 * a link that leads nowhere, as to a disk that is not mounted. A file that is not there is no error. */
int sqlite_check_file(const char *path, struct err *err);

/* Prepares a statement of ours; -EBADMSG if the file's tables do not fit it, otherwise as sqlite_failed has it. */
int sqlite_prepare(sqlite3 *db, const char *sql, const char *path, sqlite3_stmt **ret, struct err *err);

/* Whether what ended with `result` should be tried again: true, after a moment, if it was -EBUSY and the monotonic clock
 * is not past `deadline_ns`. SQLite's busy timeout does not cover all of opening: switching an empty file to WAL
 * (journal_mode) while another connection reads it fails at once as locked. */
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

/* sqlite_error.c: maps SQLite's codes to errors that an administrator understands. */
#include "sqlite_error.h"
#include "clock.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RETRY_US	2000

static int system_code(sqlite3 *db)
{
	if (sqlite3_extended_errcode(db) == SQLITE_IOERR_NOMEM)
		return -ENOMEM;
	switch (sqlite3_system_errno(db)) {
	case ENOMEM:
		return -ENOMEM;
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return -ENOSPC;
	case EACCES:
	case EPERM:
	case EROFS:
		return -EACCES;
	case ENOENT:
		return -ENOENT;
	case EMFILE:
	case ENFILE:
		return -EMFILE;
	default:
		return -EIO;
	}
}

static int code_of(sqlite3 *db)
{
	switch (sqlite3_errcode(db) & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EBADMSG;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_TOOBIG:
		return -EFBIG;
	default:
		return system_code(db);
	}
}

int sqlite_failed(sqlite3 *db, const char *doing, const char *path, struct err *err)
{
	int code = code_of(db), number = sqlite3_system_errno(db);

	if (code == -ENOSPC)
		return err_set(err, code, "cannot %s '%s': no space is left on the disk; free some, or lower "
			       "the store's size limit", doing, path);
	if (code == -EBADMSG)
		return err_set(err, code, "cannot %s '%s': the file is damaged or not a database of Strobe (%s)",
			       doing, path, sqlite3_errmsg(db));
	if (number && (code == -EIO || code == -EACCES || code == -ENOENT || code == -EMFILE))
		return err_set(err, code, "cannot %s '%s': %s (%s)", doing, path, sqlite3_errmsg(db),
			       strerror(number));
	return err_set(err, code, "cannot %s '%s': %s", doing, path, sqlite3_errmsg(db));
}

int sqlite_check_file(const char *path, struct err *err)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return 0;
	if (S_ISLNK(st.st_mode) && stat(path, &st) < 0)
		return err_set(err, -EIO, "cannot open '%s': it is a symbolic link whose target cannot be opened (%s)",
			       path, strerror(errno));
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return err_set(err, -EBADMSG, "'%s' is not a regular file", path);
	return 0;
}

int sqlite_prepare(sqlite3 *db, const char *sql, const char *path, sqlite3_stmt **ret, struct err *err)
{
	int rc = sqlite3_prepare_v2(db, sql, -1, ret, NULL);

	if (rc == SQLITE_ERROR)
		return err_set(err, -EBADMSG, "cannot read '%s': its tables are not those of Strobe (%s)", path,
			       sqlite3_errmsg(db));
	return rc ? sqlite_failed(db, "read", path, err) : 0;
}

bool sqlite_wait_to_retry(int result, int64_t deadline_ns)
{
	if (result != -EBUSY || clock_monotonic_ns() >= deadline_ns)
		return false;
	usleep(RETRY_US);
	return true;
}

/* failing_vfs.c: a VFS that fails at each call in turn, as SQLite's own tests do. */
#include "failing_vfs.h"
#include <stdlib.h>

struct failing_file {
	sqlite3_file file;		/* first: SQLite sees only this */
	sqlite3_file *real;		/* behind it, in the same allocation */
};

static sqlite3_vfs failing_vfs, *real_vfs;
static unsigned countdown;
static bool keeps_failing, failed;
static int failure;
static const char *last = "nothing";

static sqlite3_file *real(sqlite3_file *f)
{
	return ((struct failing_file *)f)->real;
}

/* Tells whether this operation fails: it is the chosen one, or comes after it on a disk that stays broken. */
static bool fails(const char *what)
{
	if (countdown == 0)
		return false;
	if (countdown > 1) {
		countdown--;
		return false;
	}
	if (!keeps_failing)
		countdown = 0;
	failed = true;
	last = what;
	return true;
}

static int f_close(sqlite3_file *f)
{
	return real(f)->pMethods ? real(f)->pMethods->xClose(real(f)) : SQLITE_OK;
}

static int f_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
	return real(f)->pMethods->xRead(real(f), to, n, at);
}

static int f_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
	if (fails("write")) {
		/* A failing disk has often written the first half. */
		real(f)->pMethods->xWrite(real(f), from, n / 2, at);
		return failure;
	}
	return real(f)->pMethods->xWrite(real(f), from, n, at);
}

static int f_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	if (fails("truncate"))
		return SQLITE_IOERR_TRUNCATE;
	return real(f)->pMethods->xTruncate(real(f), size);
}

static int f_sync(sqlite3_file *f, int flags)
{
	if (fails("sync"))
		return SQLITE_IOERR_FSYNC;
	return real(f)->pMethods->xSync(real(f), flags);
}

static int f_size(sqlite3_file *f, sqlite3_int64 *ret)
{
	return real(f)->pMethods->xFileSize(real(f), ret);
}

static int f_lock(sqlite3_file *f, int level)
{
	return real(f)->pMethods->xLock(real(f), level);
}

static int f_unlock(sqlite3_file *f, int level)
{
	return real(f)->pMethods->xUnlock(real(f), level);
}

static int f_check_lock(sqlite3_file *f, int *ret)
{
	return real(f)->pMethods->xCheckReservedLock(real(f), ret);
}

static int f_control(sqlite3_file *f, int op, void *arg)
{
	return real(f)->pMethods->xFileControl(real(f), op, arg);
}

static int f_sector(sqlite3_file *f)
{
	return real(f)->pMethods->xSectorSize(real(f));
}

static int f_device(sqlite3_file *f)
{
	return real(f)->pMethods->xDeviceCharacteristics(real(f));
}

static int f_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **ret)
{
	return real(f)->pMethods->xShmMap(real(f), page, size, extend, ret);
}

static int f_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
	return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
}

static void f_shm_barrier(sqlite3_file *f)
{
	real(f)->pMethods->xShmBarrier(real(f));
}

static int f_shm_unmap(sqlite3_file *f, int remove)
{
	return real(f)->pMethods->xShmUnmap(real(f), remove);
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = f_close,
	.xRead = f_read,
	.xWrite = f_write,
	.xTruncate = f_truncate,
	.xSync = f_sync,
	.xFileSize = f_size,
	.xLock = f_lock,
	.xUnlock = f_unlock,
	.xCheckReservedLock = f_check_lock,
	.xFileControl = f_control,
	.xSectorSize = f_sector,
	.xDeviceCharacteristics = f_device,
	.xShmMap = f_shm_map,
	.xShmLock = f_shm_lock,
	.xShmBarrier = f_shm_barrier,
	.xShmUnmap = f_shm_unmap,
};

static int v_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *ret_flags)
{
	struct failing_file *ff = (struct failing_file *)f;
	int rc;

	ff->real = (sqlite3_file *)(ff + 1);
	ff->real->pMethods = NULL;
	rc = real_vfs->xOpen(real_vfs, name, ff->real, flags, ret_flags);
	f->pMethods = ff->real->pMethods ? &methods : NULL;
	return rc;
}

void failing_vfs_register(void)
{
	real_vfs = sqlite3_vfs_find(NULL);
	failing_vfs = *real_vfs;
	failing_vfs.zName = "failing";
	failing_vfs.szOsFile = (int)sizeof(struct failing_file) + real_vfs->szOsFile;
	failing_vfs.xOpen = v_open;
	failing_vfs.pNext = NULL;
	sqlite3_vfs_register(&failing_vfs, 1);
}

void failing_vfs_unregister(void)
{
	sqlite3_vfs_unregister(&failing_vfs);
	sqlite3_vfs_register(real_vfs, 1);
}

void failing_vfs_arm(unsigned n, bool forever, int error)
{
	countdown = n;
	keeps_failing = forever;
	failure = error;
	failed = false;
}

bool failing_vfs_disarm(void)
{
	countdown = 0;
	return failed;
}

const char *failing_vfs_last(void)
{
	return last;
}

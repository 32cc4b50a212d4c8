/* failing_vfs.h: a file system for SQLite whose n-th write, sync or truncation fails. Only tests include it.
 *
 * It wraps SQLite's default VFS and forwards all calls. Registered as the default, it is used by the store under test
 * without changes. One thread only. */
#ifndef STORE_FAILING_VFS_H
#define STORE_FAILING_VFS_H

#include <sqlite3.h>
#include <stdbool.h>

void failing_vfs_register(void);
void failing_vfs_unregister(void);

/* Makes operation `n`, counted from 1 starting now, fail with `error`; with `forever` all later ones fail, too. 0
 * means never. */
void failing_vfs_arm(unsigned n, bool forever, int error);

/* Stops the failures; returns whether there was one. */
bool failing_vfs_disarm(void);

const char *failing_vfs_last(void);	/* the last failed call: "write", "sync" … */

#endif

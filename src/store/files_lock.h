/* files_lock.h: held shared by whoever reads day files, alone by whoever removes or renames them: a connection that opens its
 * log after the file was removed would leave a stray log behind, which the next file of that name would take for its own.
 *
 * It is between threads and between processes: queries run in their own. For the latter it is a lock of the first byte of the
 * directory's LOCK, which ends with the process. */
#ifndef STORE_FILES_LOCK_H
#define STORE_FILES_LOCK_H

#include <pthread.h>

struct files_lock {
	pthread_rwlock_t threads;
	char *path;
};

void files_lock_init(struct files_lock *l, const char *directory);
void files_lock_done(struct files_lock *l);

/* Both return what the one that ends it takes. A change waits 10 seconds for readers in other processes, and not longer, since
 * one may have been stopped. */
int files_lock_read(struct files_lock *l);
int files_lock_change(struct files_lock *l);
void files_lock_end(struct files_lock *l, int held);

#endif

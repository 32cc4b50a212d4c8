/* files_lock.h: a lock on the day files, shared by readers and exclusive for removing and renaming. Without it, a
 * connection that opens its WAL after the file was removed would leave a stray WAL behind, which the next file of
 * that name would use as its own.
 *
 * It works between threads and between processes, because queries run in their own. Between processes it locks the
 * first byte of the directory's LOCK, which the kernel releases when the process ends. */
#ifndef STORE_FILES_LOCK_H
#define STORE_FILES_LOCK_H

#include <pthread.h>

struct files_lock {
	pthread_rwlock_t threads;
	char *path;
};

void files_lock_init(struct files_lock *l, const char *directory);
void files_lock_done(struct files_lock *l);

/* Both return the argument of files_lock_release. An exclusive lock waits only 10 seconds for readers in other
 * processes, since one of them may be stopped. */
int files_lock_shared(struct files_lock *l);
int files_lock_exclusive(struct files_lock *l);
void files_lock_release(struct files_lock *l, int held);

#endif

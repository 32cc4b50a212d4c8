/* files_lock.c: a rwlock for threads, F_OFD_SETLK for processes. */
#include "files_lock.h"
#include "cleanup.h"
#include "clock.h"
#include "mem.h"
#include <fcntl.h>
#include <stdbool.h>

#define PATIENCE_NS	(10 * NS_PER_SECOND)
#define RETRY_US	5000

void files_lock_init(struct files_lock *l, const char *directory)
{
	pthread_rwlock_init(&l->threads, NULL);
	l->path = xasprintf("%s/LOCK", directory);
}

void files_lock_done(struct files_lock *l)
{
	pthread_rwlock_destroy(&l->threads);
	free(l->path);
}

static bool lock_byte(int fd, int command, short type)
{
	struct flock byte = { .l_type = type, .l_whence = SEEK_SET, .l_len = 1 };

	return fcntl(fd, command, &byte) == 0;
}

/* If the file cannot be opened, there is either no writer or no way to coordinate with one. */
int files_lock_shared(struct files_lock *l)
{
	int fd = open(l->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0)
		lock_byte(fd, F_OFD_SETLKW, F_RDLCK);
	pthread_rwlock_rdlock(&l->threads);
	return fd;
}

/* Locks out other processes first, so that threads never wait for them. */
int files_lock_exclusive(struct files_lock *l)
{
	int fd = open(l->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	int64_t end_ns = clock_monotonic_ns() + PATIENCE_NS;

	while (fd >= 0 && !lock_byte(fd, F_OFD_SETLK, F_WRLCK) && clock_monotonic_ns() < end_ns)
		usleep(RETRY_US);
	pthread_rwlock_wrlock(&l->threads);
	return fd;
}

void files_lock_release(struct files_lock *l, int held)
{
	pthread_rwlock_unlock(&l->threads);
	fd_closep(&held);
}

/* private_file.c: opens, reads and replaces files without following links. */
#include "private_file.h"

#include "io.h"
#include "mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static int check(int fd, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "'%s' is not a regular file; remove it", path);
	/* A file of another user keeps its mode. */
	if (st.st_mode & 077)
		(void)!fchmod(fd, st.st_mode & 0700);
	return 0;
}

/* O_NONBLOCK: a FIFO in its place must not block the start. */
int private_file_open(const char *path, int flags, int *ret_fd, struct err *err)
{
	_cleanup_(fd_closep) int fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	int r;

	if (fd < 0 && errno == ELOOP)
		return err_set(err, -ELOOP, "'%s' is a symbolic link, which is not followed; remove it", path);
	if (fd < 0)
		return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
	r = check(fd, path, err);
	if (r < 0)
		return r;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int private_file_read(const char *path, struct buf *b, size_t limit, struct err *err)
{
	_cleanup_(fd_closep) int fd = -1;
	int r = private_file_open(path, O_RDONLY, &fd, err);

	return r < 0 ? r : io_read_fd(fd, path, b, limit, err);
}

int private_file_write(const char *path, const void *bytes, size_t n, bool durable, struct err *err)
{
	_cleanup_(freep) char *temporary = xasprintf("%s.XXXXXX", path);
	_cleanup_(fd_closep) int fd = mkostemp(temporary, O_CLOEXEC);	/* 0600 */
	int r;

	if (fd < 0)
		return err_set(err, -errno, "cannot write '%s': %s", path, strerror(errno));
	r = io_write_all(fd, bytes, n, NULL);
	if (r < 0 || (durable && fsync(fd) < 0) || rename(temporary, path) < 0) {
		r = r < 0 ? r : -errno;
		unlink(temporary);
		return err_set(err, r, "cannot write '%s': %s", path, strerror(-r));
	}
	return durable ? io_sync_directory_of(path, err) : 0;
}

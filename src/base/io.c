/* io.c: reads and writes that continue after partial results and signals. */
#include "io.h"
#include "clock.h"
#include "mem.h"
#include <assert.h>
#include <ctype.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define READ_AT_ONCE	((size_t)256 << 10)
#define SECRET_MAX	4096u

int io_read_fd(int fd, const char *name, struct buf *b, size_t limit, struct err *err)
{
	size_t before = b->size;

	for (;;) {
		char *room = buf_reserve(b, READ_AT_ONCE);
		ssize_t n;

		if (!room)
			return err_set(err, -EFBIG, "'%s' is larger than the limit of %zu bytes", name, b->limit);
		n = read(fd, room, READ_AT_ONCE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, -errno, "cannot read '%s': %s", name, strerror(errno));
		if (n == 0)
			return 0;
		buf_wrote(b, (size_t)n);
		if (b->size - before > limit)
			return err_set(err, -EFBIG, "'%s' is larger than the limit of %zu bytes", name,
				       limit);
	}
}

int io_open_in_root(int root, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT };
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int io_read_file(const char *path, struct buf *b, size_t limit, struct err *err)
{
	_cleanup_(fd_closep) int fd = -1;
	size_t before = b->size;
	struct stat st;
	int r;

	if (!strcmp(path, "-")) {
		r = io_read_fd(STDIN_FILENO, "standard input", b, limit, err);
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
		if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
			return err_set(err, -EISDIR, "'%s' is a directory, not a file", path);
		r = io_read_fd(fd, path, b, limit, err);
	}
	if (r < 0) {
		b->size = before;
		if (b->capacity)
			b->data[before] = 0;
	}
	return r;
}

int io_read_secret(const char *path, const char *what, struct buf *ret, struct err *err)
{
	int r;

	buf_reset(ret);
	r = io_read_file(path, ret, SECRET_MAX, err);
	if (r < 0)
		return r;
	while (ret->size && isspace((unsigned char)ret->data[ret->size - 1]))
		ret->data[--ret->size] = '\0';
	if (!ret->size || strlen(ret->data) != ret->size)
		return err_set(err, -ENOMSG, "'%s' contains no %s", path, what);
	return 0;
}

static int write_all(int fd, const char *name, const void *bytes, size_t n, struct err *err)
{
	const char *p = bytes;

	while (n) {
		ssize_t written = write(fd, p, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return err_set(err, -errno, "cannot write %s: %s", name, strerror(errno));
		p += written;
		n -= (size_t)written;
	}
	return 0;
}

int io_wait_readable(int fd, int64_t until_ns)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = until_ns - clock_monotonic_ns();

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)(left / 1000000) + 1) < 0 && errno != EINTR)
			return -errno;
		if (p.revents)
			return 0;
	}
}

int io_write_all(int fd, const void *bytes, size_t n, struct err *err)
{
	return write_all(fd, fd == STDOUT_FILENO ? "to standard output" : "all of the data", bytes, n, err);
}

/* Devices, pipes and sockets cannot be replaced, only written to. */
static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int write_special(const char *path, const void *bytes, size_t n, struct err *err)
{
	_cleanup_(fd_closep) int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
	return write_all(fd, path, bytes, n, err);
}

/* mkostemp creates files with mode 0600; an existing file keeps its mode, a new file gets the mode that open would
 * give it. */
static mode_t mode_for(const char *path)
{
	struct stat st;
	mode_t mask;

	if (stat(path, &st) == 0)
		return st.st_mode & 07777;
	mask = umask(022);
	umask(mask);
	return 0666 & ~mask;
}

int io_write_file(const char *path, const void *bytes, size_t n, struct err *err)
{
	_cleanup_(freep) char *real = NULL, *temporary = NULL;
	_cleanup_(fd_closep) int fd = -1;
	struct stat st;
	int r;

	if (!strcmp(path, "-"))
		return io_write_all(STDOUT_FILENO, bytes, n, err);
	if (is_special(path))
		return write_special(path, bytes, n, err);
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return err_set(err, -EISDIR, "cannot write '%s': it is a directory", path);

	/* A symbolic link stays one: its target is replaced. */
	real = realpath(path, NULL);
	temporary = xasprintf("%s.XXXXXX", real ? real : path);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return err_set(err, -errno, "cannot write '%s': %s", path, strerror(errno));
	r = write_all(fd, path, bytes, n, err);
	if (r == 0 && (fchmod(fd, mode_for(path)) < 0 || rename(temporary, real ? real : path) < 0))
		r = err_set(err, -errno, "cannot write '%s': %s", path, strerror(errno));
	if (r < 0)
		unlink(temporary);
	return r;
}

static int make_dir(const char *path, mode_t mode, struct err *err)
{
	struct stat st;

	if (mkdir(path, mode) == 0)
		return 0;
	if (errno == EEXIST) {
		if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			return 0;
		return err_set(err, -ENOTDIR, "cannot create the directory '%s': it exists and "
					      "is not a directory", path);
	}
	return err_set(err, -errno, "cannot create the directory '%s': %s", path, strerror(errno));
}

int io_make_dirs(const char *path, mode_t mode, struct err *err)
{
	_cleanup_(freep) char *part = xstrdup(path);
	struct stat st;
	int r;

	assert(*path);
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	for (char *p = part + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		r = make_dir(part, mode, err);
		if (r < 0)
			return r;
		*p = '/';
	}
	return make_dir(part, mode, err);
}

int io_sync_directory(const char *path, struct err *err)
{
	_cleanup_(fd_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && (fsync(fd) == 0 || errno == EINVAL))
		return 0;
	return err_set(err, -errno, "cannot sync the directory '%s': %s", path, strerror(errno));
}

int io_sync_directory_of(const char *path, struct err *err)
{
	_cleanup_(freep) char *directory = xstrdup(path);
	char *slash = strrchr(directory, '/');

	if (slash)
		slash[slash == directory] = '\0';
	return io_sync_directory(slash ? directory : ".", err);
}

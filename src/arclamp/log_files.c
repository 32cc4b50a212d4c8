/* log_files.c: a bounded number of open descriptors; the least recently used one is closed first. */
#include "log_files.h"

#include "io.h"
#include "mem.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

void log_files_init(struct log_files *l)
{
	memset(l, 0, sizeof(*l));
	for (size_t i = 0; i < LOG_FILES_OPEN; i++)
		l->files[i].fd = -1;
}

static void forget(struct log_files *l, struct log_file *f)
{
	if (f->fd < 0)
		return;
	close(f->fd);
	free(f->path);
	*f = (struct log_file){ .fd = -1 };
	l->open_now--;
}

void log_files_done(struct log_files *l)
{
	for (size_t i = 0; i < LOG_FILES_OPEN; i++)
		forget(l, &l->files[i]);
}

static int failed(const char *what, const char *path, int code, struct err *err)
{
	return err_set(err, code, "cannot %s '%s': %s", what, path, strerror(-code));
}

static struct log_file *find(struct log_files *l, const char *path, uint64_t hash)
{
	for (size_t i = 0; i < LOG_FILES_OPEN; i++)
		if (l->files[i].fd >= 0 && l->files[i].hash == hash && !strcmp(l->files[i].path, path))
			return &l->files[i];
	return NULL;
}

static bool is_still(const struct log_file *f)
{
	struct stat st;

	return lstat(f->path, &st) == 0 && st.st_ino == f->inode && st.st_dev == f->device;
}

bool log_files_close_oldest(struct log_files *l)
{
	struct log_file *oldest = NULL;

	for (size_t i = 0; i < LOG_FILES_OPEN; i++)
		if (l->files[i].fd >= 0 && (!oldest || l->files[i].used < oldest->used))
			oldest = &l->files[i];
	if (!oldest)
		return false;
	l->closed_dirty |= oldest->is_dirty;
	forget(l, oldest);
	return true;
}

static struct log_file *make_room(struct log_files *l)
{
	size_t most = fd_budget_for_files();
	struct log_file *f = l->files;

	while (l->open_now >= (most < LOG_FILES_OPEN ? most : LOG_FILES_OPEN) && log_files_close_oldest(l))
		;
	while (f->fd >= 0)
		f++;
	return f;
}

static int try_to_open(const char *path, struct err *err)
{
	/* O_NONBLOCK, so that opening a FIFO cannot block. */
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	int fd = open(path, flags, 0644), r;

	if (fd < 0 && errno == ENOENT) {
		_cleanup_(freep) char *directory = xstrndup(path, (size_t)(strrchr(path, '/') - path));

		r = io_make_dirs(directory, 0755, err);
		if (r < 0)
			return r;
		fd = open(path, flags, 0644);
	}
	return fd < 0 ? failed("open", path, -errno, err) : fd;
}

/* Closes cached files if the process has no descriptor left. */
static int open_file(struct log_files *l, const char *path, struct err *err)
{
	struct err why;
	int r;

	do {
		r = try_to_open(path, &why);
	} while ((r == -EMFILE || r == -ENFILE) && log_files_close_oldest(l));
	return r < 0 ? err_set(err, r, "%s", why.text) : r;
}

int log_files_get(struct log_files *l, const char *path, struct log_file **ret, struct err *err)
{
	uint64_t hash = XXH3_64bits(path, strlen(path));
	struct log_file *f = find(l, path, hash);
	_cleanup_(fd_closep) int fd = -1;
	struct stat st;
	int r;

	if (f && !is_still(f)) {
		forget(l, f);
		f = NULL;
	}
	if (!f) {
		f = make_room(l);
		if ((r = fd = open_file(l, path, err)) < 0)
			return r;
		if (fstat(fd, &st))
			return failed("look at", path, -errno, err);
		if (!S_ISREG(st.st_mode))
			return err_set(err, -ENXIO, "'%s' is not a regular file; remove it to make "
						    "way for a log", path);
		*f = (struct log_file){ xstrdup(path), TAKE_FD(fd), hash, st.st_dev, st.st_ino, 0, false };
		l->open_now++;
	}
	f->used = ++l->calls;
	*ret = f;
	return 0;
}

int log_file_append(struct log_file *f, const void *bytes, size_t n, struct err *err)
{
	const char *p = bytes;

	f->is_dirty = true;
	while (n) {
		ssize_t written = write(f->fd, p, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return failed("write to", f->path, -errno, err);
		p += written;
		n -= (size_t)written;
	}
	return 0;
}

/* Starts all writes before waiting for the first. */
static int sync_each(struct log_files *l, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < LOG_FILES_OPEN; i++)
		if (l->files[i].is_dirty)
			sync_file_range(l->files[i].fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	for (size_t i = 0; i < LOG_FILES_OPEN; i++)
		if (l->files[i].is_dirty && fdatasync(l->files[i].fd))
			r = failed("write to", l->files[i].path, -errno, err);
	return r;
}

/* Periods may be on different disks. */
static int sync_file_systems(struct log_files *l, struct err *err)
{
	uint64_t last = 0;
	int r = 0;

	for (size_t i = 0; i < LOG_FILES_OPEN; i++) {
		struct log_file *f = &l->files[i];

		if (f->fd < 0 || f->device == last)
			continue;
		last = f->device;
		if (syncfs(f->fd))
			r = failed("write to", f->path, -errno, err);
	}
	return r;
}

/* Each fsync waits for the file system's journal: 2,000 of them took 9 s, and one syncfs 0.15 s. */
int log_files_sync(struct log_files *l, struct err *err)
{
	unsigned dirty = 0;
	int r;

	for (size_t i = 0; i < LOG_FILES_OPEN; i++)
		dirty += l->files[i].is_dirty;
	r = l->closed_dirty || dirty > LOG_FILES_SYNC ? sync_file_systems(l, err) : sync_each(l, err);
	for (size_t i = 0; i < LOG_FILES_OPEN && r >= 0; i++)
		l->files[i].is_dirty = false;
	l->closed_dirty &= r < 0;
	return r;
}

void log_files_close_idle(struct log_files *l)
{
	for (size_t i = 0; i < LOG_FILES_OPEN; i++)
		if (l->files[i].fd >= 0 && !l->files[i].used && !l->files[i].is_dirty)
			forget(l, &l->files[i]);
		else
			l->files[i].used = 0;
}

/* root_dir.c: opens files and expands patterns with io_open_in_root. */
#include "root_dir.h"

#include "io.h"
#include "mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>

#define GLOB_DEPTH	16	/* directories of a pattern */

int root_dir_open(const char *directory, struct root_dir *ret)
{
	size_t n = strlen(directory);

	*ret = (struct root_dir){ .fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC) };
	if (ret->fd < 0)
		return -errno;
	while (n && directory[n - 1] == '/')
		n--;
	ret->path = xstrndup(directory, n);
	return 0;
}

void root_dir_close(struct root_dir *r)
{
	if (r->path)
		close(r->fd);
	free(r->path);
	*r = (struct root_dir){ .fd = -1 };
}

int root_dir_open_at(const struct root_dir *r, const char *path, int flags)
{
	_cleanup_(freep) char *whole = NULL;
	int fd = io_open_in_root(r->fd, path, flags);

	/* An old kernel, or a seccomp filter that does not know the call. */
	if (fd != -ENOSYS && fd != -EPERM)
		return fd;
	whole = xasprintf("%s/%s", r->path, path);
	fd = open(whole, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int root_dir_stat(const struct root_dir *r, const char *path, struct stat *ret)
{
	_cleanup_(fd_closep) int fd = root_dir_open_at(r, path, O_PATH);

	if (fd < 0)
		return fd;
	return fstat(fd, ret) < 0 ? -errno : 0;
}

int root_dir_read(const struct root_dir *r, const char *path, size_t limit, struct buf *out)
{
	_cleanup_(fd_closep) int fd = root_dir_open_at(r, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	return io_read_fd(fd, path, out, limit, NULL);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int root_dir_list(const struct root_dir *r, const char *directory, const char *pattern, struct root_dir_names *ret)
{
	int fd = root_dir_open_at(r, directory, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	size_t capacity = 0;
	struct dirent *e;
	DIR *d;

	*ret = (struct root_dir_names){ 0 };
	if (fd < 0)
		return fd;
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	while ((e = readdir(d)) && ret->count < ROOTED_NAMES) {
		if (fnmatch(pattern, e->d_name, FNM_PERIOD) != 0)
			continue;
		GROW(&ret->items, &capacity, ret->count + 1);
		ret->items[ret->count++] = xstrdup(e->d_name);
	}
	closedir(d);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_name);
	return 0;
}

void root_dir_names_done(struct root_dir_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->items[i]);
	free(n->items);
	*n = (struct root_dir_names){ 0 };
}

/* `done` is the part of the path that is resolved; `rest` begins with the pattern's next component. */
static void glob_from(const struct root_dir *r, const char *done, const char *rest, unsigned depth,
		      void (*found)(const char *path, void *data), void *data)
{
	_cleanup_(freep) char *name = NULL;
	struct root_dir_names names;
	size_t n;

	rest += strspn(rest, "/");
	n = strcspn(rest, "/");
	if (depth > GLOB_DEPTH || !n)
		return;
	name = xstrndup(rest, n);
	if (root_dir_list(r, *done ? done : "/", name, &names) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		_cleanup_(freep) char *path = xasprintf("%s/%s", done, names.items[i]);

		if (rest[n])
			glob_from(r, path, rest + n, depth + 1, found, data);
		else
			found(path, data);
	}
	root_dir_names_done(&names);
}

void root_dir_glob(const struct root_dir *r, const char *pattern, void (*found)(const char *path, void *data), void *data)
{
	/* Leading directories without wildcards may be unreadable, and need no listing. */
	const char *wild = strpbrk(pattern, "*?["), *slash = NULL;
	_cleanup_(freep) char *fixed = NULL;
	struct stat st;

	if (!wild) {
		if (root_dir_stat(r, pattern, &st) == 0)
			found(pattern, data);
		return;
	}
	for (const char *p = pattern; p < wild; p++)
		if (*p == '/')
			slash = p;
	fixed = xstrndup(pattern, slash ? (size_t)(slash - pattern) : 0);
	glob_from(r, fixed, slash ? slash : pattern, 0, found, data);
}

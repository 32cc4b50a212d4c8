/* file_paths.c: opens and compares files by their paths. */
#include "file_paths.h"

#include "mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>

int file_check_regular(const char *path, const struct stat *st, struct err *err)
{
	if (S_ISREG(st->st_mode))
		return 0;
	if (S_ISDIR(st->st_mode))
		return err_set(err, -EINVAL, "'%s' is a directory; name a file in it, or import its runs with runs:%s", path, path);
	return err_set(err, -EINVAL, "'%s' is not a regular file; pipe it into `strobe collect --from -`", path);
}

int file_open_regular(const char *path, int *ret_fd, struct stat *ret_st, struct err *err)
{
	_cleanup_(fd_closep) int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	int r;

	if (fd < 0)
		return err_set(err, -errno, "cannot read '%s': %s", path, strerror(errno));
	if (fstat(fd, ret_st) < 0)
		return err_set(err, -errno, "cannot stat '%s': %s", path, strerror(errno));
	r = file_check_regular(path, ret_st, err);
	if (r >= 0)
		*ret_fd = TAKE_FD(fd);
	return r;
}

/* Searches the directory of `path`, with `any_name` all of it, otherwise names that begin like the one of `path`. */
static int find_beside(const char *path, bool any_name, uint64_t device, uint64_t inode, int *ret_fd, struct stat *ret_st)
{
	_cleanup_(freep) char *for_directory = xstrdup(path), *for_name = xstrdup(path);
	const char *directory = dirname(for_directory), *name = basename(for_name);
	DIR *d = opendir(directory);
	struct dirent *e;
	int r = -ENOENT;

	while (d && r < 0 && (e = readdir(d))) {
		_cleanup_(freep) char *other = xasprintf("%s/%s", directory, e->d_name);
		_cleanup_(fd_closep) int fd = -1;

		/* d_ino is not used: it differs from st_ino for mount points and on overlays. */
		if ((!any_name && strncmp(e->d_name, name, strlen(name))) || fstatat(dirfd(d), e->d_name, ret_st, 0) < 0 ||
		    ret_st->st_dev != device || ret_st->st_ino != inode)
			continue;
		if (file_open_regular(other, &fd, ret_st, NULL) == 0 && ret_st->st_dev == device &&
		    ret_st->st_ino == inode) {
			*ret_fd = TAKE_FD(fd);
			r = 0;
		}
	}
	if (d)
		closedir(d);
	return r;
}

int file_find_rotated(const char *path, uint64_t device, uint64_t inode, int *ret_fd, struct stat *ret_st)
{
	_cleanup_(freep) char *real = realpath(path, NULL);
	int r = find_beside(path, false, device, inode, ret_fd, ret_st);

	if (r < 0 && real)
		r = find_beside(real, false, device, inode, ret_fd, ret_st);
	if (r < 0)
		r = find_beside(path, true, device, inode, ret_fd, ret_st);
	if (r < 0 && real)
		r = find_beside(real, true, device, inode, ret_fd, ret_st);
	return r;
}

static bool is_one_place(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool file_is_same(const char *a, const char *b)
{
	const char *a_name = strrchr(a, '/') + 1, *b_name = strrchr(b, '/') + 1;
	_cleanup_(freep) char *a_directory = xstrndup(a, (size_t)(a_name - a));
	_cleanup_(freep) char *b_directory = xstrndup(b, (size_t)(b_name - b));

	return is_one_place(a, b) || (strcmp(a_name, b_name) == 0 && is_one_place(a_directory, b_directory));
}

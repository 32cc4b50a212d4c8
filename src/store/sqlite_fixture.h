/* sqlite_fixture.h: stores of SQLite by their directory, and the files in it. Only tests include it. */
#ifndef STORE_SQLITE_FIXTURE_H
#define STORE_SQLITE_FIXTURE_H

#include "store_fixture.h"
#include "test.h"
#include <dirent.h>
#include <fcntl.h>

static inline struct store *open_in(const char *directory, bool read_only, struct err *err)
{
	_cleanup_(freep) char *url = xasprintf("sqlite:%s", directory);
	struct store *s = NULL;
	struct err own = { 0 };

	if (store_open(url, read_only, &s, err ? err : &own) < 0 && !err)
		printf("# %s\n", own.text);
	return s;
}

static inline int maintain_at(struct store *s, int64_t now_ns)
{
	const struct store_limits none = { 0, 0 };

	return store_maintain(s, &none, now_ns, NULL);
}

static inline size_t files_like(const char *directory, const char *part)
{
	DIR *dir = opendir(directory);
	struct dirent *e;
	size_t n = 0;

	while (dir && (e = readdir(dir)))
		n += strstr(e->d_name, part) != NULL;
	if (dir)
		closedir(dir);
	return n;
}

static inline void write_file(const char *path, const void *bytes, size_t n, off_t at)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0640);

	CHECK(fd >= 0 && pwrite(fd, bytes, n, at) == (ssize_t)n);
	close(fd);
}

#endif

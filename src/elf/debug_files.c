/* debug_files.c: finds the file with the symbols of a stripped one. */

#include "io.h"
#include "mem.h"
#include "symbols.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define DEBUG_ROOT	"/usr/lib/debug"
#define CHUNK		65536u

static bool same_build_id(const struct elf *a, const struct elf *b)
{
	uint8_t x[ELF_BUILD_ID], y[ELF_BUILD_ID];
	size_t n = elf_build_id(a, x);

	return n && n == elf_build_id(b, y) && !memcmp(x, y, n);
}

static bool has_crc(int fd, uint32_t crc)
{
	_cleanup_(freep) uint8_t *chunk = xmalloc(CHUNK);
	uLong sum = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, chunk, CHUNK, at)) > 0) {
		sum = crc32(sum, chunk, (uInt)n);
		at += n;
	}
	return n == 0 && sum == crc;
}

/* `crc` is NULL if only the build ID is compared. */
static int try_file(const struct elf *e, int root, const char *path, const uint32_t *crc)
{
	_cleanup_(fd_closep) int fd = io_open_in_root(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	_cleanup_(elf_close) struct elf debug = { .fd = -1 };
	uint8_t id[ELF_BUILD_ID];

	if (fd < 0 || elf_open(&debug, fd, path, NULL) < 0 || debug.machine != e->machine)
		return -ENOENT;
	/* If the file has a build ID, comparing that is faster than reading the file. */
	if (elf_build_id(e, id) ? !same_build_id(e, &debug) : !crc || !has_crc(fd, *crc))
		return -ENOENT;
	return TAKE_FD(fd);
}

static int by_build_id(const struct elf *e, int root)
{
	_cleanup_(freep) char *path = NULL;
	char digits[2 * ELF_BUILD_ID + 1];
	uint8_t id[ELF_BUILD_ID];
	size_t n = elf_build_id(e, id);

	if (n < 2)
		return -ENOENT;
	for (size_t i = 0; i < n; i++)
		snprintf(digits + 2 * i, 3, "%02x", id[i]);
	path = xasprintf(DEBUG_ROOT "/.build-id/%.2s/%s.debug", digits, digits + 2);
	return try_file(e, root, path, NULL);
}

static int by_debuglink(const struct elf *e, int root, const char *path)
{
	/* The parts before and after the directory. */
	static const char *const places[][2] = { { "", "" }, { "", "/.debug" }, { DEBUG_ROOT, "" } };
	_cleanup_(freep) char *name = NULL, *directory = NULL;
	const char *slash = strrchr(path, '/');
	uint32_t crc;
	int fd = -ENOENT;

	if (!slash || !elf_debuglink(e, &name, &crc))
		return -ENOENT;
	directory = xstrndup(path, (size_t)(slash - path));
	for (unsigned i = 0; i < ARRAY_SIZE(places) && fd < 0; i++) {
		_cleanup_(freep) char *there = xasprintf("%s%s%s/%s", places[i][0], directory, places[i][1], name);

		fd = try_file(e, root, there, &crc);
	}
	return fd;
}

int symbols_open_debug(const struct elf *e, int root, const char *path)
{
	int fd = by_build_id(e, root);

	return fd >= 0 ? fd : by_debuglink(e, root, path);
}

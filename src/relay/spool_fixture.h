/* spool_fixture.h: a spool in its own directory, and the damage that a disk may do to its files. Only tests include it. */
#ifndef RELAY_SPOOL_FIXTURE_H
#define RELAY_SPOOL_FIXTURE_H

#include "spool.h"

#include "io.h"
#include "log.h"
#include "mem.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CAP	((uint64_t)1 << 20)
#define SEGMENT	((size_t)66000)		/* an entry that fills one of a spool with this cap */

/* A directory of its own for each test. */
static char directory[64];

/* The last entry read. */
static struct spool_entry entry;

/* In memory if possible: for thousands of appends, each of which would wait for the disk. */
static inline void fresh(void)
{
	log_set_level(-1);
	if (!entry.body.data)
		buf_init(&entry.body);
	snprintf(directory, sizeof(directory), "%s/strobe-spool-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(directory))
		abort();
}

static inline void remove_all(void)
{
	struct dirent *d;
	DIR *dir = opendir(directory);

	while (dir && (d = readdir(dir))) {
		_cleanup_(freep) char *path = xasprintf("%s/%s", directory, d->d_name);

		unlink(path);
	}
	if (dir)
		closedir(dir);
	rmdir(directory);
}

static inline struct spool *open_spool(struct spool_counters *n, uint64_t cap)
{
	struct spool *s = NULL;
	struct err err = { 0 };

	memset(n, 0, sizeof(*n));
	if (spool_open(directory, cap, n, &s, &err) < 0)
		printf("# %s\n", err.text);
	return s;
}

static inline int add(struct spool *s, const char *text, uint64_t samples)
{
	struct spool_piece p = { text, strlen(text), samples, 0 };

	return spool_append(s, &p, 1, 0, true, NULL);
}

/* Returns the bytes of the next entry, "" if there is none. The last one stays readable until the next call. */
static inline const char *next(struct spool *s)
{
	return spool_next(s, &entry) == 1 ? entry.body.data : "";
}

static inline bool is_exact(const struct spool_counters *n)
{
	uint64_t dropped = 0, runs = 0;

	for (size_t i = 0; i < SPOOL_DROPS; i++) {
		dropped += n->samples_dropped[i];
		runs += n->runs_dropped[i];
	}
	return n->samples_recovered + n->samples_received ==
		       n->samples_forwarded + n->samples_deduplicated + dropped + n->samples_waiting &&
	       n->runs_recovered + n->runs_received == n->runs_forwarded + n->runs_deduplicated + runs + n->runs_waiting;
}

/* Returns the path of the first or the last segment; NULL if there is none. */
static inline char *segment_at(bool last)
{
	struct dirent **list = NULL;
	int n = scandir(directory, &list, NULL, alphasort);
	char *path = NULL;

	for (int i = 0; i < n; i++) {
		if (strstr(list[i]->d_name, ".spool") && (last || !path)) {
			free(path);
			path = xasprintf("%s/%s", directory, list[i]->d_name);
		}
		free(list[i]);
	}
	free(list);
	return path;
}

static inline char *first_segment(void)
{
	return segment_at(false);
}

static inline char *last_segment(void)
{
	return segment_at(true);
}

static inline void remove_segments(void)
{
	char *path;

	while ((path = last_segment())) {
		unlink(path);
		free(path);
	}
}

static inline void change_byte(const char *path, off_t at)
{
	int fd = open(path, O_RDWR);
	char c = 0;

	CHECK(pread(fd, &c, 1, at) == 1);
	c = (char)(c ^ 0x55);
	CHECK(pwrite(fd, &c, 1, at) == 1);
	close(fd);
}

static inline void keep_position(struct buf *ret)
{
	_cleanup_(freep) char *path = xasprintf("%s/position", directory);

	buf_init(ret);
	CHECK_INT(io_read_file(path, ret, CAP, NULL), 0);
}

/* Restores an earlier position file, as if the disk had nothing newer. */
static inline void restore_position(const struct buf *b)
{
	_cleanup_(freep) char *path = xasprintf("%s/position", directory);

	CHECK_INT(io_write_file(path, b->data, b->size, NULL), 0);
}

static inline off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_size;
}

#endif

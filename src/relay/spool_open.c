/* spool_open.c: the directory of a spool, and what a crash or a failing disk has made of it. */
#include "spool_private.h"

#include "io.h"
#include "log.h"
#include "mem.h"
#include "private_file.h"
#include "strobe_wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <xxhash.h>

#define SEGMENT_NAME	"%s/%016llx.spool"
#define SEGMENTS_MAX	100000			/* files of this kind; more were not made by us */
#define AFTER_CUT	1024u			/* sequence numbers that a tail which was cut off may have had */

/* --- Segments --- */

static char *segment_path(const struct spool *s, uint64_t first)
{
	return xasprintf(SEGMENT_NAME, s->directory, (unsigned long long)first);
}

int segment_open(struct spool *s, uint64_t first, bool make, struct err *err)
{
	_cleanup_(freep) char *path = segment_path(s, first);
	_cleanup_(fd_closep) int fd = -1;
	struct segment *g;
	struct stat st;
	int r = private_file_open(path, O_RDWR | (make ? O_CREAT | O_TRUNC : 0), &fd, err);

	if (r < 0)
		return r;
	if (fstat(fd, &st))
		return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
	if (make && (r = io_sync_directory(s->directory, err)) < 0)
		return r;
	g = xcalloc(1, sizeof(*g));
	g->first = first;
	g->fd = TAKE_FD(fd);
	g->size = st.st_size;
	GROW(&s->segments, &s->segment_capacity, s->segment_count + 1);
	s->segments[s->segment_count++] = g;
	s->counters->bytes += (uint64_t)g->size;
	return 0;
}

void segment_free(struct segment *g)
{
	close(g->fd);
	free(g);
}

void segment_remove(struct spool *s, struct segment *g)
{
	_cleanup_(freep) char *path = segment_path(s, g->first);

	if (unlink(path) && errno != ENOENT)
		log_warning("cannot remove '%s': %s", path, strerror(errno));
}

static bool is_segment_name(const char *name, uint64_t *ret)
{
	if (strspn(name, "0123456789abcdef") != 16 || strcmp(name + 16, ".spool"))
		return false;
	*ret = strtoull(name, NULL, 16);
	return true;
}

static int is_segment(const struct dirent *d)
{
	uint64_t first;

	return is_segment_name(d->d_name, &first);
}

/* Names of 16 hex digits sort as their numbers do. */
static int open_segments(struct spool *s, struct err *err)
{
	struct dirent **list = NULL;
	int n = scandir(s->directory, &list, is_segment, alphasort), r = 0;

	if (n < 0)
		return err_set(err, -errno, "cannot read the spool '%s': %s", s->directory, strerror(errno));
	if (n > SEGMENTS_MAX)
		r = err_set(err, -E2BIG, "the spool '%s' has more than %d files", s->directory, SEGMENTS_MAX);
	for (int i = 0; i < n; i++) {
		uint64_t first;

		if (r >= 0 && is_segment_name(list[i]->d_name, &first))
			r = segment_open(s, first, false, err);
		free(list[i]);
	}
	free(list);
	return r;
}

/* --- What is in them --- */

/* Where the last group ends that is whole. What stands behind it was being written, and nobody was told that it is there. */
static off_t whole_end(const struct segment *g)
{
	_cleanup_(buf_done) struct buf body = { 0 };
	off_t at = 0, end = 0;
	bool whole = false;
	struct record r;

	buf_init(&body);
	while (at < g->size) {
		if (record_at(g->fd, at, g->size, &r) != 1) {
			whole = false;
			at = record_find(g->fd, at + 1, g->size);
			continue;
		}
		whole = (whole || r.first) && record_body(g->fd, at, &r, &body) == 0;
		at += (off_t)(RECORD_HEADER + r.size);
		if (r.last && whole)
			end = at;
		whole = whole && !r.last;
	}
	return end;
}

static int cut_tail(struct spool *s, struct segment *g, bool *ret_cut, struct err *err)
{
	off_t end = whole_end(g);

	*ret_cut = end < g->size;
	if (!*ret_cut)
		return 0;
	log_info("the spool '%s' ended with %lld bytes that were being written when it was left", s->directory,
		 (long long)(g->size - end));
	if (ftruncate(g->fd, end) || fdatasync(g->fd))
		return err_set(err, -errno, "cannot shorten a file of the spool '%s': %s", s->directory, strerror(errno));
	s->counters->bytes -= (uint64_t)(g->size - end);
	g->size = end;
	return 0;
}

static void count_entry(struct spool *s, struct segment *g, const struct record *r)
{
	if (r->sequence >= s->next_sequence)
		s->next_sequence = r->sequence + 1;
	if (r->window > s->window)
		s->window = r->window;
	s->instance = r->owner;
	if (r->sequence <= s->done_sequence)
		return;
	g->samples += r->samples;
	g->runs += r->runs;
	g->records++;
}

static void count_entries(struct spool *s, struct segment *g)
{
	struct spool_counters *n = s->counters;
	off_t at = 0;
	struct record r;

	while (at < g->size) {
		if (record_at(g->fd, at, g->size, &r) != 1) {
			at = record_find(g->fd, at + 1, g->size);
			continue;
		}
		if (r.kind == RECORD_ENTRY)
			count_entry(s, g, &r);
		at += (off_t)(RECORD_HEADER + r.size);
	}
	n->samples_found += g->samples;
	n->samples_waiting += g->samples;
	n->runs_found += g->runs;
	n->runs_waiting += g->runs;
	n->records_waiting += g->records;
}

static int read_segments(struct spool *s, struct err *err)
{
	bool cut = false;
	int r;

	if (s->segment_count && (r = cut_tail(s, s->segments[s->segment_count - 1], &cut, err)) < 0)
		return r;
	for (size_t i = 0; i < s->segment_count; i++)
		count_entries(s, s->segments[i]);
	s->next_sequence += cut ? AFTER_CUT : 0;
	return 0;
}

/* --- Position --- */

static bool read_slot(const uint8_t *p, uint64_t *writes, uint64_t *done, uint64_t *window)
{
	*writes = strobe_wire_get_le(p, 8);
	*done = strobe_wire_get_le(p + 8, 8);
	*window = strobe_wire_get_le(p + 16, 8);
	return strobe_wire_get_le(p + 24, 8) == XXH3_64bits(p, 24);
}

int position_open(struct spool *s, struct err *err)
{
	_cleanup_(freep) char *path = xasprintf("%s/position", s->directory);
	uint8_t slots[2 * POSITION_SLOT] = { 0 };
	uint64_t writes, done, window;
	int r = private_file_open(path, O_RDWR | O_CREAT, &s->position_fd, err);

	if (r < 0)
		return r;
	if (pread(s->position_fd, slots, sizeof(slots), 0) < 0)
		return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
	for (size_t i = 0; i < 2; i++) {
		if (!read_slot(slots + i * POSITION_SLOT, &writes, &done, &window) || writes <= s->position_writes)
			continue;
		s->position_writes = writes;
		s->done_sequence = done;
		s->next_sequence = done + 1;
		s->window = window;
	}
	return 0;
}

/* Not synced: after a loss of power entries are sent again, and known. */
void position_save(struct spool *s)
{
	uint8_t slot[POSITION_SLOT];

	strobe_wire_put_le(slot, ++s->position_writes, 8);
	strobe_wire_put_le(slot + 8, s->done_sequence, 8);
	strobe_wire_put_le(slot + 16, s->window, 8);
	strobe_wire_put_le(slot + 24, XXH3_64bits(slot, 24), 8);
	record_write(s->position_fd, (off_t)(s->position_writes % 2 * POSITION_SLOT), slot, sizeof(slot));
}

/* --- Life --- */

static int lock_directory(struct spool *s, struct err *err)
{
	_cleanup_(freep) char *path = xasprintf("%s/lock", s->directory);

	int r = private_file_open(path, O_RDWR | O_CREAT, &s->lock_fd, err);

	if (r < 0)
		return r;
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB))
		return err_set(err, -EBUSY, "another process forwards from the spool '%s'; give each its own state directory",
			       s->directory);
	return 0;
}

/* Without segments it is unknown what was sent under the old one. */
static void choose_instance(struct spool *s, const char *host)
{
	uint32_t of_host = (uint32_t)XXH3_64bits(host, strlen(host)), random;

	if (s->segment_count && s->instance && (uint32_t)s->instance == of_host)
		return;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (uint32_t)time(NULL) ^ (uint32_t)getpid() << 16;
	s->instance = (uint64_t)random << 32 | of_host;
}

static int open_all(struct spool *s, const char *host, struct err *err)
{
	int r = io_make_dirs(s->directory, 0700, err);

	if (r < 0 || (r = lock_directory(s, err)) < 0 || (r = position_open(s, err)) < 0 ||
	    (r = open_segments(s, err)) < 0 || (r = read_segments(s, err)) < 0)
		return r;
	choose_instance(s, host);
	return io_sync_directory(s->directory, err);
}

int spool_open(const char *directory, const char *host, uint64_t max_bytes, struct spool_counters *counters,
	       struct spool **ret, struct err *err)
{
	struct spool *s = xcalloc(1, sizeof(*s));
	int r;

	s->directory = xstrdup(directory);
	s->lock_fd = s->position_fd = -1;
	s->max_bytes = max_bytes;
	s->counters = counters;
	s->next_sequence = 1;
	pthread_mutex_init(&s->lock, NULL);
	r = open_all(s, host, err);
	if (r < 0) {
		spool_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

struct spool *spool_close(struct spool *s)
{
	if (!s)
		return NULL;
	if (s->position_fd >= 0) {
		fdatasync(s->position_fd);
		close(s->position_fd);
	}
	for (size_t i = 0; i < s->segment_count; i++)
		segment_free(s->segments[i]);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	pthread_mutex_destroy(&s->lock);
	free(s->segments);
	free(s->flights);
	free(s->directory);
	free(s);
	return NULL;
}

/* spool_open.c: the directory of a spool, and its recovery after a crash or on a failing disk. */
#include "spool_private.h"

#include "clock.h"
#include "io.h"
#include "log.h"
#include "mem.h"
#include "private_file.h"
#include "quarantine.h"
#include "strobe_wire.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <xxhash.h>

#define SEGMENT_NAME	"%s/%016llx.spool"
#define SEGMENTS_MAX	100000			/* a directory with more files was not written by a spool */

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

/* Opens an existing file, unless it has to be set aside. */
static int open_found(struct spool *s, uint64_t first, struct err *err)
{
	_cleanup_(freep) char *path = segment_path(s, first);
	int r = quarantine_foreign(path, s->counters, err);

	return r == 0 ? segment_open(s, first, false, err) : r;
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
			r = open_found(s, first, err);
		free(list[i]);
	}
	free(list);
	return r;
}

/* --- The content of segments --- */

/* Returns the end of the last complete group. Bytes behind it belong to an unfinished write; if not, the position
 * counts them. */
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
		at += record_size(&r);
		if (r.last && whole)
			end = at;
		whole = whole && !r.last;
	}
	return end;
}

static int cut_tail(struct spool *s, struct segment *g, struct err *err)
{
	off_t end = whole_end(g);

	assert(end >= 0 && end <= g->size);
	if (end == g->size)
		return 0;
	log_info("the spool '%s' ended with an incomplete entry of %lld bytes", s->directory,
		 (long long)(g->size - end));
	if (ftruncate(g->fd, end) || fdatasync(g->fd))
		return err_set(err, -errno, "cannot shorten a file of the spool '%s': %s", s->directory, strerror(errno));
	s->counters->bytes -= (uint64_t)(g->size - end);
	g->size = end;
	return 0;
}

/* Counts records missing between two places as damaged; they are dropped when the reader gets there. */
static void count_missing(struct segment *g, struct mark from, struct mark to)
{
	if (!mark_is_within(from, to))
		return;
	g->samples += to.samples - from.samples;
	g->runs += to.runs - from.runs;
	g->records += to.sequence - from.sequence;
}

/* `end` is the mark of the previous entry. */
static void count_entry(struct spool *s, struct segment *g, const struct record *r, struct mark *end)
{
	if (r->window > s->window)
		s->window = r->window;
	if (!s->position_writes && !end->sequence)
		s->settled = *end = mark_before(r);
	if (r->sequence <= s->settled.sequence)
		return;
	if (r->has_sums)
		count_missing(g, *end, mark_before(r));
	g->samples += r->samples;
	g->runs += r->runs;
	g->records++;
	*end = mark_after(r);
}

static void count_entries(struct spool *s, struct segment *g, struct mark *end)
{
	off_t at = 0;
	struct record r;

	while (at < g->size) {
		if (record_at(g->fd, at, g->size, &r) != 1) {
			at = record_find(g->fd, at + 1, g->size);
			continue;
		}
		place_record(&r, *end);
		if (r.kind == RECORD_ENTRY)
			count_entry(s, g, &r, end);
		at += record_size(&r);
	}
	g->end = *end;
}

static void count_found(struct spool_counters *n, uint64_t samples, uint64_t runs, uint64_t records)
{
	n->samples_recovered += samples;
	n->samples_waiting += samples;
	n->runs_recovered += runs;
	n->runs_waiting += runs;
	n->records_waiting += records;
}

/* Counts as damaged the entries that the position counts behind the last one found. */
static void count_missing_tail(struct spool *s, struct mark end)
{
	struct segment gone = { 0 }, *g = s->segment_count ? s->segments[s->segment_count - 1] : &gone;

	count_missing(g, end, s->written);
	if (!mark_is_within(s->written, end))
		g->end = s->written;
	else
		s->written = end;
	if (g != &gone)
		return;
	s->settled = s->written;
	if (!gone.records)
		return;
	position_save(s);
	count_found(s->counters, gone.samples, gone.runs, 0);
	spool_count_drop(s->counters, SPOOL_DROP_DAMAGED, gone.samples, gone.runs);
	log_warning("the spool '%s' has lost its files, and with them %llu samples and %llu runs", s->directory,
		    (unsigned long long)gone.samples, (unsigned long long)gone.runs);
}

static int read_segments(struct spool *s, struct err *err)
{
	struct mark end = s->settled;
	int r;

	if (s->segment_count && (r = cut_tail(s, s->segments[s->segment_count - 1], err)) < 0)
		return r;
	for (size_t i = 0; i < s->segment_count; i++)
		count_entries(s, s->segments[i], &end);
	count_missing_tail(s, end);
	for (size_t i = 0; i < s->segment_count; i++)
		count_found(s->counters, s->segments[i]->samples, s->segments[i]->runs, s->segments[i]->records);
	assert(spool_counters_balance(s->counters));
	return 0;
}

/* --- Position --- */

static struct mark get_mark(const uint8_t *p)
{
	return (struct mark){ strobe_wire_get_le(p, 8), strobe_wire_get_le(p + 8, 8), strobe_wire_get_le(p + 16, 8) };
}

static void put_mark(uint8_t *p, struct mark m)
{
	strobe_wire_put_le(p, m.sequence, 8);
	strobe_wire_put_le(p + 8, m.samples, 8);
	strobe_wire_put_le(p + 16, m.runs, 8);
}

static void read_slot(struct spool *s, const uint8_t *p)
{
	uint64_t writes = strobe_wire_get_le(p, 8);

	if (strobe_wire_get_le(p + 64, 8) != XXH3_64bits(p, 64) || writes <= s->position_writes)
		return;
	s->position_writes = writes;
	s->window = strobe_wire_get_le(p + 8, 8);
	s->settled = get_mark(p + 16);
	s->written = get_mark(p + 40);
}

/* Before records had sums there were two slots of 32 bytes: count of writes, sequence of the last entry that was settled,
 * newest window, XXH3 of the 24 bytes before. */
static bool read_slot_1(struct spool *s, const uint8_t *p, uint64_t *writes)
{
	uint64_t n = strobe_wire_get_le(p, 8);

	if (strobe_wire_get_le(p + 24, 8) != XXH3_64bits(p, 24) || n <= *writes)
		return false;
	*writes = n;
	s->settled = s->written = (struct mark){ .sequence = strobe_wire_get_le(p + 8, 8) };
	s->window = strobe_wire_get_le(p + 16, 8);
	return true;
}

/* Converts an old position. Both old slots are within the first new one, which is overwritten only when the second
 * new one is on the disk. */
static void upgrade_position(struct spool *s, const uint8_t *slots)
{
	uint64_t writes = 0;
	bool first = read_slot_1(s, slots, &writes), second = read_slot_1(s, slots + POSITION_SLOT_1, &writes);

	if (!first && !second)
		return;
	s->position_writes = (s->position_writes | 1) + 1;	/* even, so that the next one is the second slot */
	position_save(s);
	fdatasync(s->position_fd);
	position_save(s);
}

int position_open(struct spool *s, struct err *err)
{
	_cleanup_(freep) char *path = xasprintf("%s/position", s->directory);
	uint8_t slots[2 * POSITION_SLOT] = { 0 };
	int r = private_file_open(path, O_RDWR | O_CREAT, &s->position_fd, err);

	if (r < 0)
		return r;
	if (pread(s->position_fd, slots, sizeof(slots), 0) < 0)
		return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
	read_slot(s, slots);
	read_slot(s, slots + POSITION_SLOT);
	upgrade_position(s, slots);
	return 0;
}

/* Not synced: after a power loss entries are sent again, and deduplicated. */
void position_save(struct spool *s)
{
	uint8_t slot[POSITION_SLOT];

	assert(s->position_fd >= 0);
	strobe_wire_put_le(slot, ++s->position_writes, 8);
	strobe_wire_put_le(slot + 8, s->window, 8);
	put_mark(slot + 16, s->settled);
	put_mark(slot + 40, s->written);
	strobe_wire_put_le(slot + 64, XXH3_64bits(slot, 64), 8);
	record_write(s->position_fd, (off_t)(s->position_writes % 2 * POSITION_SLOT), slot, sizeof(slot));
}

/* --- Lifecycle --- */

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

/* Includes the clock and the process id, since a cloned machine may produce the same random numbers for a while. */
static uint64_t new_instance(void)
{
	uint64_t parts[] = { 0, (uint64_t)clock_wall_ns(), (uint64_t)clock_monotonic_ns(), (uint64_t)getpid() };

	if (getrandom(parts, sizeof(*parts), 0) != sizeof(*parts))
		log_debug("cannot get random numbers for a spool");
	return XXH3_64bits(parts, sizeof(parts));
}

static int open_all(struct spool *s, struct err *err)
{
	int r = io_make_dirs(s->directory, 0700, err);

	if (r < 0 || (r = lock_directory(s, err)) < 0 || (r = position_open(s, err)) < 0 ||
	    (r = open_segments(s, err)) < 0 || (r = read_segments(s, err)) < 0)
		return r;
	s->instance = new_instance();
	return io_sync_directory(s->directory, err);
}

int spool_open(const char *directory, uint64_t max_bytes, struct spool_counters *counters, struct spool **ret,
	       struct err *err)
{
	struct spool *s = xcalloc(1, sizeof(*s));
	int r;

	s->directory = xstrdup(directory);
	s->lock_fd = s->position_fd = -1;
	s->max_bytes = max_bytes;
	s->counters = counters;
	lock_init(&s->lock);
	r = open_all(s, err);
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
	lock_done(&s->lock);
	free(s->segments);
	free(s->flights);
	free(s->directory);
	free(s);
	return NULL;
}

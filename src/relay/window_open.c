/* window_open.c: restores the window that the last process left. Its files may be truncated, damaged, or of another
 * version. */
#include "window_private.h"

#include "log.h"
#include "mem.h"
#include "private_file.h"
#include "quarantine.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static void read_ids(struct window *w, const struct buf *body)
{
	for (size_t i = 0; i + 8 <= body->size; i += 8)
		batch_ids_add(&w->ids, strobe_wire_get_le((const uint8_t *)body->data + i, 8));
}

/* Parses the file, leaves out what cannot be read, and returns how many bytes are left. With a wrong length the start
 * of the next message
 * is unknown, so parsing ends there. */
static size_t keep_readable(struct window *w, char *bytes, size_t n, uint64_t *ret_samples)
{
	size_t kept = 0;

	*ret_samples = 0;
	for (size_t at = 0, size; n - at >= STROBE_WIRE_HEADER; at += size) {
		uint64_t samples;

		size = strobe_wire_get_le((const uint8_t *)bytes + at + 8, 4);
		if (size < STROBE_WIRE_HEADER || size > n - at)
			break;
		if (window_parse(w, bytes + at, size, &samples) < 0)
			continue;
	assert(kept <= at);
		memmove(bytes + kept, bytes + at, size);
		kept += size;
		*ret_samples += samples;
	}
	return kept;
}

/* Parses a part. -EBADMSG also if only some of it is readable; `*ret_samples` counts these samples. */
static int read_part(struct window *w, const struct buf *body, uint64_t *ret_samples)
{
	unsigned long long n = ZSTD_getFrameContentSize(body->data, body->size);
	_cleanup_(freep) char *bytes = NULL;
	size_t kept;

	if (n == ZSTD_CONTENTSIZE_UNKNOWN || n == ZSTD_CONTENTSIZE_ERROR || n > PART_BYTES_MAX)
		return -EBADMSG;
	bytes = malloc(n + 1);
	if (!bytes)
		return -ENOMEM;
	if (ZSTD_decompress(bytes, n, body->data, body->size) != n)
		return -EBADMSG;
	kept = keep_readable(w, bytes, n, ret_samples);
	assert(kept <= n);
	window_add_parsed(w, bytes);
	w->bytes += kept;
	return kept == n ? 0 : -EBADMSG;
}

static void count_found(struct window *w, uint64_t samples, uint64_t damaged)
{
	w->counters->samples_recovered += samples;
	w->counters->samples_waiting += samples;
	if (!damaged)
		return;
	spool_count_drop(w->counters, SPOOL_DROP_DAMAGED, damaged, 0);
	if (log_is_due(&w->next_damage_log_ns))
		log_warning("batches that waited for the spool are damaged, and their unreadable part was dropped; check the "
			    "disk");
}

/* Adds a part of a window that is not in the spool yet. */
static void take_part(struct window *w, const struct record *r, const struct buf *body, bool whole)
{
	uint64_t got = 0, damaged;

	if (whole && read_part(w, body, &got) < 0)
		whole = false;
	damaged = r->samples > got ? r->samples - got : 0;
	count_found(w, got + damaged, damaged);
	w->counters->records_damaged += !whole;
}

/* The record at `at`, or the first one behind it that is intact; false if there is none. */
static bool next_record(int fd, off_t *at, off_t size, struct record *ret, bool *ret_skipped)
{
	*ret_skipped = record_at(fd, *at, size, ret) != 1;
	if (*ret_skipped)
		*at = record_find(fd, *at + 1, size);
	return !*ret_skipped || record_at(fd, *at, size, ret) == 1;
}

/* Returns where the last whole record ends, `*ret_samples` what the parts up to there held. */
static off_t read_file(struct window *w, int fd, uint64_t spooled, uint64_t *ret_number, uint64_t *ret_samples)
{
	_cleanup_(buf_done) struct buf body = { 0 };
	uint64_t samples = 0;
	struct record r;
	struct stat st;
	off_t at = 0, end = 0;
	bool skipped;

	buf_init(&body);
	*ret_samples = 0;
	if (fstat(fd, &st))
		return 0;
	while (next_record(fd, &at, st.st_size, &r, &skipped)) {
		off_t next = at + record_size(&r);
		bool whole = record_body(fd, at, &r, &body) == 0;

		/* The last record was being written. */
		if (!whole && record_find(fd, next, st.st_size) == st.st_size)
			break;
		*ret_number = r.window;
		if (r.window > spooled) {
			w->counters->records_damaged += skipped;
			if (r.samples_before > samples)
				count_found(w, r.samples_before - samples, r.samples_before - samples);
		}
		if (r.kind == RECORD_PART && r.window > spooled)
			take_part(w, &r, &body, whole);
		if (r.kind == RECORD_PART)
			batch_ids_add(&w->ids, r.owner);
		if (r.kind == RECORD_IDS && whole)
			read_ids(w, &body);
		*ret_samples = samples = (r.has_sums ? r.samples_before : samples) + r.samples;
		at = end = next;
	}
	return end;
}

static uint64_t first_number(int fd)
{
	struct record r;
	struct stat st;
	off_t at = 0;
	bool skipped;

	return !fstat(fd, &st) && next_record(fd, &at, st.st_size, &r, &skipped) ? r.window : 0;
}

static void read_files(struct window *w)
{
	uint64_t spooled = spool_window(w->spool), number = 0, unused;
	unsigned later = first_number(w->fds[1]) > first_number(w->fds[0]);

	read_file(w, w->fds[!later], spooled, &number, &unused);
	w->end = read_file(w, w->fds[later], spooled, &number, &w->samples);
	w->number = (number > spooled ? number : spooled) + 1;
	if (!w->series.count)
		return;
	/* The window is closed: its file gets no more parts, and is kept under this number until the spool has it. */
	w->number = number;
	w->begun = true;
	w->began_ns = 0;
	if (ftruncate(w->fds[w->number & 1], w->end))
		log_debug("part of an interrupted write remains");
}

static int open_file(const char *directory, unsigned i, struct spool_counters *counters, int *ret, struct err *err)
{
	_cleanup_(freep) char *path = xasprintf("%s/window-%u", directory, i);
	int r = quarantine_foreign(path, counters, err);

	return r < 0 ? r : private_file_open(path, O_RDWR | O_CREAT, ret, err);
}

int window_open(const char *directory, const char *host, struct spool *spool, struct spool_counters *counters,
		struct window **ret, struct err *err)
{
	struct window *w = xcalloc(1, sizeof(*w));
	int r = 0;

	w->host = xstrdup(host);
	w->spool = spool;
	w->counters = counters;
	w->zstd = ZSTD_createCCtx();
	w->fds[0] = w->fds[1] = -1;
	window_series_init(&w->series, w->host);
	batch_ids_init(&w->ids);
	buf_init(&w->part);
	w->part.limit = PART_BYTES_MAX;
	if (!w->zstd)
		r = err_set(err, -ENOMEM, "cannot create a compressor");
	for (unsigned i = 0; i < 2 && r >= 0; i++)
		r = open_file(directory, i, counters, &w->fds[i], err);
	if (r < 0) {
		window_free(w);
		return r;
	}
	read_files(w);
	*ret = w;
	return 0;
}

struct window *window_free(struct window *w)
{
	if (!w)
		return NULL;
	for (unsigned i = 0; i < 2; i++)
		if (w->fds[i] >= 0)
			close(w->fds[i]);
	window_series_done(&w->series);
	batch_ids_done(&w->ids);
	buf_done(&w->part);
	free(w->messages);
	ZSTD_freeCCtx(w->zstd);
	free(w->host);
	free(w);
	return NULL;
}

/* window_open.c: a window as the process before left it: parts of files, which may be cut off, damaged, or of another version. */
#include "window_private.h"

#include "log.h"
#include "mem.h"
#include "private_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static void read_ids(struct window *w, const struct buf *body)
{
	for (size_t i = 0; i + 8 <= body->size; i += 8)
		window_remember(w, strobe_wire_get_le((const uint8_t *)body->data + i, 8));
}

/* Parses what is there, leaves out what cannot be read, and returns how many bytes are left. Where the length is wrong nobody knows where the
 * next message begins, so that is the end. */
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
		memmove(bytes + kept, bytes + at, size);
		kept += size;
		*ret_samples += samples;
	}
	return kept;
}

/* -EBADMSG, too, if only some of it can be read; then these samples are there. */
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
	window_add_parsed(w, bytes);
	w->bytes += kept;
	return kept == n ? 0 : -EBADMSG;
}

/* A part of a window that is not in the spool. */
static void take_part(struct window *w, const struct record *r, const struct buf *body, bool whole)
{
	uint64_t got = 0;

	if (whole && read_part(w, body, &got) < 0)
		whole = false;
	w->counters->samples_found += r->samples > got ? r->samples : got;
	w->counters->samples_waiting += r->samples > got ? r->samples : got;
	if (r->samples > got)
		spool_count_drop(w->counters, SPOOL_DROP_DAMAGED, r->samples - got, 0);
	w->counters->records_damaged += !whole;
}

/* Returns where the last whole record ends. */
static off_t read_file(struct window *w, int fd, uint64_t spooled, uint64_t *ret_number)
{
	_cleanup_(buf_done) struct buf body = { 0 };
	struct record r;
	struct stat st;
	off_t at = 0, end = 0;

	buf_init(&body);
	if (fstat(fd, &st))
		return 0;
	while (record_at(fd, at, st.st_size, &r) == 1) {
		off_t next = at + (off_t)(RECORD_HEADER + r.size);
		bool whole = record_body(fd, at, &r, &body) == 0;

		/* The last one was being written. */
		if (!whole && record_find(fd, next, st.st_size) == st.st_size)
			break;
		*ret_number = r.window;
		if (r.kind == RECORD_PART && r.window > spooled)
			take_part(w, &r, &body, whole);
		if (r.kind == RECORD_PART)
			window_remember(w, r.owner);
		if (r.kind == RECORD_IDS && whole)
			read_ids(w, &body);
		at = end = next;
	}
	return end;
}

static uint64_t first_number(int fd)
{
	struct record r;
	struct stat st;

	return !fstat(fd, &st) && record_at(fd, 0, st.st_size, &r) == 1 ? r.window : 0;
}

static void read_files(struct window *w)
{
	uint64_t spooled = spool_window(w->spool), number = 0;
	unsigned later = first_number(w->fds[1]) > first_number(w->fds[0]);

	read_file(w, w->fds[!later], spooled, &number);
	w->end = read_file(w, w->fds[later], spooled, &number);
	w->number = (number > spooled ? number : spooled) + 1;
	if (!w->series.count)
		return;
	/* It is over; nothing is added to its file any more, which its number keeps until it is in the spool. */
	w->number = number;
	w->begun = true;
	w->began_ns = 0;
	if (ftruncate(w->fds[w->number & 1], w->end))
		log_debug("a part that was being written remains");
}

static int open_file(const char *directory, unsigned i, int *ret, struct err *err)
{
	_cleanup_(freep) char *path = xasprintf("%s/window-%u", directory, i);

	return private_file_open(path, O_RDWR | O_CREAT, ret, err);
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
	buf_init(&w->part);
	w->part.limit = PART_BYTES_MAX;
	if (!w->zstd)
		r = err_set(err, -ENOMEM, "cannot make a compressor");
	for (unsigned i = 0; i < 2 && r >= 0; i++)
		r = open_file(directory, i, &w->fds[i], err);
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
	buf_done(&w->part);
	free(w->messages);
	ZSTD_freeCCtx(w->zstd);
	free(w->host);
	free(w);
	return NULL;
}

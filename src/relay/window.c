/* window.c: batches into parts on disk and profiles in memory, and these into entries of the spool. */
#include "window_private.h"

#include "clock.h"
#include "log.h"
#include "mem.h"
#include "saturate.h"
#include "wire_profile.h"

#include <assert.h>
#include <string.h>

#define PART_LEVEL	-8			/* compression level; parts are read only after a crash */
#define PART_KEPT	((size_t)16 << 20)	/* memory of a part that is kept for the next one */
#define ENTRY_LEVEL	1
#define ENTRY_BYTES	((size_t)4 << 20)	/* messages in one entry, before compression; one message may be larger */
#define WINDOW_BYTES	((size_t)64 << 20)	/* a window of this size is closed */

bool window_is_empty(const struct window *w)
{
	return window_series_is_empty(&w->series);
}

int64_t window_began_ns(const struct window *w)
{
	return w->bytes > WINDOW_BYTES ? 0 : w->began_ns;
}

/* --- Ids --- */

void window_keep_ids(struct window *w, const uint64_t *open, size_t count)
{
	batch_ids_keep(&w->ids, open, count, WINDOW_IDS);
}

/* --- Messages --- */

/* The time of a message is the end of its bucket, which the receiver uses. */
static int put_messages(struct buf *out, const struct batch_entry *e, struct err *err)
{
	struct profile view = *e->profile;
	size_t at = out->size;
	int r;

	assert(e->bucket_ns >= 0 && e->bucket_ns % BATCH_BUCKET_NS == 0);
	view.labels = *e->labels;
	view.start_ns = e->bucket_ns;
	view.end_ns = e->bucket_ns + BATCH_BUCKET_NS - 1;
	view.period_ns = e->period_ns;
	r = wire_profile_write(&view, out, err);
	for (; r >= 0 && at < out->size; at += strobe_wire_get_le((uint8_t *)out->data + at + 8, 4))
		out->data[at + 6] = (char)e->clock;
	assert(r < 0 || at == out->size);
	return r;
}

int window_compress(struct window *w, const void *bytes, size_t n, int level, void **ret, size_t *ret_size, struct err *err)
{
	size_t room = ZSTD_compressBound(n);
	_cleanup_(freep) void *to = malloc(room);

	if (!to)
		return err_set(err, -ENOMEM, "not enough memory to compress %zu bytes", n);
	n = ZSTD_compressCCtx(w->zstd, to, room, bytes, n, level);
	if (ZSTD_isError(n))
		return err_set(err, -EIO, "cannot compress: %s", ZSTD_getErrorName(n));
	if (n > RECORD_BODY)
		return err_set(err, -EFBIG, "a record of %zu bytes exceeds the limit of the spool", n);
	*ret = xrealloc(TAKE_PTR(to), n ? n : 1);
	*ret_size = n;
	return 0;
}

/* --- Parts --- */

static int failed(struct window *w, int r, struct err *err)
{
	if (w->begun && ftruncate(w->fds[w->number & 1], w->end))
		log_debug("part of a failed write remains");
	return err_set(err, r, "cannot write to the spool: %s", strerror(-r));
}

static int put_record(struct window *w, struct record *r, const void *body, size_t n)
{
	int fd = w->fds[w->number & 1], e;
	uint8_t header[RECORD_HEADER];

	assert(r->window == w->number);
	record_seal(r, body, n, header);
	e = record_write(fd, w->end, header, sizeof(header));
	if (e >= 0)
		e = record_write(fd, w->end + (off_t)RECORD_HEADER, body, n);
	return e;
}

/* Empties the file of the window before the last one, and writes the ids of batches seen to it. */
static int begin(struct window *w, struct err *err)
{
	struct record record = { .kind = RECORD_IDS, .first = true, .last = true, .window = w->number, .time_ns = clock_wall_ns() };
	_cleanup_(freep) uint8_t *ids = xmalloc(8 * w->ids.count + 1);
	int r;

	assert(!w->begun);
	for (size_t i = 0; i < w->ids.count; i++)
		strobe_wire_put_le(ids + 8 * i, w->ids.ids[i], 8);
	w->end = 0;
	w->samples = 0;
	if (ftruncate(w->fds[w->number & 1], 0))
		return failed(w, -errno, err);
	r = put_record(w, &record, ids, 8 * w->ids.count);
	if (r < 0)
		return failed(w, r, err);
	w->end = (off_t)(RECORD_HEADER + record.size);
	w->began_ns = clock_monotonic_ns();
	w->begun = true;
	return 0;
}

static int write_part(struct window *w, uint64_t id, const char *bytes, size_t n, uint64_t samples, struct err *err)
{
	struct record record = {
		.kind = RECORD_PART, .first = true, .last = true, .window = w->number, .time_ns = clock_wall_ns(), .samples = samples,
		.owner = id,
	};
	_cleanup_(freep) void *body = NULL;
	size_t size;
	int r;

	assert(n > 0 && n <= PART_BYTES_MAX);	/* a reader would reject a larger part */
	if (!w->begun && (r = begin(w, err)) < 0)
		return r;
	record.samples_before = w->samples;
	r = window_compress(w, bytes, n, PART_LEVEL, &body, &size, err);
	if (r < 0)
		return r;
	r = put_record(w, &record, body, size);
	if (r >= 0 && fdatasync(w->fds[w->number & 1]))
		r = -errno;
	if (r < 0)
		return failed(w, r, err);
	w->end += (off_t)(RECORD_HEADER + size);
	w->bytes += n;
	w->samples += samples;
	return 0;
}

/* --- Adding --- */

static uint64_t samples_in(const struct profile *p)
{
	uint32_t column = profile_find_column(p, "samples");
	uint64_t sum = 0;

	for (uint32_t i = 0; column != UINT32_MAX && i < p->node_count; i++)
		if (p->columns[column].self[i] > 0)
			saturating_count(&sum, (uint64_t)p->columns[column].self[i]);
	return sum;
}

/* Counts all samples of a batch; entries too large for any message are dropped, so that the rest need not wait. */
static void count_too_large(struct window *w, const struct batch *b, const bool *too_large)
{
	for (size_t i = 0; i < b->count; i++) {
		uint64_t samples = samples_in(b->entries[i].profile);

		w->counters->samples_received += samples;
		w->counters->samples_waiting += samples;
		if (too_large[i])
			spool_count_drop(w->counters, SPOOL_DROP_TOO_LARGE, samples, 0);
	}
}

int window_parse(struct window *w, const char *bytes, size_t n, uint64_t *ret_samples)
{
	size_t before = w->message_count;
	struct strobe_wire_message m;
	uint64_t samples = 0;

	for (size_t at = 0; at < n; at += m.size) {
		const uint8_t *message = (const uint8_t *)bytes + at;
		uint64_t size = n - at < STROBE_WIRE_HEADER ? UINT64_MAX : strobe_wire_get_le(message + 8, 4);

		if (size > n - at || strobe_wire_parse(message, (size_t)size, &m)) {
			w->message_count = before;
			return -EBADMSG;
		}
		GROW(&w->messages, &w->message_capacity, w->message_count + 1);
		w->messages[w->message_count++] = m;
		samples += m.samples;
	}
	*ret_samples = samples;
	return 0;
}

void window_add_parsed(struct window *w, const char *bytes)
{
	for (size_t i = 0; i < w->message_count; i++) {
		struct strobe_wire_message m = wire_message_at(&w->messages[i], bytes);

		window_series_add(&w->series, &m);
		bytes += m.size;
	}
	w->message_count = 0;
}

/* Encodes the batch as messages in w->part. */
static int make_part(struct window *w, const struct batch *b, bool *too_large, uint64_t *ret_samples, struct err *err)
{
	assert(!w->part.size && !w->message_count);
	*ret_samples = 0;
	for (size_t i = 0; i < b->count; i++) {
		size_t before = w->part.size;
		uint64_t samples = 0;
		int r = put_messages(&w->part, &b->entries[i], err);

		if (r < 0 && r != -E2BIG)
			return r;
		too_large[i] = r < 0 || window_parse(w, w->part.data + before, w->part.size - before, &samples) < 0;
		if (too_large[i])
			w->part.size = before;
		else
			*ret_samples += samples;
	}
	return 0;
}

/* Frees the buffer after a large batch. */
static void empty_part(struct window *w)
{
	if (w->part.capacity > PART_KEPT) {
		buf_done(&w->part);
		buf_init(&w->part);
		w->part.limit = PART_BYTES_MAX;
	}
	buf_reset(&w->part);
	w->message_count = 0;
}

int window_add(struct window *w, const struct batch *b, struct err *err)
{
	_cleanup_(freep) bool *too_large = NULL;
	uint64_t samples;
	int r;

	if (batch_ids_has(&w->ids, b->id))
		return 0;
	too_large = xcalloc(b->count + 1, sizeof(*too_large));
	r = make_part(w, b, too_large, &samples, err);
	if (r >= 0 && w->part.size)
		r = write_part(w, b->id, w->part.data, w->part.size, samples, err);
	if (r >= 0) {
		window_add_parsed(w, w->part.data);
		batch_ids_add(&w->ids, b->id);
		count_too_large(w, b, too_large);
	}
	empty_part(w);
	return r < 0 ? r : 0;
}

/* --- Closing --- */

struct pieces {
	struct spool_piece *list;
	size_t count, capacity;
	struct buf raw;				/* the next one, uncompressed */
	uint64_t samples;
};

static void pieces_done(struct pieces *p)
{
	for (size_t i = 0; i < p->count; i++)
		free((void *)p->list[i].body);
	free(p->list);
	buf_done(&p->raw);
}

static int cut_piece(struct window *w, struct pieces *p, struct err *err)
{
	struct spool_piece piece = { .samples = p->samples };
	void *body;
	int r;

	assert(p->raw.size || !p->samples);
	if (!p->raw.size)
		return 0;
	r = window_compress(w, p->raw.data, p->raw.size, ENTRY_LEVEL, &body, &piece.size, err);
	if (r < 0)
		return r;
	piece.body = body;
	GROW(&p->list, &p->capacity, p->count + 1);
	p->list[p->count++] = piece;
	p->samples = 0;
	buf_reset(&p->raw);
	return 0;
}

/* A series may need several messages; all its samples count in the entry with the first of them. */
static int add_series(struct window *w, struct pieces *p, const struct series *s, struct err *err)
{
	const struct batch_entry e = {
		.bucket_ns = s->bucket_ns, .labels = &s->labels, .clock = s->clock, .period_ns = s->period_ns,
		.profile = s->profile,
	};
	_cleanup_(buf_done) struct buf one = { 0 };
	uint64_t samples = s->samples;
	int r;

	buf_init(&one);
	r = put_messages(&one, &e, err);
	for (size_t at = 0, n; r >= 0 && at < one.size; at += n) {
		n = strobe_wire_get_le((uint8_t *)one.data + at + 8, 4);
	assert(n >= STROBE_WIRE_HEADER && n <= one.size - at);
		if (p->raw.size + n > ENTRY_BYTES)
			r = cut_piece(w, p, err);
		buf_put(&p->raw, one.data + at, n);
		p->samples += samples;
		samples = 0;
	}
	return r;
}

static uint64_t samples_of_pieces(const struct pieces *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->count; i++)
		n += p->list[i].samples;
	return n;
}

static uint64_t samples_of_series(const struct window_series *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->count; i++)
		n += s->list[i].samples;
	return n;
}

/* Each part could be encoded, so a series that cannot be now exceeds a cap that its parts did not reach. */
static int make_pieces(struct window *w, struct pieces *p, uint64_t *ret_too_large, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < w->series.count && r >= 0; i++) {
		r = add_series(w, p, &w->series.list[i], err);
		if (r == -E2BIG) {
			*ret_too_large += w->series.list[i].samples;
			r = 0;
		}
	}
	return r < 0 ? r : cut_piece(w, p, err);
}

int window_close(struct window *w, struct err *err)
{
	struct pieces p = { 0 };
	uint64_t too_large = 0;
	int r;

	window_series_merge(&w->series);
	if (window_is_empty(w))
		return 0;
	buf_init(&p.raw);
	r = make_pieces(w, &p, &too_large, err);
	assert(r < 0 || samples_of_pieces(&p) + too_large == samples_of_series(&w->series));
	if (r >= 0)
		r = spool_append(w->spool, p.list, p.count, w->number, false, err);
	pieces_done(&p);
	/* Larger than the limit of the spool: dropped like entries that are too old. */
	if (r == -EFBIG) {
		for (size_t i = 0; i < w->series.count; i++)
			spool_count_drop(w->counters, SPOOL_DROP_FULL, w->series.list[i].samples, 0);
		if (log_is_due(&w->next_dropped_log_ns))
			log_error("collected data was dropped: %s", err->text);
	} else if (r < 0) {
		return r;
	} else {
		spool_count_drop(w->counters, SPOOL_DROP_TOO_LARGE, too_large, 0);
	}
	window_series_clear(&w->series);
	w->bytes = 0;
	w->begun = false;
	w->number++;
	return 0;
}

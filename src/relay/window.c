/* window.c: parts on disk, profiles in memory, and entries made of them. */
#include "window.h"

#include "clock.h"
#include "log.h"
#include "mem.h"
#include "wire_profile.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#define PART_LEVEL	1			/* of zstd: read again only after a crash */
#define ENTRY_LEVEL	1
#define ENTRY_BYTES	((size_t)4 << 20)	/* of messages in one entry, before compression; one message may be larger */
#define PART_BYTES_MAX	((size_t)1 << 30)	/* the same of a part */
#define WINDOW_BYTES	((size_t)64 << 20)	/* a window with so much in it is over */

struct series {
	struct labels labels;
	int64_t bucket_ns, period_ns;
	enum strobe_clock clock;
	struct profile *profile;
	uint64_t samples;
};

struct window {
	char *host;
	struct spool *spool;
	struct spool_counters *counters;
	ZSTD_CCtx *zstd;

	int fds[2];
	uint64_t number;
	bool begun;				/* its file is */
	off_t end;				/* of the file's last whole record */
	int64_t began_ns;
	size_t bytes;				/* of its parts before compression */

	struct intern keys;			/* a key's number is that of its series */
	struct series *series;
	size_t series_count, series_capacity;

	uint64_t ids[WINDOW_IDS];		/* a ring */
	size_t id_count, id_at;
};

/* --- Ids --- */

static bool knows(const struct window *w, uint64_t id)
{
	for (size_t i = 0; id && i < w->id_count; i++)
		if (w->ids[i] == id)
			return true;
	return false;
}

static void remember(struct window *w, uint64_t id)
{
	if (!id || knows(w, id))
		return;
	w->ids[w->id_at] = id;
	w->id_at = (w->id_at + 1) % WINDOW_IDS;
	if (w->id_count < WINDOW_IDS)
		w->id_count++;
}

/* --- In memory --- */

static uint64_t samples_in(const struct profile *p)
{
	uint32_t column = profile_find_column(p, "samples");
	uint64_t sum = 0;

	for (uint32_t i = 0; column != UINT32_MAX && i < p->node_count; i++)
		if (p->columns[column].self[i] > 0)
			sum += (uint64_t)p->columns[column].self[i];
	return sum;
}

static void put_key(struct buf *key, const struct batch_entry *e)
{
	buf_put_varint(key, (uint64_t)e->bucket_ns);
	buf_put_varint(key, (uint64_t)e->clock);
	buf_put_varint(key, (uint64_t)e->period_ns);
	for (uint32_t i = 0; i < e->profile->column_count; i++) {
		buf_puts(key, e->profile->columns[i].name);
		buf_putc(key, '\n');
	}
	labels_put(e->labels, key);
}

static struct series *series_of(struct window *w, const struct batch_entry *e)
{
	_cleanup_(buf_done) struct buf key = { 0 };
	struct series *s;
	uint32_t i;

	buf_init(&key);
	put_key(&key, e);
	i = intern_add(&w->keys, key.data, key.size);
	if (i < w->series_count)
		return &w->series[i];
	GROW(&w->series, &w->series_capacity, w->series_count + 1);
	s = &w->series[w->series_count++];
	*s = (struct series){
		.bucket_ns = e->bucket_ns, .period_ns = e->period_ns, .clock = e->clock, .profile = profile_new(),
	};
	labels_init(&s->labels);
	labels_copy(&s->labels, e->labels);
	return s;
}

static void merge(struct window *w, const struct batch_entry *e)
{
	struct series *s = series_of(w, e);

	profile_merge(s->profile, e->profile);
	s->samples += samples_in(e->profile);
}

static void empty(struct window *w)
{
	for (size_t i = 0; i < w->series_count; i++) {
		labels_done(&w->series[i].labels);
		profile_free(w->series[i].profile);
	}
	w->series_count = 0;
	intern_done(&w->keys);
	intern_init(&w->keys);
	w->bytes = 0;
	w->begun = false;
}

bool window_is_empty(const struct window *w)
{
	return !w->series_count;
}

int64_t window_began_ns(const struct window *w)
{
	return w->bytes > WINDOW_BYTES ? 0 : w->began_ns;
}

/* --- Messages --- */

/* What is appended lies in the bucket, whose end is what its receiver looks at. */
static int put_messages(struct buf *out, const struct batch_entry *e, struct err *err)
{
	struct profile view = *e->profile;
	size_t at = out->size;
	int r;

	view.labels = *e->labels;
	view.start_ns = e->bucket_ns;
	view.end_ns = e->bucket_ns + BATCH_BUCKET_NS - 1;
	view.period_ns = e->period_ns;
	r = wire_profile_write(&view, out, err);
	for (; r >= 0 && at < out->size; at += strobe_wire_get_le((uint8_t *)out->data + at + 8, 4))
		out->data[at + 6] = (char)e->clock;
	return r;
}

int window_compress(struct window *w, const void *bytes, size_t n, int level, void **ret, size_t *ret_size, struct err *err)
{
	size_t room = ZSTD_compressBound(n);
	_cleanup_(freep) void *to = malloc(room);

	if (!to)
		return err_set(err, -ENOMEM, "no memory for %zu bytes to compress", n);
	n = ZSTD_compressCCtx(w->zstd, to, room, bytes, n, level);
	if (ZSTD_isError(n))
		return err_set(err, -EIO, "cannot compress: %s", ZSTD_getErrorName(n));
	if (n > RECORD_BODY)
		return err_set(err, -EFBIG, "%zu bytes are more than one record of the spool may hold", n);
	*ret = xrealloc(TAKE_PTR(to), n ? n : 1);
	*ret_size = n;
	return 0;
}

/* --- Parts --- */

static int failed(struct window *w, int r, struct err *err)
{
	if (w->begun && ftruncate(w->fds[w->number & 1], w->end))
		log_debug("a part that was not written remains");
	return err_set(err, r, "cannot write to the spool: %s", strerror(-r));
}

static int put_record(struct window *w, struct record *r, const void *body, size_t n)
{
	int fd = w->fds[w->number & 1], e;
	uint8_t header[RECORD_HEADER];

	record_seal(r, body, n, header);
	e = record_write(fd, w->end, header, sizeof(header));
	if (e >= 0)
		e = record_write(fd, w->end + (off_t)RECORD_HEADER, body, n);
	return e;
}

/* Empties the file of the window before the last one, and says in it which batches were seen. */
static int begin(struct window *w, struct err *err)
{
	struct record record = { .kind = RECORD_IDS, .first = true, .last = true, .window = w->number, .time_ns = clock_wall_ns() };
	uint8_t ids[8 * WINDOW_IDS];
	size_t first = w->id_count == WINDOW_IDS ? w->id_at : 0;
	int r;

	for (size_t i = 0; i < w->id_count; i++)
		strobe_wire_put_le(ids + 8 * i, w->ids[(first + i) % WINDOW_IDS], 8);
	w->end = 0;
	if (ftruncate(w->fds[w->number & 1], 0))
		return failed(w, -errno, err);
	r = put_record(w, &record, ids, 8 * w->id_count);
	if (r < 0)
		return failed(w, r, err);
	w->end = (off_t)(RECORD_HEADER + record.size);
	w->began_ns = clock_monotonic_ns();
	w->begun = true;
	return 0;
}

static int write_part(struct window *w, uint64_t id, const struct buf *raw, uint64_t samples, struct err *err)
{
	struct record record = {
		.kind = RECORD_PART, .first = true, .last = true, .window = w->number, .time_ns = clock_wall_ns(), .samples = samples,
		.owner = id,
	};
	_cleanup_(freep) void *body = NULL;
	size_t size;
	int r;

	if (!w->begun && (r = begin(w, err)) < 0)
		return r;
	r = window_compress(w, raw->data, raw->size, PART_LEVEL, &body, &size, err);
	if (r < 0)
		return r;
	r = put_record(w, &record, body, size);
	if (r >= 0 && fdatasync(w->fds[w->number & 1]))
		r = -errno;
	if (r < 0)
		return failed(w, r, err);
	w->end += (off_t)(RECORD_HEADER + size);
	w->bytes += raw->size;
	return 0;
}

/* --- Adding --- */

/* With the host's name, unless it says one. */
static const struct labels *with_host(const struct window *w, const struct labels *labels, struct labels *room)
{
	if (!*w->host || labels_get(labels, "host") || labels->count >= STROBE_WIRE_LABELS)
		return labels;
	labels_copy(room, labels);
	labels_set(room, "host", 4, w->host, strlen(w->host));
	return room;
}

static void merge_with_host(struct window *w, const struct batch_entry *e)
{
	struct batch_entry one = *e;
	struct labels room;

	labels_init(&room);
	one.labels = with_host(w, e->labels, &room);
	merge(w, &one);
	labels_done(&room);
}

/* What fits into no message is no reason to keep the rest waiting. */
static void count_unfit(struct window *w, const struct batch *b, const bool *unfit)
{
	for (size_t i = 0; i < b->count; i++) {
		uint64_t samples = samples_in(b->entries[i].profile);

		w->counters->samples_handed += samples;
		w->counters->samples_waiting += samples;
		if (unfit[i])
			spool_count_drop(w->counters, SPOOL_DROP_UNFIT, samples, 0);
	}
}

int window_add(struct window *w, const struct batch *b, struct err *err)
{
	_cleanup_(buf_done) struct buf raw = { 0 };
	_cleanup_(freep) bool *unfit = NULL;
	uint64_t samples = 0;
	int r;

	if (knows(w, b->id))
		return 0;
	buf_init(&raw);
	raw.limit = PART_BYTES_MAX;
	unfit = xcalloc(b->count + 1, sizeof(*unfit));
	for (size_t i = 0; i < b->count; i++) {
		r = put_messages(&raw, &b->entries[i], err);
		if (r < 0 && r != -E2BIG)
			return r;
		unfit[i] = r < 0;
		samples += unfit[i] ? 0 : samples_in(b->entries[i].profile);
	}
	if (raw.size && (r = write_part(w, b->id, &raw, samples, err)) < 0)
		return r;
	remember(w, b->id);
	count_unfit(w, b, unfit);
	for (size_t i = 0; i < b->count; i++)
		if (!unfit[i])
			merge_with_host(w, &b->entries[i]);
	return 0;
}

/* --- Closing --- */

struct pieces {
	struct spool_piece *list;
	size_t count, capacity;
	struct buf raw;				/* of the next one */
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
		if (p->raw.size + n > ENTRY_BYTES)
			r = cut_piece(w, p, err);
		buf_put(&p->raw, one.data + at, n);
		p->samples += samples;
		samples = 0;
	}
	return r;
}

/* Each part of it was written once, so what cannot be now is together above a cap that each part was below. */
static int make_pieces(struct window *w, struct pieces *p, uint64_t *ret_unfit, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < w->series_count && r >= 0; i++) {
		r = add_series(w, p, &w->series[i], err);
		if (r == -E2BIG) {
			*ret_unfit += w->series[i].samples;
			r = 0;
		}
	}
	return r < 0 ? r : cut_piece(w, p, err);
}

int window_close(struct window *w, struct err *err)
{
	struct pieces p = { 0 };
	uint64_t unfit = 0;
	int r;

	if (!w->series_count)
		return 0;
	buf_init(&p.raw);
	r = make_pieces(w, &p, &unfit, err);
	if (r >= 0)
		r = spool_append(w->spool, p.list, p.count, w->number, false, err);
	pieces_done(&p);
	/* Larger than the spool may be: dropped like what is too old for it. */
	if (r == -EFBIG) {
		for (size_t i = 0; i < w->series_count; i++)
			spool_count_drop(w->counters, SPOOL_DROP_FULL, w->series[i].samples, 0);
		log_error("a window was dropped: %s", err->text);
	} else if (r < 0) {
		return r;
	} else {
		spool_count_drop(w->counters, SPOOL_DROP_UNFIT, unfit, 0);
	}
	empty(w);
	w->number++;
	return 0;
}

/* --- What was there --- */

static void read_ids(struct window *w, const struct buf *body)
{
	for (size_t i = 0; i + 8 <= body->size; i += 8)
		remember(w, strobe_wire_get_le((const uint8_t *)body->data + i, 8));
}

static void read_message(struct window *w, const struct strobe_wire_message *m)
{
	struct labels labels;
	struct batch_entry e = {
		.bucket_ns = (int64_t)(m->info.end_ns - m->info.end_ns % BATCH_BUCKET_NS), .labels = &labels,
		.clock = m->info.clock, .period_ns = (int64_t)m->info.period_ns,
	};
	struct profile *p = profile_new();

	labels_init(&labels);
	wire_profile_labels(m, &labels);
	if (wire_profile_add(p, m) >= 0) {
		e.profile = p;
		merge_with_host(w, &e);
	}
	labels_done(&labels);
	profile_free(p);
}

/* Checked as if it came from outside: the file may be of another version. */
static int read_messages(struct window *w, const char *bytes, size_t n)
{
	struct strobe_wire_message m;

	for (size_t at = 0, size; at < n; at += size) {
		if (n - at < STROBE_WIRE_HEADER)
			return -EBADMSG;
		size = strobe_wire_get_le((const uint8_t *)bytes + at + 8, 4);
		if (size > n - at || strobe_wire_parse(bytes + at, size, &m))
			return -EBADMSG;
		read_message(w, &m);
	}
	return 0;
}

static int read_part(struct window *w, const struct buf *body)
{
	unsigned long long n = ZSTD_getFrameContentSize(body->data, body->size);
	_cleanup_(freep) char *bytes = NULL;

	if (n == ZSTD_CONTENTSIZE_UNKNOWN || n == ZSTD_CONTENTSIZE_ERROR || n > PART_BYTES_MAX)
		return -EBADMSG;
	bytes = malloc(n + 1);
	if (!bytes)
		return -ENOMEM;
	if (ZSTD_decompress(bytes, n, body->data, body->size) != n)
		return -EBADMSG;
	w->bytes += n;
	return read_messages(w, bytes, n);
}

static uint64_t samples_held(const struct window *w)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < w->series_count; i++)
		sum += w->series[i].samples;
	return sum;
}

/* A part of a window that is not in the spool. */
static void take_part(struct window *w, const struct record *r, const struct buf *body, bool whole)
{
	uint64_t before = samples_held(w), got;

	if (whole && read_part(w, body) < 0)
		whole = false;
	got = samples_held(w) - before;
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
			remember(w, r.owner);
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
	if (!w->series_count)
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

	*ret = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return *ret < 0 ? err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno)) : 0;
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
	intern_init(&w->keys);
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
	empty(w);
	for (unsigned i = 0; i < 2; i++)
		if (w->fds[i] >= 0)
			close(w->fds[i]);
	intern_done(&w->keys);
	ZSTD_freeCCtx(w->zstd);
	free(w->series);
	free(w->host);
	free(w);
	return NULL;
}

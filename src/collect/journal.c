/* journal.c: the file, and what it says held in memory. */

#include "journal.h"

#include "clock.h"
#include "io.h"
#include "log.h"
#include "mem.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define RECORD_HEADER	12u
#define FILE_MAX	((size_t)256 << 20)	/* a file above this is not ours */
#define RENEW_BYTES	((size_t)8 << 20)	/* a file above this that is mostly over is written anew */

enum record_kind { BATCH_BEGUN = 1, RELAY_IDS = 2, BATCH_ENDED = 3 };

/* A batch that is begun and not ended, with what its record says. */
struct open_record {
	uint64_t id;
	uint8_t *body;
	size_t size;
};

struct journal {
	char *path;
	int fd, lock_fd;
	size_t size, open_bytes;
	pthread_mutex_t lock;

	struct open_record *open;
	size_t open_count, open_capacity;

	/* of before the start, not changed later: hash of source and ticket to the index of a batch's id */
	struct map tickets;
	uint64_t *old_ids;
	size_t old_count;

	/* ids of relays' batches, the oldest is replaced first */
	struct map seen;
	uint64_t *ring;
	size_t ring_count, ring_at;
};

/* --- In memory --- */

static uint64_t ticket_key(uint64_t source, const struct source_ticket *t)
{
	const uint64_t parts[] = { source, t->stream, t->high, t->low };

	return XXH3_64bits(parts, sizeof(parts));
}

static uint64_t source_key(const char *url)
{
	return XXH3_64bits(url, strlen(url));
}

uint64_t journal_batch_of(const struct journal *j, const char *source_url, const struct source_ticket *t)
{
	uint32_t i = j->old_count ? map_get(&j->tickets, ticket_key(source_key(source_url), t)) : MAP_NONE;

	return i == MAP_NONE ? 0 : j->old_ids[i];
}

/* A map has no removal: what the ring has forgotten is told by what it holds now. */
static bool remember(struct journal *j, uint64_t id)
{
	uint32_t *slot = map_slot(&j->seen, id);

	if (*slot != MAP_NONE && j->ring[*slot] == id)
		return true;
	if (!j->ring)
		j->ring = xcalloc(JOURNAL_SEEN, sizeof(*j->ring));
	*slot = (uint32_t)j->ring_at;
	j->ring[j->ring_at] = id;
	j->ring_at = (j->ring_at + 1) % JOURNAL_SEEN;
	if (j->ring_count < JOURNAL_SEEN)
		j->ring_count++;
	if (j->seen.count <= 4 * (size_t)JOURNAL_SEEN)
		return false;
	map_clear(&j->seen);
	for (size_t i = 0; i < j->ring_count; i++)
		map_set(&j->seen, j->ring[i], (uint32_t)i);
	return false;
}

bool journal_seen(struct journal *j, uint64_t relay_id)
{
	bool seen;

	pthread_mutex_lock(&j->lock);
	seen = remember(j, relay_id);
	pthread_mutex_unlock(&j->lock);
	return seen;
}

/* --- Reading --- */

struct reader {
	const uint8_t *p, *end;
	bool bad;
};

static uint64_t next(struct reader *r)
{
	struct strobe_wire_cursor c = { r->p, r->end };
	uint64_t v = 0;

	if (!strobe_wire_get_varint(&c, &v))
		r->bad = true;
	r->p = r->bad ? r->end : c.p;
	return v;
}

static void read_relay_ids(struct journal *j, struct reader *r)
{
	uint64_t n = next(r);

	for (uint64_t i = 0; i < n && !r->bad; i++) {
		uint64_t id = next(r);

		if (!r->bad)
			remember(j, id);
	}
}

static void read_tickets(struct journal *j, struct reader *r, uint32_t batch)
{
	uint64_t source = next(r), n = next(r);
	struct source_ticket t = { 0 };

	for (uint64_t i = 0; i < n && !r->bad; i++) {
		t.stream = (uint32_t)next(r);
		t.high += (uint64_t)strobe_wire_unzigzag(next(r));
		t.low = next(r);
		if (!r->bad)
			map_set(&j->tickets, ticket_key(source, &t), batch);
	}
}

static void remember_open(struct journal *j, uint64_t id, const void *body, size_t n)
{
	GROW(&j->open, &j->open_capacity, j->open_count + 1);
	j->open[j->open_count] = (struct open_record){ id, xmalloc(n), n };
	memcpy(j->open[j->open_count++].body, body, n);
	j->open_bytes += n;
}

static void forget_open(struct journal *j, uint64_t id)
{
	for (size_t i = 0; i < j->open_count; i++) {
		if (j->open[i].id != id)
			continue;
		j->open_bytes -= j->open[i].size;
		free(j->open[i].body);
		memmove(&j->open[i], &j->open[i + 1], (--j->open_count - i) * sizeof(*j->open));
		return;
	}
}

static void read_record(struct journal *j, const uint8_t *body, size_t n)
{
	struct reader r = { body, body + n };
	uint64_t kind = next(&r), id;

	switch (kind) {
	case BATCH_BEGUN:
		id = next(&r);
		read_relay_ids(j, &r);
		if (!r.bad)
			remember_open(j, id, body, n);
		break;
	case BATCH_ENDED:
		forget_open(j, next(&r));
		break;
	case RELAY_IDS:
		read_relay_ids(j, &r);
		break;
	}
}

/* What was under way when the last process ended. */
static void index_tickets(struct journal *j)
{
	j->old_ids = xcalloc(j->open_count + 1, sizeof(*j->old_ids));
	for (; j->old_count < j->open_count; j->old_count++) {
		const struct open_record *o = &j->open[j->old_count];
		struct reader r = { o->body, o->body + o->size };
		uint64_t ids, shares;

		next(&r);
		j->old_ids[j->old_count] = next(&r);
		ids = next(&r);
		for (uint64_t i = 0; i < ids && !r.bad; i++)
			next(&r);
		shares = next(&r);
		for (uint64_t i = 0; i < shares && !r.bad; i++)
			read_tickets(j, &r, (uint32_t)j->old_count);
	}
}

/* Returns how much of the file is whole. */
static size_t read_records(struct journal *j, const char *bytes, size_t n)
{
	size_t at = 0;

	while (n - at >= RECORD_HEADER) {
		const uint8_t *p = (const uint8_t *)bytes + at;
		uint64_t length = strobe_wire_get_le(p, 4);

		if (length > n - at - RECORD_HEADER || XXH3_64bits(p + RECORD_HEADER, length) != strobe_wire_get_le(p + 4, 8))
			break;
		read_record(j, p + RECORD_HEADER, length);
		at += RECORD_HEADER + length;
	}
	return at;
}

/* --- Writing, under the lock --- */

static int failed(struct journal *j, const char *what, struct err *err)
{
	return err_set(err, -errno, "cannot %s '%s': %s", what, j->path, strerror(errno));
}

static void put_record(struct buf *out, const void *body, size_t n)
{
	uint8_t head[RECORD_HEADER];

	strobe_wire_put_le(head, n, 4);
	strobe_wire_put_le(head + 4, XXH3_64bits(body, n), 8);
	buf_put(out, head, sizeof(head));
	buf_put(out, body, n);
}

/* What was written in part is taken back, so that the next record stands behind the last whole one. */
static int append(struct journal *j, const struct buf *body, bool durable, struct err *err)
{
	_cleanup_(buf_done) struct buf record = { 0 };
	int r;

	buf_init(&record);
	put_record(&record, body->data, body->size);
	r = io_write_all(j->fd, record.data, record.size, err);
	if (r >= 0 && durable && fdatasync(j->fd))
		r = failed(j, "write to", err);
	if (r < 0) {
		if (ftruncate(j->fd, (off_t)j->size) || lseek(j->fd, (off_t)j->size, SEEK_SET) < 0)
			log_warning("cannot take back what was written to '%s': %s", j->path, strerror(errno));
		return r;
	}
	j->size += record.size;
	return 0;
}

static void put_relay_ids(struct buf *body, const uint64_t *ids, size_t n)
{
	buf_put_varint(body, n);
	for (size_t i = 0; i < n; i++)
		buf_put_varint(body, ids[i]);
}

static void put_tickets(struct buf *body, const struct open_batch_share *s)
{
	uint64_t high = 0;

	buf_put_varint(body, source_key(s->source->url));
	buf_put_varint(body, s->ticket_count);
	for (size_t i = 0; i < s->ticket_count; i++) {
		const struct source_ticket *t = &s->tickets[i];

		buf_put_varint(body, t->stream);
		buf_put_varint(body, strobe_wire_zigzag((int64_t)(t->high - high)));
		buf_put_varint(body, t->low);
		high = t->high;
	}
}

static size_t ticket_shares(const struct open_batch *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->share_count; i++)
		n += b->shares[i].ticket_count > 0;
	return n;
}

static int begin(struct journal *j, const struct open_batch *b, struct err *err)
{
	_cleanup_(buf_done) struct buf body = { 0 };
	int r;

	buf_init(&body);
	buf_put_varint(&body, BATCH_BEGUN);
	buf_put_varint(&body, b->batch.id);
	put_relay_ids(&body, b->relay_ids, b->relay_id_count);
	buf_put_varint(&body, ticket_shares(b));
	for (size_t i = 0; i < b->share_count; i++)
		if (b->shares[i].ticket_count)
			put_tickets(&body, &b->shares[i]);
	r = append(j, &body, true, err);
	if (r >= 0)
		remember_open(j, b->batch.id, body.data, body.size);
	return r;
}

int journal_begin(struct journal *j, struct open_batch *b, struct err *err)
{
	int r = 0;

	pthread_mutex_lock(&j->lock);
	if (!b->journaled && ticket_shares(b)) {
		r = begin(j, b, err);
		b->journaled = r >= 0;
	}
	pthread_mutex_unlock(&j->lock);
	return r;
}

static void put_all(const struct journal *j, struct buf *out)
{
	size_t first = j->ring_count == JOURNAL_SEEN ? j->ring_at : 0;
	_cleanup_(buf_done) struct buf body = { 0 };

	buf_init(&body);
	buf_put_varint(&body, RELAY_IDS);
	buf_put_varint(&body, j->ring_count);
	for (size_t i = 0; i < j->ring_count; i++)
		buf_put_varint(&body, j->ring[(first + i) % JOURNAL_SEEN]);
	put_record(out, body.data, body.size);
	for (size_t i = 0; i < j->open_count; i++)
		put_record(out, j->open[i].body, j->open[i].size);
}

static int reopen(struct journal *j, struct err *err)
{
	if (j->fd >= 0)
		close(j->fd);
	j->fd = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return j->fd < 0 ? failed(j, "open", err) : 0;
}

/* A new file with what still counts in place of the old one. */
static int renew(struct journal *j, struct err *err)
{
	_cleanup_(buf_done) struct buf all = { 0 };
	int r;

	buf_init(&all);
	put_all(j, &all);
	r = io_write_file(j->path, all.data, all.size, err);
	if (r < 0 || (r = reopen(j, err)) < 0)
		return r;
	j->size = all.size;
	return lseek(j->fd, 0, SEEK_END) < 0 || fdatasync(j->fd) ? failed(j, "write to", err) : 0;
}

void journal_end(struct journal *j, uint64_t batch_id)
{
	_cleanup_(buf_done) struct buf body = { 0 };
	struct err err = { 0 };
	int r;

	buf_init(&body);
	buf_put_varint(&body, BATCH_ENDED);
	buf_put_varint(&body, batch_id);
	pthread_mutex_lock(&j->lock);
	forget_open(j, batch_id);
	r = append(j, &body, false, &err);
	if (r >= 0 && j->size > RENEW_BYTES && j->size / 2 > j->open_bytes + 10 * j->ring_count)
		r = renew(j, &err);
	if (r < 0)
		log_warning("%s", err.text);
	pthread_mutex_unlock(&j->lock);
}

/* --- Life --- */

/* Beside the file, which is replaced from time to time. */
static int lock_file(struct journal *j, struct err *err)
{
	_cleanup_(freep) char *path = xasprintf("%s.lock", j->path);

	j->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (j->lock_fd < 0)
		return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
	if (flock(j->lock_fd, LOCK_EX | LOCK_NB))
		return err_set(err, -EBUSY, "another process collects with '%s'; give each its own state directory", j->path);
	return 0;
}

static int read_file(struct journal *j, struct err *err)
{
	_cleanup_(buf_done) struct buf bytes = { 0 };
	int r;

	buf_init(&bytes);
	r = io_read_file(j->path, &bytes, FILE_MAX, err);
	if (r < 0)
		return r;
	j->size = read_records(j, bytes.data, bytes.size);
	if (j->size < bytes.size)
		log_warning("'%s' ends with %zu bytes that are no whole record: a crash has cut it off", j->path,
			    bytes.size - j->size);
	index_tickets(j);
	if (ftruncate(j->fd, (off_t)j->size) || lseek(j->fd, (off_t)j->size, SEEK_SET) < 0)
		return failed(j, "shorten", err);
	return 0;
}

int journal_open(const char *path, struct journal **ret, struct err *err)
{
	struct journal *j = xcalloc(1, sizeof(*j));
	int r;

	j->path = xstrdup(path);
	j->fd = j->lock_fd = -1;
	pthread_mutex_init(&j->lock, NULL);
	map_init(&j->tickets);
	map_init(&j->seen);
	if ((r = lock_file(j, err)) < 0 || (r = reopen(j, err)) < 0 || (r = read_file(j, err)) < 0) {
		journal_close(j);
		return r;
	}
	*ret = j;
	return 0;
}

struct journal *journal_close(struct journal *j)
{
	if (!j)
		return NULL;
	if (j->fd >= 0)
		close(j->fd);
	if (j->lock_fd >= 0)
		close(j->lock_fd);
	for (size_t i = 0; i < j->open_count; i++)
		free(j->open[i].body);
	pthread_mutex_destroy(&j->lock);
	map_done(&j->tickets);
	map_done(&j->seen);
	free(j->open);
	free(j->old_ids);
	free(j->ring);
	free(j->path);
	free(j);
	return NULL;
}

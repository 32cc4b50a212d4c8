/* journal.c: the file, and its content in memory. */

#include "journal.h"

#include "clock.h"
#include "ledger.h"
#include "lock.h"
#include "log.h"
#include "mem.h"
#include "private_file.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <xxhash.h>

#define RENEW_BYTES	((size_t)8 << 20)	/* a file above this that is mostly over is written anew */

/* A killed Redis may lose its last second of acknowledgements and deliver those entries again. */
#define ENDED_KEPT_NS	(30 * NS_PER_SECOND)

/* Tests do not wait for that. */
static int64_t ended_kept_ns = ENDED_KEPT_NS;

void journal_set_ended_kept(int64_t ns)
{
	ended_kept_ns = ns;
}

enum record_kind { BATCH_BEGUN = 1, RELAY_IDS = 2, BATCH_ENDED = 3 };

/* A batch that has begun, with the content of its record. One that has ended stays for a while. */
struct open_record {
	uint64_t id;
	int64_t ended_ns;		/* monotonic; 0: not yet */
	uint8_t *body;
	size_t size;
};

/* A batch that was in the file when it was opened. */
struct old_batch {
	uint64_t id, source;
	int64_t now_ns;
	bool asked;			/* one of its ack tokens came again */
};

struct journal {
	char *path;
	int lock_fd;
	struct ledger *file;
	size_t open_bytes;
	struct lock lock;
	bool failing;			/* the last end could not be written */

	struct open_record *open;
	size_t open_count, open_capacity;

	/* from before the start: ack tokens to the index of their batch, and which relays' batches each held */
	struct map ack_tokens, held;
	struct old_batch *old;
	size_t old_count, old_capacity;

	/* ids of relays' batches, the oldest is replaced first */
	struct map seen;
	uint64_t *ring;
	size_t ring_count, ring_at;
};

/* --- In memory --- */

static uint64_t ack_token_key(uint64_t source, const struct ack_token *t)
{
	const uint64_t parts[] = { source, t->stream, t->high, t->low };

	return XXH3_64bits(parts, sizeof(parts));
}

static uint64_t source_key(const char *url)
{
	return XXH3_64bits(url, strlen(url));
}

uint64_t journal_batch_of(struct journal *j, const char *source, const struct ack_token *t, int64_t *ret_now_ns)
{
	uint32_t i = j->old_count ? map_get(&j->ack_tokens, ack_token_key(source_key(source), t)) : MAP_NONE;

	if (i == MAP_NONE)
		return 0;
	assert(i < j->old_count);
	j->old[i].asked = true;
	*ret_now_ns = j->old[i].now_ns;
	return j->old[i].id;
}

static uint64_t held_key(uint64_t batch_id, uint64_t relay_id)
{
	const uint64_t parts[] = { batch_id, relay_id };

	return XXH3_64bits(parts, sizeof(parts));
}

bool journal_batch_held(const struct journal *j, uint64_t batch_id, uint64_t relay_id)
{
	return map_get(&j->held, held_key(batch_id, relay_id)) != MAP_NONE;
}

/* A map has no removal: an entry that the ring has overwritten is void. */
static bool remember(struct journal *j, uint64_t id)
{
	uint32_t *slot = map_slot(&j->seen, id);

	assert(*slot == MAP_NONE || *slot < JOURNAL_SEEN);
	if (*slot != MAP_NONE && j->ring[*slot] == id)
		return true;
	if (!j->ring)
		j->ring = xcalloc(JOURNAL_SEEN, sizeof(*j->ring));
	assert(j->ring_at < JOURNAL_SEEN && (j->ring_count == JOURNAL_SEEN || j->ring_at == j->ring_count));
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

	lock_take(&j->lock);
	seen = remember(j, relay_id);
	lock_release(&j->lock);
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

/* `batch` is the one that held them, 0 if that is over. */
static void read_relay_ids(struct journal *j, struct reader *r, uint64_t batch)
{
	uint64_t n = next(r);

	for (uint64_t i = 0; i < n && !r->bad; i++) {
		uint64_t id = next(r);

		if (r->bad)
			break;
		remember(j, id);
		if (batch)
			map_set(&j->held, held_key(batch, id), 1);
	}
}

static void read_ack_tokens(struct journal *j, struct reader *r, uint32_t batch)
{
	uint64_t n;
	struct ack_token t = { 0 };

	assert(batch < j->old_count);
	j->old[batch].source = next(r);
	n = next(r);
	for (uint64_t i = 0; i < n && !r->bad; i++) {
		t.stream = (uint32_t)next(r);
		t.high += (uint64_t)strobe_wire_unzigzag(next(r));
		t.low = next(r);
		if (!r->bad)
			map_set(&j->ack_tokens, ack_token_key(j->old[batch].source, &t), batch);
	}
}

static void remember_open(struct journal *j, uint64_t id, const void *body, size_t n)
{
	GROW(&j->open, &j->open_capacity, j->open_count + 1);
	j->open[j->open_count] = (struct open_record){ .id = id, .body = xmalloc(n), .size = n };
	memcpy(j->open[j->open_count++].body, body, n);
	j->open_bytes += n;
}

static void note_end(struct journal *j, uint64_t id)
{
	for (size_t i = 0; i < j->open_count; i++)
		if (j->open[i].id == id && !j->open[i].ended_ns)
			j->open[i].ended_ns = clock_monotonic_ns();
}

static void forget_ended(struct journal *j)
{
	int64_t before = clock_monotonic_ns() - ended_kept_ns;
	size_t kept = 0;

	for (size_t i = 0; i < j->open_count; i++) {
		struct open_record *o = &j->open[i];

		if (o->ended_ns && o->ended_ns <= before) {
		assert(j->open_bytes >= o->size);
			j->open_bytes -= o->size;
			free(o->body);
		} else {
			j->open[kept++] = *o;
		}
	}
	j->open_count = kept;
}

static void read_begun(struct journal *j, struct reader *r, const uint8_t *body, size_t n)
{
	uint64_t id = next(r);
	int64_t now_ns = (int64_t)next(r);
	uint64_t shares;

	GROW(&j->old, &j->old_capacity, j->old_count + 1);
	j->old[j->old_count++] = (struct old_batch){ .id = id, .now_ns = now_ns };
	read_relay_ids(j, r, id);
	shares = next(r);
	for (uint64_t i = 0; i < shares && !r->bad; i++)
		read_ack_tokens(j, r, (uint32_t)j->old_count - 1);
	remember_open(j, id, body, n);
}

static void read_record(void *data, const uint8_t *body, size_t n)
{
	struct reader r = { body, body + n, false };
	struct journal *j = data;

	switch (next(&r)) {
	case BATCH_BEGUN:
		read_begun(j, &r, body, n);
		break;
	case BATCH_ENDED:
		note_end(j, next(&r));
		break;
	case RELAY_IDS:
		read_relay_ids(j, &r, 0);
		break;
	}
}

/* --- Writing, under the lock --- */

static void put_relay_ids(struct buf *body, const uint64_t *ids, size_t n)
{
	buf_put_varint(body, n);
	for (size_t i = 0; i < n; i++)
		buf_put_varint(body, ids[i]);
}

static void put_ack_tokens(struct buf *body, const struct open_batch_share *s)
{
	uint64_t high = 0;

	buf_put_varint(body, source_key(source_identity(s->source)));
	buf_put_varint(body, s->ack_token_count);
	for (size_t i = 0; i < s->ack_token_count; i++) {
		const struct ack_token *t = &s->ack_tokens[i];

		buf_put_varint(body, t->stream);
		buf_put_varint(body, strobe_wire_zigzag((int64_t)(t->high - high)));
		buf_put_varint(body, t->low);
		high = t->high;
	}
}

static size_t ack_token_shares(const struct open_batch *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->share_count; i++)
		n += b->shares[i].ack_token_count > 0;
	return n;
}

/* Turns any error into a temporary one: the batch is retried until it can be journaled. */
static int try_later(int r)
{
	return r < 0 ? -EIO : r;
}

static int begin(struct journal *j, const struct open_batch *b, struct err *err)
{
	_cleanup_(buf_done) struct buf body = { 0 };
	int r;

	assert(lock_is_held(&j->lock));
	assert(b->batch.id && !b->replayed);		/* a batch that is rebuilt has its record */
	buf_init(&body);
	buf_put_varint(&body, BATCH_BEGUN);
	buf_put_varint(&body, b->batch.id);
	buf_put_varint(&body, (uint64_t)b->now_ns);
	put_relay_ids(&body, b->relay_ids, b->relay_id_count);
	buf_put_varint(&body, ack_token_shares(b));
	for (size_t i = 0; i < b->share_count; i++)
		if (b->shares[i].ack_token_count)
			put_ack_tokens(&body, &b->shares[i]);
	r = ledger_append(j->file, &body, true, err);
	if (r >= 0)
		remember_open(j, b->batch.id, body.data, body.size);
	return r;
}

int journal_begin(struct journal *j, struct open_batch *b, struct err *err)
{
	int r = 0;

	lock_take(&j->lock);
	if (!b->journaled && ack_token_shares(b)) {
		r = try_later(begin(j, b, err));
		b->journaled = r >= 0;
	}
	lock_release(&j->lock);
	return r;
}

static void put_end(struct buf *body, uint64_t id)
{
	buf_put_varint(body, BATCH_ENDED);
	buf_put_varint(body, id);
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
	ledger_put(out, body.data, body.size);
	for (size_t i = 0; i < j->open_count; i++) {
		ledger_put(out, j->open[i].body, j->open[i].size);
		if (!j->open[i].ended_ns)
			continue;
		buf_reset(&body);
		put_end(&body, j->open[i].id);
		ledger_put(out, body.data, body.size);
	}
}

/* Replaces the journal by the notes that still matter. */
static int renew(struct journal *j, struct err *err)
{
	_cleanup_(buf_done) struct buf all = { 0 };

	assert(lock_is_held(&j->lock));
	buf_init(&all);
	put_all(j, &all);
	return ledger_replace(j->file, &all, err);
}

static bool is_mostly_over(const struct journal *j)
{
	size_t size = ledger_size(j->file);

	return size > RENEW_BYTES && size / 2 > j->open_bytes + 10 * j->ring_count;
}

/* An end that is not written costs one question to the sinks after a restart, and nothing else. */
static void end(struct journal *j, uint64_t batch_id)
{
	_cleanup_(buf_done) struct buf body = { 0 };
	struct err err = { 0 };
	bool failing;

	assert(lock_is_held(&j->lock));
	buf_init(&body);
	put_end(&body, batch_id);
	note_end(j, batch_id);
	forget_ended(j);
	failing = ledger_append(j->file, &body, false, &err) < 0 || (is_mostly_over(j) && renew(j, &err) < 0);
	if (failing && !j->failing)
		log_warning("%s", err.text);
	j->failing = failing;
}

void journal_end(struct journal *j, uint64_t batch_id)
{
	lock_take(&j->lock);
	end(j, batch_id);
	lock_release(&j->lock);
}

static bool is_open(const struct journal *j, uint64_t id)
{
	assert(lock_is_held(&j->lock));
	for (size_t i = 0; i < j->open_count; i++)
		if (j->open[i].id == id)
			return !j->open[i].ended_ns;
	return false;
}

void journal_caught_up(struct journal *j, const char *source)
{
	uint64_t key = source_key(source);

	lock_take(&j->lock);
	for (size_t i = 0; i < j->old_count; i++)
		if (j->old[i].source == key && !j->old[i].asked && is_open(j, j->old[i].id))
			end(j, j->old[i].id);
	lock_release(&j->lock);
}

/* --- Life --- */

/* Beside the file, which is replaced from time to time. */
static int lock_file(struct journal *j, struct err *err)
{
	_cleanup_(freep) char *path = xasprintf("%s.lock", j->path);

	int r = private_file_open(path, O_RDWR | O_CREAT, &j->lock_fd, err);

	if (r < 0)
		return r;
	if (flock(j->lock_fd, LOCK_EX | LOCK_NB))
		return err_set(err, -EBUSY, "another process collects with '%s'; give each its own state directory",
			       j->path);
	return 0;
}

static int read_file(struct journal *j, struct err *err)
{
	size_t cut;
	int r = ledger_open(j->path, read_record, j, &cut, &j->file, err);

	if (r >= 0 && cut)
		log_warning("'%s' ended with an incomplete record of %zu bytes, cut off by a crash", j->path, cut);
	return r;
}

int journal_open(const char *path, struct journal **ret, struct err *err)
{
	struct journal *j = xcalloc(1, sizeof(*j));
	int r;

	j->path = xstrdup(path);
	j->lock_fd = -1;
	lock_init(&j->lock);
	map_init(&j->ack_tokens);
	map_init(&j->seen);
	map_init(&j->held);
	if ((r = lock_file(j, err)) < 0 || (r = read_file(j, err)) < 0) {
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
	ledger_close(j->file);
	if (j->lock_fd >= 0)
		close(j->lock_fd);
	for (size_t i = 0; i < j->open_count; i++)
		free(j->open[i].body);
	lock_done(&j->lock);
	map_done(&j->ack_tokens);
	map_done(&j->held);
	map_done(&j->seen);
	free(j->open);
	free(j->old);
	free(j->ring);
	free(j->path);
	free(j);
	return NULL;
}

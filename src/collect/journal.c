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

#define RENEW_BYTES	((size_t)8 << 20)	/* a file above this that is mostly obsolete is rewritten */

/* A killed Redis may lose its last second of acknowledgements and deliver those entries again. */
#define ENDED_KEPT_NS	(30 * NS_PER_SECOND)

/* shorter in tests */
static int64_t ended_kept_ns = ENDED_KEPT_NS;

void journal_set_ended_kept(int64_t ns)
{
	ended_kept_ns = ns;
}

enum record_kind { BATCH_BEGUN = 1, RELAY_IDS = 2, BATCH_ENDED = 3 };

/* A batch in flight, with the content of its record. It is kept for a while after its end. */
struct open_record {
	uint64_t id;
	int64_t ended_ns;		/* monotonic; 0: not yet */
	uint8_t *body;
	size_t size;
};

/* A batch from before the start, or of a collector whose entries were taken over. */
struct old_batch {
	uint64_t id, source;
	int64_t now_ns;
	bool redelivered;			/* one of its ack tokens was redelivered */
};

struct journal {
	char *path;
	int lock_fd;
	struct ledger *file;
	size_t open_bytes;
	struct lock lock;
	bool failing;			/* the last record of an end could not be written */

	struct open_record *open;
	size_t open_count, open_capacity;
	size_t first_open;		/* those before it have ended */
	int64_t forgot_ns;		/* monotonic: when ended ones were last forgotten */

	/* for old batches: from ack token to index of the batch, and the relay batches in each */
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

uint64_t journal_batch_of(struct journal *j, const char *source, const struct ack_token *t, int64_t *ret_now_ns)
{
	uint32_t i = j->old_count ? map_get(&j->ack_tokens, ack_token_key(batch_record_source(source), t)) : MAP_NONE;

	if (i == MAP_NONE)
		return 0;
	assert(i < j->old_count);
	j->old[i].redelivered = true;
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

/* `batch` is the id of the batch that held them, 0 if it has ended. */
static void take_relay_ids(struct journal *j, const uint64_t *ids, size_t n, uint64_t batch)
{
	for (size_t i = 0; i < n; i++) {
		remember(j, ids[i]);
		if (batch)
			map_set(&j->held, held_key(batch, ids[i]), 1);
	}
}

static uint32_t add_old(struct journal *j, const struct batch_record *r, uint64_t source)
{
	GROW(&j->old, &j->old_capacity, j->old_count + 1);
	j->old[j->old_count] = (struct old_batch){ .id = r->id, .source = source, .now_ns = r->now_ns };
	take_relay_ids(j, r->relay_ids, r->relay_id_count, r->id);
	return (uint32_t)j->old_count++;
}

static void take_ack_tokens(struct journal *j, const struct batch_record_share *s, uint64_t source, uint32_t batch)
{
	assert(batch < j->old_count);
	for (size_t i = 0; i < s->ack_token_count; i++)
		map_set(&j->ack_tokens, ack_token_key(source, &s->ack_tokens[i]), batch);
}

static void remember_open(struct journal *j, uint64_t id, const void *body, size_t n)
{
	GROW(&j->open, &j->open_capacity, j->open_count + 1);
	j->open[j->open_count] = (struct open_record){ .id = id, .body = xmalloc(n), .size = n };
	memcpy(j->open[j->open_count++].body, body, n);
	j->open_bytes += n;
}

/* Batches mostly end in the order in which they began, and thousands at once when a sink recovers. */
static void note_end(struct journal *j, uint64_t id)
{
	for (size_t i = j->first_open; i < j->open_count; i++)
		if (j->open[i].id == id && !j->open[i].ended_ns) {
			j->open[i].ended_ns = clock_monotonic_ns();
			break;
		}
	while (j->first_open < j->open_count && j->open[j->first_open].ended_ns)
		j->first_open++;
}

/* Not done at each end, since it examines all records. */
static void forget_ended(struct journal *j)
{
	int64_t now = clock_monotonic_ns(), before = now - ended_kept_ns;
	size_t kept = 0, first_open = 0;

	if (now - j->forgot_ns < NS_PER_SECOND && ended_kept_ns >= NS_PER_SECOND)
		return;
	j->forgot_ns = now;
	for (size_t i = 0; i < j->open_count; i++) {
		struct open_record *o = &j->open[i];

		if (o->ended_ns && o->ended_ns <= before) {
			assert(j->open_bytes >= o->size);
			j->open_bytes -= o->size;
			free(o->body);
		} else {
			first_open += i < j->first_open;
			j->open[kept++] = *o;
		}
	}
	j->open_count = kept;
	j->first_open = first_open;
}

static void read_begun(struct journal *j, struct strobe_wire_cursor *c, const uint8_t *body, size_t n)
{
	struct batch_record r;

	if (batch_record_read(c, &r)) {
		uint32_t batch = add_old(j, &r, r.share_count ? r.shares[r.share_count - 1].source : 0);

		for (size_t i = 0; i < r.share_count; i++)
			take_ack_tokens(j, &r.shares[i], r.shares[i].source, batch);
		remember_open(j, r.id, body, n);
	}
	batch_record_done(&r);
}

static void read_seen(struct journal *j, struct strobe_wire_cursor *c)
{
	uint64_t *ids = NULL;
	size_t n = 0;

	if (batch_record_read_ids(c, &ids, &n))
		take_relay_ids(j, ids, n, 0);
	free(ids);
}

static void read_record(void *data, const uint8_t *body, size_t n)
{
	struct strobe_wire_cursor c = { body, body + n };
	struct journal *j = data;
	uint64_t kind, id;

	if (!strobe_wire_get_varint(&c, &kind))
		return;
	if (kind == BATCH_BEGUN)
		read_begun(j, &c, body, n);
	else if (kind == BATCH_ENDED && strobe_wire_get_varint(&c, &id))
		note_end(j, id);
	else if (kind == RELAY_IDS)
		read_seen(j, &c);
}

static bool is_old(const struct journal *j, uint64_t id)
{
	for (size_t i = 0; i < j->old_count; i++)
		if (j->old[i].id == id)
			return true;
	return false;
}

void journal_adopt(struct journal *j, const char *source, const struct batch_record *r)
{
	uint64_t key = batch_record_source(source);
	uint32_t batch;

	if (is_old(j, r->id))
		return;
	lock_take(&j->lock);		/* guards the relay ids, which sink threads look up */
	batch = add_old(j, r, key);
	lock_release(&j->lock);
	for (size_t i = 0; i < r->share_count; i++)
		take_ack_tokens(j, &r->shares[i], key, batch);
}

/* --- Writing, under the lock --- */

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
	assert(b->batch.id && !b->replayed);		/* a rebuilt batch has a record already */
	buf_init(&body);
	buf_put_varint(&body, BATCH_BEGUN);
	batch_record_put(&body, b);
	r = ledger_append(j->file, &body, true, err);
	if (r >= 0)
		remember_open(j, b->batch.id, body.data, body.size);
	return r;
}

int journal_begin(struct journal *j, struct open_batch *b, struct err *err)
{
	int r = 0;

	lock_take(&j->lock);
	if (!b->journaled && batch_record_is_needed(b)) {
		r = try_later(begin(j, b, err));
		b->journaled = r >= 0;
	}
	lock_release(&j->lock);
	return r;
}

uint64_t *journal_open_ids(struct journal *j, size_t *ret_count)
{
	uint64_t *ids;

	lock_take(&j->lock);
	ids = xcalloc(j->open_count + 1, sizeof(*ids));
	for (size_t i = 0; i < j->open_count; i++)
		ids[i] = j->open[i].id;
	*ret_count = j->open_count;
	lock_release(&j->lock);
	return ids;
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

/* Replaces the journal by the records that are still needed. */
static int compact(struct journal *j, struct err *err)
{
	_cleanup_(buf_done) struct buf all = { 0 };

	assert(lock_is_held(&j->lock));
	buf_init(&all);
	put_all(j, &all);
	return ledger_replace(j->file, &all, err);
}

static bool is_mostly_ended(const struct journal *j)
{
	size_t size = ledger_size(j->file);

	return size > RENEW_BYTES && size / 2 > j->open_bytes + 10 * j->ring_count;
}

/* If the end is not written, sinks are asked once more after a restart, which is harmless. */
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
	failing = ledger_append(j->file, &body, false, &err) < 0 || (is_mostly_ended(j) && compact(j, &err) < 0);
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
	uint64_t key = batch_record_source(source);

	lock_take(&j->lock);
	for (size_t i = 0; i < j->old_count; i++)
		if (j->old[i].source == key && !j->old[i].redelivered && is_open(j, j->old[i].id))
			end(j, j->old[i].id);
	lock_release(&j->lock);
}

/* --- Lifecycle --- */

/* Locks a file beside the journal, since the journal itself gets replaced. */
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

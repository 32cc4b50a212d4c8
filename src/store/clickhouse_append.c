/* clickhouse_append.c: a batch into the tables, so that it counts once.
 *
 * Dictionaries come first; sending them again is harmless. Then each piece (the samples of one shard and day, or a
 * part of them) is inserted as one block, which is one part of one partition: it is stored completely or not at all.
 * Each piece includes a marker row, which records that it is stored: kind 0, the batch's id as the stack, the number
 * of the piece as the series, and its first and last bucket.
 *
 * Whether a piece is stored is queried before anything is sent, and once more by the insert itself, which inserts
 * nothing if there is a marker. The query id of the insert is derived from the same names, and ClickHouse runs only
 * one query per id at a time. So it does not matter whether an earlier insert without a response was lost, has
 * finished, is running, or is still in transit. */
#include "clickhouse_ask.h"
#include "clickhouse_batch.h"
#include "clickhouse_cluster.h"
#include "clickhouse_wire.h"
#include "clock.h"
#include "log.h"
#include "mem.h"
#include "saturate.h"
#include <assert.h>
#include <string.h>
#include <sys/random.h>

static const char structure[] =
	"day Date, kind UInt64, stack UInt64, series UInt64, bucket UInt16, value Int64";

/* --- Stored pieces --- */

static void note_stored(struct clickhouse_rows *rows, unsigned shard, uint32_t day, uint64_t number)
{
	for (size_t i = 0; i < rows->piece_count; i++)
		if (rows->pieces[i].shard == shard && rows->pieces[i].day == day && rows->pieces[i].number == number)
			rows->pieces[i].stored = true;
}

static bool put_days(const struct clickhouse_rows *rows, unsigned shard, struct buf *sql)
{
	bool any = false;

	for (size_t i = 0; i < rows->piece_count; i++) {
		if (rows->pieces[i].shard != shard)
			continue;
		buf_printf(sql, "%stoDate(%u)", any ? ", " : "", rows->pieces[i].day);
		any = true;
	}
	return any;
}

static int find_stored(struct clickhouse_store *s, unsigned shard, uint64_t id, struct clickhouse_rows *rows,
		       struct err *err)
{
	_cleanup_(buf_done) struct buf sql = { 0 }, answer = { 0 };
	struct row_reader r;
	int rc;

	buf_init(&sql);
	buf_init(&answer);
	buf_puts(&sql, "SELECT day, series FROM samples WHERE day IN (");
	if (!put_days(rows, shard, &sql))
		return 0;
	buf_printf(&sql, ") AND kind = 0 AND stack = %llu FORMAT RowBinary", (unsigned long long)id);
	rc = clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql.data }, &answer, err);
	if (rc < 0)
		return rc;
	for (r = row_reader_of(&answer); row_more(&r); ) {
		uint32_t day = (uint32_t)row_get(&r, 2);

		note_stored(rows, shard, day, row_get(&r, 8));
	}
	return 0;
}

/* --- Sending --- */

static int send_dictionaries(struct clickhouse_store *s, unsigned shard, const struct clickhouse_rows *rows,
			     struct err *err)
{
	for (int i = 0; i < CLICKHOUSE_DICTIONARIES; i++) {
		const struct buf *b = &rows->dictionaries[shard * CLICKHOUSE_DICTIONARIES + (unsigned)i];
		_cleanup_(freep) char *sql = xasprintf("INSERT INTO %s FORMAT RowBinary", clickhouse_dictionary_names[i]);
		int rc = b->size ? clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql, .rows = b, .writes = true },
						  NULL, err) : 0;

		if (rc < 0)
			return rc;
	}
	return 0;
}

static void put_marker(struct clickhouse_piece *p, uint64_t id)
{
	assert(p->day < CLICKHOUSE_DAYS);		/* check_days() has refused later ones */
	row_put(&p->bytes, p->day, 2);
	row_put(&p->bytes, 0, 8);
	row_put(&p->bytes, id, 8);
	row_put(&p->bytes, p->number, 8);
	row_put(&p->bytes, p->first, 2);
	row_put(&p->bytes, p->last, 8);
}

static int send_piece(struct clickhouse_store *s, struct clickhouse_piece *p, uint64_t id, struct err *err)
{
	_cleanup_(freep) char *query_id = xasprintf("strobe-%s-%llx-%u-%u", s->url.database, (unsigned long long)id, p->day, p->number);
	_cleanup_(freep) char *sql = xasprintf(
		"INSERT INTO samples SELECT day, kind, stack, series, bucket, value FROM given WHERE (SELECT count() FROM samples"
		" WHERE day = toDate(%u) AND kind = 0 AND stack = %llu AND series = %u) = 0", p->day, (unsigned long long)id,
		p->number);
	struct clickhouse_request r = {
		.sql = sql, .query_id = query_id, .table = structure, .rows = &p->bytes, .writes = true,
	};

	assert(!p->stored);
	assert(p->rows <= CLICKHOUSE_PIECE_ROWS && p->first <= p->last);
	put_marker(p, id);
	return clickhouse_ask(s, p->shard, &r, NULL, err);
}

/* Returns the number of pieces sent. */
static int send_to_shard(struct clickhouse_store *s, unsigned shard, uint64_t id, struct clickhouse_rows *rows,
			 struct err *err)
{
	int rc = send_dictionaries(s, shard, rows, err), sent = 0;

	for (size_t i = 0; rc >= 0 && i < rows->piece_count; i++) {
		struct clickhouse_piece *p = &rows->pieces[i];

		if (p->shard != shard || p->stored)
			continue;
		rc = send_piece(s, p, id, err);
		sent++;
	}
	return rc < 0 ? rc : sent;
}

static int send_all(struct clickhouse_store *s, const struct batch *b, uint64_t id, struct clickhouse_rows *rows,
		    struct err *err)
{
	int rc = 0, sent = 0;

	assert(lock_is_held(&s->writer));		/* two appends of one id would both find nothing stored */
	for (unsigned i = 0; rc >= 0 && b->id && i < rows->shards; i++)
		rc = find_stored(s, i, id, rows, err);
	for (unsigned i = 0; rc >= 0 && i < rows->shards; i++) {
		rc = send_to_shard(s, i, id, rows, err);
		sent += rc > 0 ? rc : 0;
	}
	for (unsigned i = 0; rc >= 0 && i < rows->shards; i++)
		rc = clickhouse_check_committed(s, i, "samples", err);
	return rc < 0 ? rc : sent;
}

/* --- A batch --- */

static int check_days(const struct batch *b, struct err *err)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->entries[i].bucket_ns / NS_PER_DAY >= CLICKHOUSE_DAYS)
			return err_set(err, -EINVAL, "cannot store a batch: its time is after 2149, where the dates of ClickHouse end");
	return 0;
}

/* Batches that are never redelivered have a marker, too: the range of the store is computed from all markers. */
static uint64_t id_of(const struct batch *b)
{
	uint64_t id = b->id;

	if (!id && getrandom(&id, sizeof(id), GRND_NONBLOCK) != sizeof(id))
		id = (uint64_t)clock_wall_ns() * 0x9e3779b97f4a7c15u;
	return id;
}

/* Returns whether any day is missing from the statistics. */
static bool count(struct clickhouse_store *s, const struct clickhouse_rows *rows, int sent, int64_t took_ns)
{
	struct store_stats *t = &s->stats;
	bool is_new = false;

	assert(sent >= 0 && (size_t)sent <= rows->piece_count);
	lock_take(&s->lock);
	t->deduplicated_batches += !sent && rows->piece_count;
	t->batches += sent > 0;
	t->commits += sent > 0;
	t->commit_ns_total += (uint64_t)took_ns;
	t->commit_ns_max = (uint64_t)took_ns > t->commit_ns_max ? (uint64_t)took_ns : t->commit_ns_max;
	for (size_t i = 0; i < rows->piece_count; i++) {
		const struct clickhouse_piece *p = &rows->pieces[i];
		int64_t first = p->day * NS_PER_DAY + p->first * BATCH_BUCKET_NS;
		int64_t last = p->day * NS_PER_DAY + (p->last + 1) * BATCH_BUCKET_NS;

		if (p->stored)
			continue;
		saturating_count(&t->samples_stored, p->samples);
		is_new |= !t->days || first / NS_PER_DAY < t->oldest_ns / NS_PER_DAY || p->day > (t->newest_ns - 1) / NS_PER_DAY;
		t->oldest_ns = !t->oldest_ns || first < t->oldest_ns ? first : t->oldest_ns;
		t->newest_ns = last > t->newest_ns ? last : t->newest_ns;
	}
	lock_release(&s->lock);
	return is_new;
}

static void count_error(struct clickhouse_store *s)
{
	lock_take(&s->lock);
	s->stats.errors++;
	lock_release(&s->lock);
}

static void warn_of_collisions(const struct clickhouse_rows *rows)
{
	if (rows->collisions)
		log_warning("%llu hash collisions of stacks, frames or series; their samples are attributed to the "
			    "existing entry",
			    (unsigned long long)rows->collisions);
}

static int append(struct clickhouse_store *s, const struct batch *b, struct clickhouse_rows *rows, struct err *err)
{
	int rc;

	lock_take(&s->writer);
	clickhouse_known_bound(s->known, clock_monotonic_ns());
	clickhouse_rows_of(b, s->url.server_count, s->known, rows);
	warn_of_collisions(rows);
	rc = send_all(s, b, id_of(b), rows, err);
	if (rc < 0)
		clickhouse_known_forget(s->known);
	lock_release(&s->writer);
	return rc;
}

int clickhouse_append(struct store *store, const struct batch *b, struct err *err)
{
	struct clickhouse_store *s = clickhouse_of(store);
	int64_t started_ns = clock_monotonic_ns();
	struct clickhouse_rows rows = { 0 };
	int rc = check_days(b, err);

	if (s->mode != CLICKHOUSE_WRITE)
		return err_set(err, -EROFS, "the store was opened for %s only", s->mode == CLICKHOUSE_READ ? "reading" : "adding runs");
	if (rc >= 0)
		rc = clickhouse_prepare(s, err);
	if (rc >= 0)
		rc = append(s, b, &rows, err);
	if (rc < 0) {
		count_error(s);
		clickhouse_check_soon(s); /* a server may have been away for its upgrade */
	} else if (count(s, &rows, rc, clock_monotonic_ns() - started_ns)) {
		clickhouse_measure(s, NULL);
	}
	clickhouse_rows_done(&rows);
	return rc < 0 ? rc : 0;
}

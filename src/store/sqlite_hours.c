/* sqlite_hours.c: evicts the oldest hours of the day being written, if that day alone is too large: whole hours, and
 * finally the beginning of the newest one. */
#include "chunk.h"
#include "clock.h"
#include "mem.h"
#include "sqlite_error.h"
#include "sqlite_store.h"
#include "stack_tree.h"

#include <assert.h>

#define KEPT_BUCKETS	6u	/* the newest minute always stays */
#define VACUUM_PAGES	1024u
#define STACKS_SHARE	4	/* freeing stacks reads all samples, so it waits until a quarter of the file may go */

static uint64_t pages(struct day *d, const char *pragma)
{
	int64_t n = day_number(d, pragma, 0);

	return n > 0 ? (uint64_t)n : 0;
}

/* Returns the bytes in use, regardless of the current size of the file. */
static uint64_t used_bytes(struct day *d)
{
	uint64_t all = pages(d, "PRAGMA page_count"), unused = pages(d, "PRAGMA freelist_count");

	return (all - (unused < all ? unused : all)) * pages(d, "PRAGMA page_size");
}

static uint64_t stacks_bytes(struct day *d)
{
	uint64_t lines = stack_tree_has_lines(d->db, d->path, NULL) > 0 ?
			 pages(d, "SELECT ifnull(sum(length(data)), 0) FROM line_block") : 0;

	return lines + pages(d, "SELECT (SELECT ifnull(sum(length(data)), 0) FROM frame_block) + "
				"(SELECT ifnull(sum(length(data)), 0) FROM node_block) + "
				"(SELECT ifnull(sum(length(labels)), 0) FROM series)");
}

/* --- Removing samples --- */

/* Reads a chunk of the day, leaving out samples before bucket `from` of its hour. */
static void read_rest(struct day *d, sqlite3_stmt *row, unsigned from, struct chunk_rows *rows, struct buf *scratch)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	const void *data = sqlite3_column_blob(row, 1);
	struct series series = { 0 };
	int64_t values[PROFILE_COLUMNS];
	struct chunk_reader r;
	unsigned bucket;
	uint32_t stack;

	if (day_prepare(d, "SELECT labels, clock, period_ns, columns FROM series WHERE id = ?", &s, NULL) < 0)
		return;
	sqlite3_bind_int64(s, 1, sqlite3_column_int64(row, 0) & (DAY_SERIES - 1));
	if (sqlite3_step(s) == SQLITE_ROW && series_of_row(s, 0, &series) >= 0)
		series_done(&series);
	if (!series.column_count ||
	    chunk_open(&r, data, (size_t)sqlite3_column_bytes(row, 1), series.column_count, scratch) < 0)
		return;
	chunk_rows_reset(rows, series.column_count);
	while (chunk_next(&r, &stack, &bucket, values) > 0)
		if (bucket >= from)
			chunk_rows_add(rows, stack, bucket, values);
}

/* Removes older samples from the compacted chunks of the hour that contains bucket `before` of the day. */
static int cut_chunks(struct day *d, unsigned before, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *row = NULL, *put = NULL;
	struct chunk_rows rows;
	struct buf scratch, out;
	int rc = day_prepare(d, "SELECT id, data FROM chunk WHERE id > ? AND id < ? ORDER BY id LIMIT 1", &row, err);

	if (rc >= 0)
		rc = day_prepare(d, "INSERT OR REPLACE INTO chunk VALUES(?, ?)", &put, err);
	if (rc < 0)
		return rc;
	chunk_rows_init(&rows);
	buf_init(&scratch);
	buf_init(&out);
	sqlite3_bind_int64(row, 1, chunk_id(before / CHUNK_BUCKETS, 0));
	sqlite3_bind_int64(row, 2, chunk_id(before / CHUNK_BUCKETS + 1, 0));
	while (rc >= 0 && (rc = sqlite3_step(row)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(row, 0);

		buf_reset(&out);
		chunk_rows_reset(&rows, 1);
		read_rest(d, row, before % CHUNK_BUCKETS, &rows, &scratch);
		sqlite3_reset(row);
		sqlite3_bind_int64(row, 1, id);
		sqlite3_reset(put);
		sqlite3_bind_int64(put, 1, id);
		if (chunk_encode(&rows, &out)) {
			sqlite3_bind_blob64(put, 2, out.data, out.size, SQLITE_STATIC);
			rc = sqlite3_step(put);
		} else {
			_cleanup_(freep) char *sql = xasprintf("DELETE FROM chunk WHERE id = %lld", (long long)id);

			rc = day_exec(d, sql, "remove hours of", err) < 0 ? SQLITE_ERROR : SQLITE_DONE;
		}
		if (rc != SQLITE_DONE)
			break;
	}
	rc = rc == SQLITE_DONE ? 0 : sqlite_failed(d->db, "remove hours of", d->path, err);
	chunk_rows_done(&rows);
	buf_done(&scratch);
	buf_done(&out);
	return rc;
}

/* Removes everything before bucket `before` of the day. */
static int drop_before(struct day *d, unsigned before, struct err *err)
{
	_cleanup_(freep) char *sql =
		xasprintf("DELETE FROM chunk WHERE id < %lld; DELETE FROM recent WHERE bucket < %u",
			  (long long)chunk_id(before / CHUNK_BUCKETS, 0), before);
	int rc;

	assert(before <= DAY_BUCKETS && sqlite3_get_autocommit(d->db));
	rc = day_exec(d, "BEGIN IMMEDIATE", "remove hours of", err);

	if (rc >= 0)
		rc = day_exec(d, sql, "remove hours of", err);
	if (rc >= 0 && before % CHUNK_BUCKETS)
		rc = cut_chunks(d, before, err);
	if (rc >= 0)
		rc = day_exec(d, "COMMIT", "remove hours of", err);
	if (rc < 0 && !sqlite3_get_autocommit(d->db))
		sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

/* Returns the bucket before which samples are removed next: the oldest hour, or an eighth of the only one. 0 if all
 * must stay. */
static unsigned next_cut(unsigned first, unsigned end)
{
	unsigned next_hour = (first / CHUNK_BUCKETS + 1) * CHUNK_BUCKETS;

	assert(first < end && end <= DAY_BUCKETS);
	if (next_hour < end)
		return next_hour;
	if (end - first <= KEPT_BUCKETS)
		return 0;
	return end - first <= 2 * KEPT_BUCKETS ? end - KEPT_BUCKETS : first + (end - first) / 8 + 1;
}

/* --- Making a day smaller --- */

struct shrink {
	struct sqlite_store *store;
	int64_t number;
	uint64_t keep;			/* bytes */
	unsigned hours, buckets;	/* removed: complete hours, and buckets of the newest one */
	bool swept;			/* nothing was removed since stacks were last freed */
};

enum step { DONE, SWEEP, AGAIN };

/* Performs one removal, so that a waiting append gets its turn before the next. Returns what to do next. */
static int remove_oldest(struct shrink *k, struct day *d, struct err *err)
{
	unsigned first, end, before;
	int rc;

	assert(lock_is_held(&k->store->writer));
	if (used_bytes(d) <= k->keep)
		return DONE;
	before = day_extent(d, &first, &end) ? next_cut(first, end) : 0;
	if (!k->swept && (!before || stacks_bytes(d) > used_bytes(d) / STACKS_SHARE))
		return SWEEP;
	if (!before)
		return DONE;
	assert(before > first && before < end);		/* something is removed, and something stays */
	rc = drop_before(d, before, err);
	if (rc < 0)
		return rc;
	if (before % CHUNK_BUCKETS)
		k->buckets += before - first;
	else
		k->hours++;
	k->swept = false;
	return AGAIN;
}

/* Stacks are also freed before any sample is removed: earlier removals may have left some. */
static int shrink(struct shrink *k, struct err *err)
{
	struct day *d;
	int rc;

	do {
		lock_take(&k->store->writer);
		rc = sqlite_store_day(k->store, k->number, &d, err);
		if (rc >= 0)
			rc = remove_oldest(k, d, err);
		lock_release(&k->store->writer);
		if (rc == SWEEP) {
			rc = sqlite_store_sweep(k->store, k->number, err);
			k->swept = true;
			rc = rc < 0 ? rc : AGAIN;
		}
	} while (rc == AGAIN);
	return rc;
}

/* Returns free pages to the file system a few at a time, so that commits get their turn. The next maintenance retries
 * after a failure. */
static int return_space(struct shrink *k, struct err *err)
{
	_cleanup_(freep) char *some = xasprintf("PRAGMA incremental_vacuum(%u)", VACUUM_PAGES);
	uint64_t before = UINT64_MAX, left = UINT64_MAX - 1;
	struct day *d;
	int rc = 0;

	while (rc >= 0 && left && left < before) {
		before = left;
		lock_take(&k->store->writer);
		rc = sqlite_store_day(k->store, k->number, &d, err);
		if (rc >= 0)
			rc = day_exec(d, some, "remove hours of", err);
		if (rc >= 0)
			left = pages(d, "PRAGMA freelist_count");
		if (rc >= 0 && (!left || left >= before))
			rc = day_release_space(d, left, "remove hours of", err);
		lock_release(&k->store->writer);
	}
	return rc;
}

int sqlite_store_shrink_day(struct sqlite_store *s, int64_t number, uint64_t keep, struct sqlite_store_shrunk *ret,
			    struct err *err)
{
	struct shrink k = { .store = s, .number = number, .keep = keep };
	int rc = shrink(&k, err), rc2 = return_space(&k, rc < 0 ? NULL : err);
	uint64_t seconds = k.buckets * (BATCH_BUCKET_NS / NS_PER_SECOND);

	ret->hours += k.hours;
	ret->seconds += seconds;
	lock_take(&s->counting);
	s->stats.hours_evicted += k.hours;
	s->stats.partial_hour_evicted_seconds += seconds;
	lock_release(&s->counting);
	return rc < 0 ? rc : rc2;
}

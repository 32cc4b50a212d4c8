/* sqlite_compact.c: merges the many small chunks of past hours into one per series.
 *
 * Commits leave some hundred thousand chunks per hour, each with a handful of samples. Merged and sorted they take a
 * quarter of the space, and a query reads them in a tenth of the time. Late samples are in `recent` like any others,
 * and only their series are rewritten. */
#include "chunk.h"
#include "pending_chunks.h"
#include "clock.h"
#include "log.h"
#include "mem.h"
#include "pack.h"
#include "sqlite_error.h"
#include "sqlite_store.h"
#include <assert.h>
#include <string.h>
#include <sys/stat.h>

#define NS_PER_HOUR	(CHUNK_BUCKETS * BATCH_BUCKET_NS)
#define GRACE_NS	(60 * NS_PER_SECOND)	/* late samples, such as from a long request, still arrive by then */
#define BLOCK_BYTES	((size_t)1 << 20)	/* blocks of stacks are merged up to this size, unpacked */
#define BATCH_IDS_NS	(2 * NS_PER_DAY)	/* how long ids are kept of batches that the collector no longer knows */
#define FREE_SHARE	4			/* free pages when a quarter of the file is unused */

static int step(struct day *d, sqlite3_stmt *s, struct err *err)
{
	if (sqlite3_step(s) != SQLITE_DONE)
		return sqlite_failed(d->db, "compact", d->path, err);
	sqlite3_reset(s);
	return 0;
}

/* Runs `work` in a transaction. */
static int in_transaction(struct day *d,
			  int (*work)(struct sqlite_store *s, struct day *d, unsigned hour, struct err *err),
			  struct sqlite_store *s, unsigned hour, struct err *err)
{
	int rc;

	assert(sqlite3_get_autocommit(d->db));
	rc = day_exec(d, "BEGIN IMMEDIATE", "compact", err);
	if (rc >= 0)
		rc = work(s, d, hour, err);
	if (rc >= 0)
		rc = day_exec(d, "COMMIT", "compact", err);
	if (rc < 0 && !sqlite3_get_autocommit(d->db))
		sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

/* --- One hour --- */

int64_t sqlite_compact_bytes = (int64_t)64 << 20;

struct merge {
	struct sqlite_store *store;
	struct day *day;
	unsigned hour;
	sqlite3_stmt *recent, *find, *replace, *columns;
	int64_t pass, passes;
	struct pending_chunks pile;			/* the recent chunks of the pass, by series */
	struct chunk_rows rows;
	struct buf data, scratch;
	uint64_t damaged;
};

static int prepare(struct merge *m, struct err *err)
{
	int rc = day_prepare(m->day, "SELECT series, data FROM recent WHERE bucket >= ? AND bucket < ?", &m->recent, err);

	if (rc >= 0)
		rc = day_prepare(m->day, "SELECT data FROM chunk WHERE id = ?", &m->find, err);
	if (rc >= 0)
		rc = day_prepare(m->day, "INSERT OR REPLACE INTO chunk VALUES(?, ?)", &m->replace, err);
	if (rc >= 0)
		rc = day_prepare(m->day, "SELECT labels, clock, period_ns, columns FROM series WHERE id = ?",
				 &m->columns, err);
	if (rc < 0)
		return rc;
	sqlite3_bind_int64(m->recent, 1, m->hour * CHUNK_BUCKETS);
	sqlite3_bind_int64(m->recent, 2, (m->hour + 1) * CHUNK_BUCKETS);
	return 0;
}

/* Returns the number of columns of a series' chunks; 0 if the series does not exist. */
static uint32_t column_count(struct merge *m, int64_t series)
{
	uint32_t count = 0;

	sqlite3_bind_int64(m->columns, 1, series);
	if (sqlite3_step(m->columns) == SQLITE_ROW) {
		struct series s;

		if (series_of_row(m->columns, 0, &s) >= 0) {
			count = s.column_count;
			series_done(&s);
		}
	}
	sqlite3_reset(m->columns);
	return count;
}

static void add_bundle_to_pile(struct merge *m)
{
	struct bundle_reader bundle;
	struct str chunk;
	int64_t series;
	int rc;

	bundle_of_row(&bundle, m->recent, 0);
	while ((rc = bundle_next(&bundle, &series, &chunk)) > 0) {
		size_t start = m->pile.bytes.size;

		if (series < 1 || series >= DAY_SERIES || !chunk.n) {
			m->damaged += m->pass == 0;
			continue;
		}
		if (series % m->passes != m->pass)
			continue;
		buf_put(&m->pile.bytes, chunk.p, chunk.n);
		pending_chunks_add(&m->pile, (uint64_t)series, start);
	}
	m->damaged += rc < 0 && m->pass == 0;
}

static int add_recent_to_pile(struct merge *m, struct err *err)
{
	int rc;

	pending_chunks_clear(&m->pile);
	while ((rc = sqlite3_step(m->recent)) == SQLITE_ROW)
		add_bundle_to_pile(m);
	sqlite3_reset(m->recent);
	if (rc != SQLITE_DONE)
		return sqlite_failed(m->day->db, "compact", m->day->path, err);
	pending_chunks_sort(&m->pile);
	return 0;
}

static void add_chunk(struct merge *m, const void *data, size_t size)
{
	if (chunk_rows_add_chunk(&m->rows, data, size, &m->scratch) < 0)
		m->damaged++;
}

/* Merges `count` recent chunks, all of one series, with the series' chunk of this hour. */
static int merge_series(struct merge *m, const struct pending_chunk *chunks, size_t count, struct err *err)
{
	int64_t series = (int64_t)chunks->key;
	uint32_t columns = column_count(m, series);
	struct str compacted;
	int rc;

	if (!columns) {
		m->damaged += count;
		return 0;
	}
	chunk_rows_reset(&m->rows, columns);
	for (size_t i = 0; i < count; i++)
		add_chunk(m, m->pile.bytes.data + chunks[i].start, chunks[i].size);

	sqlite3_bind_int64(m->find, 1, chunk_id(m->hour, (uint32_t)series));
	rc = sqlite3_step(m->find);
	if (rc == SQLITE_ROW) {
		compacted = day_bytes(m->find, 0);
		add_chunk(m, compacted.p, compacted.n);
	}
	sqlite3_reset(m->find);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return sqlite_failed(m->day->db, "compact", m->day->path, err);

	buf_reset(&m->data);
	assert(m->rows.columns == columns);
	if (!chunk_encode(&m->rows, &m->data))
		return 0;
	sqlite3_bind_int64(m->replace, 1, chunk_id(m->hour, (uint32_t)series));
	sqlite3_bind_blob64(m->replace, 2, m->data.data, m->data.size, SQLITE_STATIC);
	return step(m->day, m->replace, err);
}

static int merge_pile(struct merge *m, struct err *err)
{
	const struct pending_chunk *chunks = m->pile.chunks, *end = chunks + m->pile.count;
	int rc = 0;

	while (rc >= 0 && chunks < end) {
		size_t count = 1;

		while (chunks + count < end && chunks[count].key == chunks->key)
			count++;
		rc = merge_series(m, chunks, count, err);
		chunks += count;
	}
	return rc;
}

static int merge_all(struct merge *m, struct err *err)
{
	unsigned first = m->hour * CHUNK_BUCKETS, end = first + CHUNK_BUCKETS;
	_cleanup_(freep) char *delete = xasprintf("DELETE FROM recent WHERE bucket >= %u AND bucket < %u", first, end);
	_cleanup_(freep) char *size = xasprintf("SELECT SUM(LENGTH(data)) FROM recent WHERE bucket >= %u AND bucket < %u", first, end);
	int rc = prepare(m, err);

	m->passes = 1 + day_number(m->day, size, 0) / sqlite_compact_bytes;
	for (m->pass = 0; rc >= 0 && m->pass < m->passes; m->pass++) {
		rc = add_recent_to_pile(m, err);
		if (rc >= 0)
			rc = merge_pile(m, err);
	}
	return rc < 0 ? rc : day_exec(m->day, delete, "compact", err);
}

static int compact_hour(struct sqlite_store *s, struct day *d, unsigned hour, struct err *err)
{
	struct merge m = { .store = s, .day = d, .hour = hour };
	int rc;

	assert(hour < 24);
	pending_chunks_init(&m.pile);
	chunk_rows_init(&m.rows);
	buf_init(&m.data);
	buf_init(&m.scratch);
	rc = merge_all(&m, err);
	sqlite3_finalize(m.recent);
	sqlite3_finalize(m.find);
	sqlite3_finalize(m.replace);
	sqlite3_finalize(m.columns);
	pending_chunks_done(&m.pile);
	chunk_rows_done(&m.rows);
	buf_done(&m.data);
	buf_done(&m.scratch);
	if (m.damaged) {
		log_warning("'%s': %llu damaged chunks of hour %u were left out", d->path,
			    (unsigned long long)m.damaged, hour);
		sqlite_store_count_error(s);
	}
	return rc;
}

/* --- Blocks of stacks --- */

/* Replaces the blocks from `first` to `last` (inclusive) by the one in `plain`. */
static int replace_blocks(struct day *d, const char *table, int64_t first, int64_t last, const struct buf *plain,
			  struct err *err)
{
	_cleanup_(freep) char *delete = xasprintf("DELETE FROM %s WHERE first >= %lld AND first <= %lld", table,
						  (long long)first, (long long)last);
	_cleanup_(freep) char *insert = xasprintf("INSERT INTO %s VALUES(?, ?)", table);
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	_cleanup_(buf_done) struct buf packed = { 0 };
	int rc = day_exec(d, delete, "compact", err);

	if (rc >= 0)
		rc = day_prepare(d, insert, &s, err);
	if (rc < 0)
		return rc;
	buf_init(&packed);
	pack_put(&packed, plain->data, plain->size);
	sqlite3_bind_int64(s, 1, first);
	sqlite3_bind_blob64(s, 2, packed.data, packed.size, SQLITE_STATIC);
	return step(d, s, err);
}

/* Records do not contain their number, so adjacent blocks are merged by joining their bytes. */
static int merge_blocks(struct day *d, const char *table, struct err *err)
{
	_cleanup_(freep) char *sql = xasprintf("SELECT first, data FROM %s WHERE first >= ? ORDER BY first", table);
	_cleanup_(buf_done) struct buf plain = { 0 }, scratch = { 0 };
	int64_t next = 0;

	buf_init(&plain);
	buf_init(&scratch);
	for (;;) {
		_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
		int64_t first = -1, last = -1;
		unsigned blocks = 0;
		int rc = day_prepare(d, sql, &s, err);

		if (rc < 0)
			return rc;
		buf_reset(&plain);
		sqlite3_bind_int64(s, 1, next);
		while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
			const void *data = sqlite3_column_blob(s, 1);
			const uint8_t *bytes;
			size_t n;

			if (pack_get(data, (size_t)sqlite3_column_bytes(s, 1), &scratch, &bytes, &n) < 0)
				return err_set(err, -EBADMSG, "cannot compact '%s': a block of stacks is damaged",
					       d->path);
			if (blocks && plain.size + n > BLOCK_BYTES)
				break;
			buf_put(&plain, bytes, n);
			first = blocks ? first : sqlite3_column_int64(s, 0);
			last = sqlite3_column_int64(s, 0);
			blocks++;
		}
		if (rc != SQLITE_ROW && rc != SQLITE_DONE)
			return sqlite_failed(d->db, "compact", d->path, err);
		sqlite3_reset(s);
		if (blocks > 1) {
			int rc2 = replace_blocks(d, table, first, last, &plain, err);

			if (rc2 < 0)
				return rc2;
		}
		if (rc == SQLITE_DONE)
			return 0;
		next = last + 1;
	}
}

static int compact_stacks(struct sqlite_store *s, struct day *d, unsigned hour, struct err *err)
{
	int rc = merge_blocks(d, "frame_block", err);

	if (rc >= 0)
		rc = merge_blocks(d, "node_block", err);
	if (rc >= 0)
		rc = stack_tree_has_lines(d->db, d->path, err);
	return rc <= 0 ? rc : merge_blocks(d, "line_block", err);
}

/* --- One day --- */

/* Hours that have recent rows, as bits. */
static uint32_t hours_with_recent(struct day *d)
{
	_cleanup_(freep) char *sql = xasprintf("SELECT DISTINCT bucket / %u FROM recent", CHUNK_BUCKETS);
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	uint32_t hours = 0;

	if (day_prepare(d, sql, &s, NULL) < 0)
		return 0;
	while (sqlite3_step(s) == SQLITE_ROW) {
		int64_t hour = sqlite3_column_int64(s, 0);

		if (hour >= 0 && hour < 24)
			hours |= 1u << hour;
	}
	return hours;
}

/* Returns when the day was last written, by the file's time; the log is newer while it exists. */
static int64_t written_ns(const struct day *d)
{
	_cleanup_(freep) char *log = xasprintf("%s-wal", d->path);
	struct stat st;
	int64_t ns = 0;

	if (stat(d->path, &st) == 0)
		ns = st.st_mtime * NS_PER_SECOND;
	if (stat(log, &st) == 0 && st.st_size > 0 && st.st_mtime * NS_PER_SECOND > ns)
		ns = st.st_mtime * NS_PER_SECOND;
	return ns;
}

/* Collects the ids of the file that are to be kept. The caller frees them. */
static int find_kept_ids(struct sqlite_store *s, struct day *d, int64_t **ret, size_t *ret_count, size_t *ret_all, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *ids = NULL;
	size_t capacity = 0;
	int rc = day_prepare(d, "SELECT id FROM batch ORDER BY seq", &ids, err);

	*ret_all = *ret_count = 0;
	if (rc < 0)
		return rc;
	for (; (rc = sqlite3_step(ids)) == SQLITE_ROW; ++*ret_all) {
		int64_t id = sqlite3_column_int64(ids, 0);

		if (map_get(&s->kept_ids, (uint64_t)id) == MAP_NONE)
			continue;
		GROW(ret, &capacity, *ret_count + 1);
		(*ret)[(*ret_count)++] = id;
	}
	return rc == SQLITE_DONE ? 0 : sqlite_failed(d->db, "compact", d->path, err);
}

static int replace_batch_ids(struct sqlite_store *s, struct day *d, unsigned unused, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *insert = NULL;
	_cleanup_(freep) int64_t *kept = NULL;
	size_t count, all;
	int rc = find_kept_ids(s, d, &kept, &count, &all, err);

	(void)unused;
	if (rc < 0 || count == all)
		return rc;
	rc = day_exec(d, "DELETE FROM batch", "compact", err);
	if (rc >= 0)
		rc = day_prepare(d, "INSERT INTO batch(id) VALUES(?)", &insert, err);
	map_clear(&d->batches);
	for (size_t i = 0; rc >= 0 && i < count; i++) {
		map_set(&d->batches, (uint64_t)kept[i], 1);
		sqlite3_bind_int64(insert, 1, kept[i]);
		rc = step(d, insert, err);
	}
	return rc;
}

/* Drops ids of batches that can no longer be redelivered. The collector's journal knows those that can, even if the collector
 * or another sink was away for a week; the days that others are kept besides are for a journal that was lost, when the
 * record in Redis brings the batch back. */
static int drop_batch_ids(struct sqlite_store *s, struct day *d, int64_t now_ns, struct err *err)
{
	int rc;

	if (now_ns - written_ns(d) < BATCH_IDS_NS || now_ns - day_start_ns(d->number + 1) < BATCH_IDS_NS)
		return 0;
	rc = in_transaction(d, replace_batch_ids, s, 0, err);
	if (rc < 0)
		day_forget(d);
	return rc;
}

/* The next hour reuses free pages, so returning them pays only at the end of the day or after a flood. */
static int return_space(struct day *d, bool day_is_over, struct err *err)
{
	return day_release_space(d, day_is_over ? 0 : day_number(d, "PRAGMA page_count", 1) / FREE_SHARE, "compact", err);
}

static uint32_t hours_over(const struct day *d, int64_t now_ns)
{
	uint32_t hours = 0;

	for (unsigned hour = 0; hour < 24; hour++)
		if (now_ns >= day_start_ns(d->number) + (hour + 1) * NS_PER_HOUR + GRACE_NS)
			hours |= 1u << hour;
	return hours;
}

/* Compacts one past hour with rows; 1 if there are more, 0 if not. */
static int compact_next_hour(struct sqlite_store *s, struct day *d, int64_t now_ns, struct err *err)
{
	uint32_t over = hours_over(d, now_ns), todo = d->hours_to_compact & over;
	int rc;

	assert(lock_is_held(&s->writer));
	if (todo)
		todo &= hours_with_recent(d);
	d->hours_to_compact &= ~over | todo;
	if (!todo)
		return 0;
	rc = in_transaction(d, compact_hour, s, (unsigned)__builtin_ctz(todo), err);
	if (rc < 0)
		return rc;
	d->hours_to_compact &= ~(todo & -todo);
	lock_take(&s->counting);
	s->stats.compactions++;
	lock_release(&s->counting);
	todo &= todo - 1;
	if (todo)
		return 1;
	return in_transaction(d, compact_stacks, s, 0, err);
}

static bool has_batch_ids(struct day *d)
{
	return day_number(d, "SELECT count(*) FROM (SELECT 1 FROM batch LIMIT 1)", 1) != 0;
}

/* Returns 1 if there is more to do now; *ret_settled: the day will never need compaction again. */
static int compact_day(struct sqlite_store *s, struct day *d, int64_t now_ns, bool *ret_settled, struct err *err)
{
	bool day_is_over = now_ns >= day_start_ns(d->number + 1) + GRACE_NS;
	int rc = compact_next_hour(s, d, now_ns, err);

	if (rc != 0)
		return rc;
	rc = drop_batch_ids(s, d, now_ns, err);
	if (rc >= 0)
		rc = return_space(d, day_is_over, err);
	*ret_settled = rc >= 0 && day_is_over && d->hours_to_compact == 0 && !has_batch_ids(d);
	return rc;
}

/* --- The store --- */

static int quick_check(struct day *d, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	int rc = day_prepare(d, "PRAGMA quick_check(1)", &s, err);

	if (rc < 0)
		return rc;
	if (sqlite3_step(s) != SQLITE_ROW)
		return sqlite_failed(d->db, "check", d->path, err);
	if (strcmp((const char *)sqlite3_column_text(s, 0), "ok"))
		return err_set(err, -EBADMSG, "'%s' is damaged", d->path);
	return 0;
}

/* All tables exist, and all series are valid. */
static int check_tables(struct day *d, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *others = NULL, *s = NULL;
	int64_t expected = 1;
	int rc = day_prepare(d, "SELECT r.bucket, r.series, r.data, c.id, c.data, b.seq, b.id FROM recent r, chunk "
			     "c, batch b", &others, err);

	if (rc >= 0)
		rc = day_prepare(d, "SELECT id, labels, clock, period_ns, columns FROM series ORDER BY id", &s, err);
	if (rc < 0)
		return rc;
	for (; (rc = sqlite3_step(s)) == SQLITE_ROW; expected++) {
		bool hole = series_row_is_hole(s, 1);
		struct series parsed = { 0 };

		if (sqlite3_column_int64(s, 0) != expected || (!hole && series_of_row(s, 1, &parsed) < 0))
			return err_set(err, -EBADMSG, "cannot read '%s': its list of series is damaged at number %lld",
				       d->path, (long long)expected);
		series_done(&parsed);
	}
	return rc == SQLITE_DONE ? 0 : sqlite_failed(d->db, "check", d->path, err);
}

/* Checks whether everything in the file can be read, as far as possible without reading every chunk. Returns -EBADMSG
 * if it is damaged, or the reason why it cannot be read. */
static int verify_day(struct sqlite_store *s, int64_t number, struct err *why)
{
	_cleanup_(stack_tree_done) struct stack_tree t = { 0 };
	struct day *d;
	int rc = day_open(s->directory, number, DAY_READ, &d, why);

	stack_tree_init(&t);
	if (rc < 0)
		return rc;
	rc = stack_tree_load(&t, d->db, d->path, why);
	if (rc >= 0)
		rc = check_tables(d, why);
	if (rc >= 0)
		rc = quick_check(d, why);
	day_close(d);
	return rc;
}

/* Verifies a day that a query found damaged; the writer is locked here, so the day may be renamed. */
static int examine(struct sqlite_store *s, int64_t number, struct err *err)
{
	struct err why = { 0 };
	bool suspect;
	int rc = 0, found;

	assert(lock_is_held(&s->writer));
	lock_take(&s->counting);
	suspect = map_get(&s->suspects, (uint64_t)number) == 1;
	lock_release(&s->counting);
	if (!suspect)
		return 0;
	found = verify_day(s, number, &why);
	if (found == -EBADMSG)
		rc = sqlite_store_set_aside(s, number, why.text, err);
	/* A day that cannot be read now is counted until it can. */
	if (found == -EIO || found == -EACCES)
		return 0;
	lock_take(&s->counting);
	map_set(&s->suspects, (uint64_t)number, 0);
	lock_release(&s->counting);
	return rc < 0 ? rc : found == -EBADMSG;
}

/* Returns 1 if there is more to do now. */
static int compact(struct sqlite_store *s, int64_t number, int64_t now_ns, struct err *err)
{
	struct day *open = sqlite_store_open_day(s, number), *d = open;
	struct err why = { 0 };
	bool settled = false;
	int rc;

	assert(lock_is_held(&s->writer));
	if (open && !day_is_current(open))
		return 0;
	if (!open) {
		if (map_get(&s->settled, (uint64_t)number) == 1)
			return 0;
		rc = day_open(s->directory, number, DAY_WRITE, &d, &why);
		if (rc < 0)
			d = NULL;
	}
	rc = d ? compact_day(s, d, now_ns, &settled, &why) : why.code;
	if (!open)
		day_close(d);
	if (rc == -EBADMSG)
		return sqlite_store_set_aside(s, number, why.text, err);
	if (rc < 0)
		return err_set(err, rc, "%s", why.text);
	map_set(&s->settled, (uint64_t)number, settled);
	return rc;
}

int sqlite_compact(struct sqlite_store *s, int64_t now_ns, struct err *err)
{
	_cleanup_(freep) int64_t *days = NULL;
	size_t count = 0;
	int result = sqlite_store_days(s, &days, &count, err);

	for (size_t i = 0; i < count; i++) {
		int rc;

		/* Releases the lock between two hours, so that a waiting append gets its turn. */
		do {
			struct err *first = result < 0 ? NULL : err;

			lock_take(&s->writer);
			rc = examine(s, days[i], first);
			if (rc == 0)
				rc = compact(s, days[i], now_ns, first);
			else if (rc > 0)	/* set aside */
				rc = 0;
			lock_release(&s->writer);
		} while (rc > 0);
		if (rc < 0 && result >= 0)
			result = rc;
	}
	return result;
}

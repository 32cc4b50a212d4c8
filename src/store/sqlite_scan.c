/* sqlite_scan.c: finds the rows of day files in a time range. */
#include "sqlite_scan.h"
#include "mem.h"
#include "sqlite_error.h"
#include <assert.h>
#include <string.h>

struct scan {
	struct sqlite_store *store;
	const struct store_query *q;
	const struct scan_visitor *visitor;
	struct store_query_stats *stats;
	int64_t first, end;		/* buckets since 1970 */
	struct intern seen, matched;	/* keys of series */
	struct buf scratch, key;

	int64_t *damaged;		/* days with missing data */
	size_t damaged_count, damaged_capacity;

	/* for the current day */
	struct day *day;
	struct series *series;		/* by id - 1 */
	bool *matches;
	size_t series_count, series_capacity, match_capacity;
};

static void note_damage(struct scan *s, int64_t number)
{
	for (size_t i = 0; i < s->damaged_count; i++)
		if (s->damaged[i] == number)
			return;
	GROW(&s->damaged, &s->damaged_capacity, s->damaged_count + 1);
	s->damaged[s->damaged_count++] = number;
}

static bool is_selected(const struct scan *s, int64_t number)
{
	int64_t start = number * DAY_BUCKETS;

	assert(s->first < s->end);
	return start < s->end && start + DAY_BUCKETS > s->first;
}

/* Notes days that were set aside, which count as missing, too. */
static void note_set_aside(struct scan *s)
{
	_cleanup_(freep) int64_t *days = NULL;
	size_t count = sqlite_store_damaged(s->store, &days);

	for (size_t i = 0; i < count; i++)
		if (is_selected(s, days[i]))
			note_damage(s, days[i]);
}

static void forget_series(struct scan *s)
{
	for (size_t i = 0; i < s->series_count; i++)
		series_done(&s->series[i]);
	s->series_count = 0;
}

static int add_series(struct scan *s, sqlite3_stmt *row)
{
	size_t i = s->series_count;

	if (i == DAY_SERIES || sqlite3_column_int64(row, 0) != (int64_t)i + 1)
		return -EBADMSG;
	GROW(&s->series, &s->series_capacity, i + 1);
	GROW(&s->matches, &s->match_capacity, i + 1);
	s->matches[i] = false;
	if (series_row_is_hole(row, 1)) {
		s->series[i] = (struct series){ 0 };
		s->series_count++;
		return 0;
	}
	if (series_of_row(row, 1, &s->series[i]) < 0)
		return -EBADMSG;
	s->series_count++;
	s->matches[i] = series_matches(&s->series[i], s->q->filters, s->q->filter_count);

	series_key_of_row(row, 1, &s->key);
	intern_add(&s->seen, s->key.data, s->key.size);
	if (!s->matches[i])
		return 0;
	intern_add(&s->matched, s->key.data, s->key.size);
	return s->visitor->series ? s->visitor->series(s->visitor->data, &s->series[i]) : 0;
}

static int read_series(struct scan *s, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *row = NULL;
	int rc = day_prepare(s->day, "SELECT id, labels, clock, period_ns, columns FROM series ORDER BY id", &row, err);

	if (rc < 0)
		return rc;
	while ((rc = sqlite3_step(row)) == SQLITE_ROW) {
		rc = add_series(s, row);
		if (rc == -EBADMSG)
			return err_set(err, rc, "cannot read '%s': its list of series is damaged at number %zu",
				       s->day->path, s->series_count + 1);
		if (rc < 0)
			return rc;
	}
	return rc == SQLITE_DONE ? 0 : sqlite_failed(s->day->db, "read", s->day->path, err);
}

static void note_damaged_piece(struct scan *s)
{
	sqlite_store_note_piece(s->store, s->day->number);
	note_damage(s, s->day->number);
}

/* Visits a chunk of `hour`, limited to buckets [from, to) of the day. */
static int visit(struct scan *s, struct str chunk, unsigned hour, int64_t series, unsigned from, unsigned to, struct err *err)
{
	unsigned first = hour * CHUNK_BUCKETS;
	struct chunk_reader reader;
	struct scan_chunk c = {
		.id = (uint32_t)series, .reader = &reader,
		.hour_bucket = s->day->number * DAY_BUCKETS + first,
		.from = from > first ? from - first : 0,
		.to = to < first + CHUNK_BUCKETS ? to - first : CHUNK_BUCKETS,
	};
	int rc;

	if (series < 1 || (uint64_t)series > s->series_count || !s->series[series - 1].column_count) {
		note_damaged_piece(s);
		return 0;
	}
	if (!s->matches[series - 1])
		return 0;
	c.series = &s->series[series - 1];
	rc = chunk_open(&reader, chunk.p, chunk.n, c.series->column_count, &s->scratch);
	if (rc >= 0 && (reader.last_bucket < c.from || reader.first_bucket >= c.to))
		return 0;
	if (s->stats)
		s->stats->chunks++;
	if (rc >= 0)
		rc = s->visitor->chunk(s->visitor->data, s->day, &c, err);
	if (rc == -EBADMSG && !(err && err->code == -EBADMSG)) {
		note_damaged_piece(s);
		rc = 0;
	}
	return rc;
}

static int visit_bundle(struct scan *s, sqlite3_stmt *row, unsigned from, unsigned to, struct err *err)
{
	unsigned hour = (unsigned)(sqlite3_column_int64(row, 0) / CHUNK_BUCKETS);
	struct bundle_reader bundle;
	struct str chunk;
	int64_t series;
	int rc;

	bundle_of_row(&bundle, row, 1);
	while ((rc = bundle_next(&bundle, &series, &chunk)) > 0) {
		rc = visit(s, chunk, hour, series, from, to, err);
		if (rc < 0)
			return rc;
	}
	if (rc < 0)
		note_damaged_piece(s);
	return 0;
}

static int visit_chunks(struct scan *s, unsigned from, unsigned to, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *row = NULL;
	int rc = day_prepare(s->day, "SELECT id, data FROM chunk WHERE id >= ? AND id < ?", &row, err);

	if (rc < 0)
		return rc;
	sqlite3_bind_int64(row, 1, chunk_id(from / CHUNK_BUCKETS, 0));
	sqlite3_bind_int64(row, 2, chunk_id((to + CHUNK_BUCKETS - 1) / CHUNK_BUCKETS, 0));
	while ((rc = sqlite3_step(row)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(row, 0);

		rc = visit(s, day_bytes(row, 1), (unsigned)(id >> 24), id & (DAY_SERIES - 1), from, to, err);
		if (rc < 0)
			return rc;
	}
	return rc == SQLITE_DONE ? 0 : sqlite_failed(s->day->db, "read", s->day->path, err);
}

static int visit_recent(struct scan *s, unsigned from, unsigned to, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *row = NULL;
	int rc = day_prepare(s->day, "SELECT bucket, series, data FROM recent WHERE bucket >= ? AND bucket < ?", &row,
			     err);

	if (rc < 0)
		return rc;
	sqlite3_bind_int64(row, 1, from);
	sqlite3_bind_int64(row, 2, to);
	while ((rc = sqlite3_step(row)) == SQLITE_ROW) {
		rc = visit_bundle(s, row, from, to, err);
		if (rc < 0)
			return rc;
	}
	return rc == SQLITE_DONE ? 0 : sqlite_failed(s->day->db, "read", s->day->path, err);
}

/* Tells whether an error concerns only this file (damaged, foreign, on a bad sector), so that other days are still
 * answered. */
static bool is_of_this_file(int rc)
{
	return rc == -EBADMSG || rc == -EIO || rc == -EACCES;
}

static int read_day(struct scan *s, struct err *err)
{
	int64_t start = s->day->number * DAY_BUCKETS;
	unsigned from = s->first > start ? (unsigned)(s->first - start) : 0;
	unsigned to = s->end < start + DAY_BUCKETS ? (unsigned)(s->end - start) : DAY_BUCKETS;
	int rc;

	assert(from < to && to <= DAY_BUCKETS);
	assert(!s->series_count);		/* the previous day's were freed */
	rc = day_exec(s->day, "BEGIN", "read", err);
	if (rc >= 0)
		rc = read_series(s, err);
	if (rc >= 0 && s->visitor->chunk)
		rc = visit_chunks(s, from, to, err);
	if (rc >= 0 && s->visitor->chunk)
		rc = visit_recent(s, from, to, err);
	if (s->visitor->day_end && (rc >= 0 || is_of_this_file(rc)))
		s->visitor->day_end(s->visitor->data, s->series, s->series_count);
	forget_series(s);
	return rc;
}

static int scan_day(struct scan *s, int64_t number, struct err *err)
{
	struct err why = { 0 };
	int rc;

	assert(!s->day);
	rc = day_open(s->store->directory, number, DAY_READ, &s->day, &why);
	if (rc == -ENOENT)	/* removed since the directory was read, or being created right now */
		return 0;
	if (rc >= 0) {
		if (s->stats)
			s->stats->days++;
		rc = read_day(s, &why);
		s->day = day_close(s->day);
	}
	if (is_of_this_file(rc)) {
		sqlite_store_suspect(s->store, number, why.text);
		note_damage(s, number);
		return 0;
	}
	return rc < 0 ? err_set(err, rc, "%s", why.text) : 0;
}

static int scan_days(struct scan *s, struct err *err)
{
	_cleanup_(freep) int64_t *days = NULL;
	size_t count;
	int rc = sqlite_store_days(s->store, &days, &count, err);

	for (size_t i = 0; rc >= 0 && i < count; i++)
		if (is_selected(s, days[i]))
			rc = scan_day(s, days[i], err);
	return rc;
}

int sqlite_scan(struct sqlite_store *store, const struct store_query *q, const struct scan_visitor *v,
		struct store_query_stats *stats, struct err *err)
{
	struct scan s = { .store = store, .q = q, .visitor = v, .stats = stats };
	int rc = 0, held;

	s.first = q->from_ns > 0 ? q->from_ns / BATCH_BUCKET_NS : 0;
	s.end = q->to_ns > 0 ? q->to_ns / BATCH_BUCKET_NS + (q->to_ns % BATCH_BUCKET_NS != 0) : 0;
	if (q->to_ns <= q->from_ns)
		s.end = s.first;
	intern_init(&s.seen);
	intern_init(&s.matched);
	buf_init(&s.scratch);
	buf_init(&s.key);
	held = files_lock_shared(&store->files);
	if (s.first < s.end)
		rc = scan_days(&s, err);
	if (stats && s.first < s.end)
		note_set_aside(&s);
	files_lock_release(&store->files, held);
	if (stats) {
		stats->series = s.seen.count;
		stats->series_matched = s.matched.count;
		stats->damaged_days = s.damaged_count;
	}
	intern_done(&s.seen);
	intern_done(&s.matched);
	buf_done(&s.scratch);
	buf_done(&s.key);
	free(s.series);
	free(s.matches);
	free(s.damaged);
	return rc;
}

/* clickhouse_runs_limits.c: removes runs above the limits of age, count and size, and deletes the rows of removed
 * runs.
 *
 * A run is removed by a note in `runs_removed`. A later mutation deletes the rows of many removed runs, and then
 * their notes are deleted: each query has to skip the runs that have notes, so it would otherwise slow down with each
 * run ever removed. */
#include "clickhouse_runs.h"
#include "clickhouse_wire.h"
#include "clock.h"
#include "intern.h"
#include "log.h"
#include "mem.h"
#include <assert.h>

#define SWEPT_MAX	"5000"			/* rows per statement, which lists their numbers */
#define NOTES_MIN	1000u			/* fewer are not worth a mutation */
#define DEAD		"seq IN (SELECT seq FROM runs_removed)"
#define DEAD_SHARE	"8"			/* rewrite to free an eighth of the bytes, or any once a day */
#define NOTE_KEPT_NS	(3600 * NS_PER_SECOND)	/* counted from when the run was stored */

struct kept_run {
	uint64_t seq, bytes;
	int64_t stored_ns;
	uint32_t month, shard, source;
	bool is_removed;
	enum store_removal reason;
};

struct kept_runs {
	struct kept_run *items;
	size_t count, capacity;
	struct intern sources;
};

static int read_kept(struct clickhouse_store *s, unsigned shard, struct kept_runs *k, struct err *err)
{
	_cleanup_(buf_done) struct buf answer = { 0 };
	struct clickhouse_request q = {
		.sql = "SELECT month, source, seq, stored_ns, bytes FROM runs WHERE " CLICKHOUSE_LIVE " FORMAT RowBinary",
	};
	struct row_reader r;
	int rc;

	buf_init(&answer);
	rc = clickhouse_ask(s, shard, &q, &answer, err);
	if (rc < 0)
		return rc;
	for (r = row_reader_of(&answer); row_more(&r);) {
		struct kept_run run = { .shard = shard, .month = (uint32_t)row_get(&r, 4) };
		struct str source = row_get_string(&r);

		run.source = intern_add(&k->sources, source.p, source.n);
		run.seq = row_get(&r, 8);
		run.stored_ns = (int64_t)row_get(&r, 8);
		run.bytes = row_get(&r, 8);
		GROW(&k->items, &k->capacity, k->count + 1);
		k->items[k->count++] = run;
	}
	return 0;
}

static int newest_first(const void *a, const void *b)
{
	uint64_t x = ((const struct kept_run *)a)->seq, y = ((const struct kept_run *)b)->seq;

	return x > y ? -1 : x < y;
}

static void choose(struct kept_runs *k, const struct store_limits *l, int64_t now_ns)
{
	_cleanup_(freep) uint64_t *of_source = xcalloc(k->sources.count + 1, sizeof(*of_source));
	uint64_t bytes = 0;

	if (k->count)
		qsort(k->items, k->count, sizeof(*k->items), newest_first);
	for (size_t i = 0; i < k->count; i++) {
		struct kept_run *r = &k->items[i];

		assert(r->source < k->sources.count);
		r->is_removed = true;
		if (l->runs_max_age_ns > 0 && r->stored_ns <= now_ns - l->runs_max_age_ns) {
			r->reason = STORE_REMOVED_AGE;
			continue;
		}
		if (l->runs_max_count > 0 && of_source[r->source] >= l->runs_max_count) {
			r->reason = STORE_REMOVED_COUNT;
			continue;
		}
		of_source[r->source]++;
		bytes += r->bytes;
		r->reason = STORE_REMOVED_SIZE;
		r->is_removed = l->runs_max_bytes > 0 && bytes > l->runs_max_bytes;
	}
}

static int remove_chosen(struct clickhouse_store *s, const struct kept_runs *k, struct err *err)
{
	uint64_t count = 0, bytes = 0, by_reason[STORE_REMOVALS] = { 0 };
	int rc = 0;

	for (unsigned shard = 0; rc >= 0 && shard < s->url.server_count; shard++) {
		_cleanup_(buf_done) struct buf rows = { 0 };

		buf_init(&rows);
		for (size_t i = 0; i < k->count; i++) {
			if (!k->items[i].is_removed || k->items[i].shard != shard)
				continue;
			row_put(&rows, k->items[i].month, 4);
			row_put(&rows, k->items[i].seq, 8);
			bytes += k->items[i].bytes;
			by_reason[k->items[i].reason]++;
			count++;
		}
		rc = clickhouse_note_removed(s, shard, &rows, err);
	}
	if (rc < 0)
		return rc;
	clickhouse_count_removed(s, by_reason, bytes);
	if (count)
		log_info("removed %llu run%s: %llu expired, %llu evicted by count, %llu by size", (unsigned long long)count,
			 count == 1 ? "" : "s", (unsigned long long)by_reason[STORE_REMOVED_AGE],
			 (unsigned long long)by_reason[STORE_REMOVED_COUNT], (unsigned long long)by_reason[STORE_REMOVED_SIZE]);
	return 0;
}

/* --- Sweeping --- */

static int delete_from(struct clickhouse_store *s, unsigned shard, const char *table, const char *condition, struct err *err)
{
	_cleanup_(freep) char *sql = xasprintf("ALTER TABLE %s DELETE WHERE %s", table, condition);

	return clickhouse_run(s, shard, sql, err);
}

/* Lists the numbers: each replica executes the statement itself, and a subquery on a lagging replica would find other
 * rows. */
static int delete_by_number(struct clickhouse_store *s, unsigned shard, const char *table, const char *condition, struct err *err)
{
	_cleanup_(freep) char *ask = xasprintf("SELECT seq FROM %s WHERE %s LIMIT " SWEPT_MAX " FORMAT RowBinary", table, condition);
	_cleanup_(buf_done) struct buf numbers = { 0 }, answer = { 0 };
	struct row_reader r;
	const char *between = "";
	int rc;

	buf_init(&numbers);
	buf_init(&answer);
	rc = clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = ask }, &answer, err);
	if (rc < 0 || !answer.size)
		return rc;
	buf_puts(&numbers, "seq IN (");
	for (r = row_reader_of(&answer); row_more(&r); between = ", ")
		buf_printf(&numbers, "%s%llu", between, (unsigned long long)row_get(&r, 8));
	buf_puts(&numbers, ")");
	return delete_from(s, shard, table, numbers.data, err);
}

/* Deletes these rows of the table if there are at least `least`, and the previous deletion has finished. */
static int sweep_table(struct clickhouse_store *s, unsigned shard, const char *table, const char *condition, uint64_t least, struct err *err)
{
	_cleanup_(freep) char *how_many = xasprintf("SELECT count() FROM %s WHERE %s", table, condition);
	_cleanup_(freep) char *under_way = xasprintf("SELECT count() FROM system.mutations WHERE database = currentDatabase()"
						     " AND table = '%s' AND is_done = 0",
						     table);
	uint64_t dead, busy;
	int rc = clickhouse_ask_number(s, shard, how_many, &dead, err);

	if (rc >= 0)
		rc = clickhouse_ask_number(s, shard, under_way, &busy, err);
	if (rc < 0 || busy || dead < least)
		return rc;
	return s->url.cluster ? delete_by_number(s, shard, table, condition, err) : delete_from(s, shard, table, condition, err);
}

/* A mutation rewrites all parts that contain matching rows, so one mutation per removed run would keep the disk busy
 * forever. */
static int are_worth_rewriting(struct clickhouse_store *s, unsigned shard, uint64_t *ret, struct err *err)
{
	return clickhouse_ask_number(s, shard,
				     "SELECT sumIf(bytes, dead) * " DEAD_SHARE " >= sum(bytes) OR (SELECT count() FROM system.mutations"
				     " WHERE database = currentDatabase() AND table = 'runs' AND create_time > now() - 86400) = 0"
				     " FROM (SELECT bytes, " DEAD " AS dead FROM runs)",
				     ret, err);
}

/* Deletes the rows of removed runs, and then the notes about runs that no longer exist. A run that a replica has not
 * received yet is missing, too, so recent notes stay. */
static int sweep(struct clickhouse_store *s, unsigned shard, int64_t now_ns, struct err *err)
{
	_cleanup_(freep) char *done = xasprintf("seq < %lld AND seq NOT IN (SELECT seq FROM runs)", (long long)(now_ns - NOTE_KEPT_NS));
	uint64_t worth;
	int rc = are_worth_rewriting(s, shard, &worth, err);

	if (rc >= 0 && worth)
		rc = sweep_table(s, shard, "runs", DEAD, 1, err);
	return rc < 0 ? rc : sweep_table(s, shard, "runs_removed", done, NOTES_MIN, err);
}

int clickhouse_retain_runs(struct clickhouse_store *s, const struct store_limits *l, int64_t now_ns, struct err *err)
{
	struct kept_runs k = { 0 };
	int rc = 0;

	intern_init(&k.sources);
	if (l->runs_max_age_ns > 0 || l->runs_max_count || l->runs_max_bytes) {
		for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++)
			rc = read_kept(s, i, &k, err);
		choose(&k, l, now_ns);
		if (rc >= 0)
			rc = remove_chosen(s, &k, err);
	}
	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++)
		rc = sweep(s, i, now_ns, err);
	intern_done(&k.sources);
	free(k.items);
	return rc;
}

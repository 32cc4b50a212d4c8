/* sqlite_runs.c: adding runs, removing them, and removing those above the limits. */
#include "log.h"
#include "mem.h"
#include "run_bytes.h"
#include "run_kind.h"
#include "run_totals.h"
#include "sqlite_error.h"
#include "sqlite_store.h"
#include <assert.h>
#include <string.h>

#define ROW_BYTES	600	/* approximate size of a run without its profile, including index entries */
#define REMOVE_ROWS	200	/* rows per transaction, so that other writers do not wait long for the file */

/* Opens the writer's connection. The lock `runs_writer` must be held. */
static int open_file(struct sqlite_store *s, struct err *err)
{
	struct err why = { 0 };
	int rc;

	assert(lock_is_held(&s->runs_writer));
	if (s->mode == SQLITE_STORE_READ)
		return err_set(err, -EROFS, "the store '%s' was opened for reading only", s->directory);
	if (s->runs && !runs_file_is_current(s->runs)) {
		log_warning("'%s' was removed or replaced while it was open; runs continue "
			    "in a new file", s->runs->path);
		s->runs = runs_file_close(s->runs);
	}
	if (s->runs)
		return 0;
	rc = runs_file_open(s->directory, true, &s->runs, &why);
	/* Only a process that has exclusive use of the directory may rename a file that others may have open. */
	if (rc == -EBADMSG && s->mode == SQLITE_STORE_WRITE) {
		_cleanup_(freep) char *path = runs_file_path(s->directory);

		rc = sqlite_store_set_file_aside(s, path, why.text, "runs continue", err);
		if (rc < 0)
			return rc;
		rc = runs_file_open(s->directory, true, &s->runs, &why);
	}
	return rc < 0 ? err_set(err, rc, "%s", why.text) : 0;
}

/* Handles a failure. A connection recovers from a full disk; after any other error it is closed. */
static void give_up(struct sqlite_store *s, int code)
{
	assert(lock_is_held(&s->runs_writer) && code < 0);
	if (!sqlite3_get_autocommit(s->runs->db))
		sqlite3_exec(s->runs->db, "ROLLBACK", NULL, NULL, NULL);
	if (code != -ENOSPC && code != -EBUSY)
		s->runs = runs_file_close(s->runs);
	sqlite_store_count_error(s);
}

/* --- Adding --- */

/* Returns 1 if the run exists with this digest, 0 if there is no run of its name, -EEXIST if another run has its
 * name. */
static int find_same(struct runs_file *f, const char *source, const char *id, const struct run_bytes *e, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *q = NULL;
	int rc = sqlite_prepare(f->db, "SELECT digest FROM run WHERE source = ? AND run = ?", f->path, &q, err);

	if (rc < 0)
		return rc;
	sqlite3_bind_text(q, 1, source, -1, SQLITE_STATIC);
	sqlite3_bind_text(q, 2, id, -1, SQLITE_STATIC);
	rc = sqlite3_step(q);
	if (rc == SQLITE_DONE)
		return 0;
	if (rc != SQLITE_ROW)
		return sqlite_failed(f->db, "read", f->path, err);
	if (sqlite3_column_bytes(q, 0) == (int)sizeof(e->digest) &&
	    !memcmp(sqlite3_column_blob(q, 0), &e->digest, sizeof(e->digest)))
		return 1;
	return err_set(err, -EEXIST, "there is another run '%s' of source '%s'; give this one a different id, "
		       "or remove that one", id, source);
}

static void bind_text_or_null(sqlite3_stmt *q, int at, const char *text)
{
	if (text)
		sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC);
}

static int insert_row(struct runs_file *f, const struct store_new_run *run, const struct run_bytes *e, int64_t now_ns,
		      struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *q = NULL;
	_cleanup_(buf_done) struct buf spare = { 0 };
	int rc;

	assert(!sqlite3_get_autocommit(f->db));		/* the row and its profile are committed together */
	rc = sqlite_prepare(f->db, "INSERT INTO run(source, run, start_ns, duration_ns, stored_ns, url, "
				   "name, labels, totals, nodes, digest, bytes, wall_ns, cpu_ns, memory_bytes, "
				   "peak_memory_bytes, calls, kind) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			    f->path, &q, err);

	if (rc < 0)
		return rc;
	sqlite3_bind_text(q, 1, run->source, -1, SQLITE_STATIC);
	sqlite3_bind_text(q, 2, run->id, -1, SQLITE_STATIC);
	sqlite3_bind_int64(q, 3, e->start_ns);
	sqlite3_bind_int64(q, 4, e->duration_ns);
	sqlite3_bind_int64(q, 5, now_ns);
	bind_text_or_null(q, 6, labels_get(&run->profile->labels, "url"));
	bind_text_or_null(q, 7, labels_get(&run->profile->labels, "name"));
	sqlite3_bind_text(q, 8, e->label_text.data, (int)e->label_text.size, SQLITE_STATIC);
	sqlite3_bind_blob(q, 9, e->totals.data, (int)e->totals.size, SQLITE_STATIC);
	sqlite3_bind_int64(q, 10, run->profile->node_count);
	sqlite3_bind_blob(q, 11, &e->digest, sizeof(e->digest), SQLITE_STATIC);
	sqlite3_bind_int64(q, 12, (sqlite3_int64)(e->packed.size + e->totals.size + e->label_text.size + ROW_BYTES));
	for (size_t i = 0; i < RUN_TOTALS_SORTED; i++)
		sqlite3_bind_int64(q, 13 + (int)i, run_total_of(run->profile, run_totals_sorted[i]));
	buf_init(&spare);
	sqlite3_bind_int64(q, 13 + (int)RUN_TOTALS_SORTED, run_kind_of((struct str){ run->source, strlen(run->source) }, (struct str){ e->label_text.data, e->label_text.size }, (struct str){ e->totals.data, e->totals.size }, &spare));
	return sqlite3_step(q) == SQLITE_DONE ? 0 : sqlite_failed(f->db, "write to", f->path, err);
}

static int insert_profile(struct runs_file *f, const struct run_bytes *e, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *q = NULL;
	int rc = sqlite_prepare(f->db, "INSERT INTO profile(id, data) VALUES(last_insert_rowid(), ?)", f->path, &q,
				err);

	if (rc < 0)
		return rc;
	sqlite3_bind_blob64(q, 1, e->packed.data, e->packed.size, SQLITE_STATIC);
	return sqlite3_step(q) == SQLITE_DONE ? 0 : sqlite_failed(f->db, "write to", f->path, err);
}

/* Encodes the run under its own name or a free one. Returns 1 if it exists already, 0 if not. */
static int settle(struct runs_file *f, struct store_new_run *run, struct run_bytes *e, int64_t now_ns, struct err *err)
{
	bool made = !*run->id;
	int rc = -EEXIST;

	for (int i = 0; rc == -EEXIST && (i == 0 || (made && i < RUN_MADE_IDS)); i++) {
		if (made)
			run_make_id(now_ns, run->id);
		run_bytes_done(e);
		memset(e, 0, sizeof(*e));
		rc = run_bytes_of(e, run, now_ns, err);
		if (rc >= 0)
			rc = find_same(f, run->source, run->id, e, err);
	}
	return rc;
}

static int add_run(struct runs_file *f, struct store_new_run *run, int64_t now_ns, struct err *err)
{
	_cleanup_(run_bytes_done) struct run_bytes e = { 0 };
	int rc = run_take_name(run, err);

	if (rc >= 0)
		rc = settle(f, run, &e, now_ns, err);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = insert_row(f, run, &e, now_ns, err);
	if (rc >= 0)
		rc = insert_profile(f, &e, err);
	return rc < 0 ? rc : 1;
}

/* Adds all runs in one transaction, and sets each one's result. */
static int add_all(struct runs_file *f, struct store_new_run *runs, size_t count, int64_t now_ns, struct err *err)
{
	int rc;

	assert(sqlite3_get_autocommit(f->db));
	rc = runs_file_exec(f, "BEGIN IMMEDIATE", "write to", err);
	for (size_t i = 0; rc >= 0 && i < count; i++) {
		memset(&runs[i].err, 0, sizeof(runs[i].err));
		rc = runs_file_exec(f, "SAVEPOINT one", "write to", err);
		if (rc < 0)
			break;
		runs[i].result = add_run(f, &runs[i], now_ns, &runs[i].err);
		if (runs[i].result < 0 && !run_is_final(runs[i].result))
			return err_set(err, runs[i].result, "%s", runs[i].err.text);
		rc = runs_file_exec(f, runs[i].result < 0 ? "ROLLBACK TO one; RELEASE one" : "RELEASE one", "write to",
				    err);
	}
	return rc < 0 ? rc : runs_file_exec(f, "COMMIT", "write to", err);
}

int sqlite_add_runs(struct store *store, struct store_new_run *runs, size_t count, int64_t now_ns, struct err *err)
{
	struct sqlite_store *s = (struct sqlite_store *)store;
	uint64_t added = 0;
	int rc;

	lock_take(&s->runs_writer);
	rc = open_file(s, err);
	if (rc >= 0) {
		rc = add_all(s->runs, runs, count, now_ns, err);
		if (rc < 0)
			give_up(s, rc);
	}
	lock_release(&s->runs_writer);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count; i++) {
		assert(runs[i].result == 1 || runs[i].result == 0 || run_is_final(runs[i].result));
		added += runs[i].result == 1;
	}
	lock_take(&s->counting);
	s->stats.runs_added += added;
	lock_release(&s->counting);
	return 0;
}

/* --- Removing --- */

static int remove_row(struct runs_file *f, const char *source, const char *id, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *q = NULL;
	int rc = sqlite_prepare(f->db, "DELETE FROM run WHERE source = ? AND run = ?", f->path, &q, err);

	if (rc < 0)
		return rc;
	sqlite3_bind_text(q, 1, source, -1, SQLITE_STATIC);
	sqlite3_bind_text(q, 2, id, -1, SQLITE_STATIC);
	if (sqlite3_step(q) != SQLITE_DONE)
		return sqlite_failed(f->db, "write to", f->path, err);
	return sqlite3_changes(f->db);
}

int sqlite_remove_run(struct store *store, const char *source, const char *id, struct err *err)
{
	struct sqlite_store *s = (struct sqlite_store *)store;
	int rc;

	lock_take(&s->runs_writer);
	rc = open_file(s, err);
	if (rc >= 0) {
		rc = remove_row(s->runs, source, id, err);
		if (rc < 0)
			give_up(s, rc);
	}
	lock_release(&s->runs_writer);
	if (rc == 0)
		return err_set(err, -ENOENT, "there is no run '%.64s' of source '%.64s'", id, source);
	if (rc < 0)
		return rc;
	lock_take(&s->counting);
	s->stats.runs_removed[STORE_REMOVED_REQUEST]++;
	lock_release(&s->counting);
	return 0;
}

/* Removes the runs selected by `rule`, whose only parameter is `limit`, a few at a time. Returns their number. */
static int64_t remove_by(struct runs_file *f, const char *rule, int64_t limit, struct err *err)
{
	_cleanup_(freep) char *sql = xasprintf("DELETE FROM run WHERE id IN (%s LIMIT %d)", rule, REMOVE_ROWS);
	_cleanup_(stmt_finalizep) sqlite3_stmt *q = NULL;
	int rc = sqlite_prepare(f->db, sql, f->path, &q, err);
	int64_t removed = 0;

	if (rc < 0)
		return rc;
	sqlite3_bind_int64(q, 1, limit);
	do {
		if (sqlite3_step(q) != SQLITE_DONE)
			return sqlite_failed(f->db, "write to", f->path, err);
		removed += sqlite3_changes(f->db);
		sqlite3_reset(q);
	} while (sqlite3_changes(f->db) == REMOVE_ROWS);
	return removed;
}

static const char older_than[] = "SELECT id FROM run WHERE stored_ns <= ?";
static const char above_count[] =
	"SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY source ORDER BY id DESC) AS n FROM run) "
	"WHERE n > ?";
static const char above_bytes[] =
	"SELECT id FROM (SELECT id, sum(bytes) OVER (ORDER BY id DESC) AS n FROM run) WHERE n > ?";

static int64_t remove_all_above(struct runs_file *f, const struct store_limits *l, int64_t now_ns, int64_t ret_removed[STORE_REMOVALS],
				struct err *err)
{
	const struct {
		const char *rule;
		int64_t limit;
		bool set;
	} rules[] = {
		[STORE_REMOVED_AGE] = { older_than, now_ns - l->runs_max_age_ns, l->runs_max_age_ns > 0 },
		[STORE_REMOVED_COUNT] = { above_count, (int64_t)l->runs_max_count, l->runs_max_count > 0 },
		[STORE_REMOVED_SIZE] = { above_bytes, (int64_t)l->runs_max_bytes, l->runs_max_bytes > 0 },
	};
	int64_t removed = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		int64_t n = rules[i].set ? remove_by(f, rules[i].rule, rules[i].limit, err) : 0;

		if (n < 0)
			return n;
		ret_removed[i] = n;
		removed += n;
	}
	/* Also returns the space of runs that users removed. */
	if (runs_file_exec(f, "PRAGMA incremental_vacuum", "tidy up", removed ? err : NULL) < 0 && removed)
		return -EIO;
	if (removed)
		sqlite3_exec(f->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
	return removed;
}

int sqlite_retain_runs(struct sqlite_store *s, const struct store_limits *l, int64_t now_ns, struct err *err)
{
	_cleanup_(freep) char *path = runs_file_path(s->directory);
	int64_t removed = 0, by_reason[STORE_REMOVALS] = { 0 };
	int rc;

	if (access(path, F_OK) < 0)
		return 0;
	lock_take(&s->runs_writer);
	rc = open_file(s, err);
	if (rc >= 0) {
		removed = remove_all_above(s->runs, l, now_ns, by_reason, err);
		if (removed < 0)
			give_up(s, (int)removed);
	}
	lock_release(&s->runs_writer);
	if (rc < 0 || removed < 0)
		return rc < 0 ? rc : (int)removed;
	if (removed)
		log_info("removed %lld run%s: %lld expired, %lld evicted by count, %lld by size", (long long)removed,
			 removed == 1 ? "" : "s", (long long)by_reason[STORE_REMOVED_AGE],
			 (long long)by_reason[STORE_REMOVED_COUNT], (long long)by_reason[STORE_REMOVED_SIZE]);
	lock_take(&s->counting);
	for (size_t i = 0; i < STORE_REMOVALS; i++)
		s->stats.runs_removed[i] += (uint64_t)by_reason[i];
	lock_release(&s->counting);
	return 0;
}

/* sqlite_runs_file.c: creates, opens and closes the file of runs. */
#include "sqlite_runs.h"
#include "cleanup.h"
#include "clock.h"
#include "mem.h"
#include "run_kind.h"
#include "run_totals.h"
#include "sqlite_error.h"
#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define BUSY_MS		20000		/* another writer needs a second or two for a run of 64 MB */

char *runs_file_path(const char *directory)
{
	return xasprintf("%s/" RUNS_NAME, directory);
}

int runs_file_exec(struct runs_file *f, const char *sql, const char *doing, struct err *err)
{
	if (sqlite3_exec(f->db, sql, NULL, NULL, NULL))
		return sqlite_failed(f->db, doing, f->path, err);
	return 0;
}

static int get_number(struct runs_file *f, const char *sql, int64_t *ret, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	int rc = sqlite_prepare(f->db, sql, f->path, &s, err);

	if (rc < 0)
		return rc;
	if (sqlite3_step(s) != SQLITE_ROW)
		return sqlite_failed(f->db, "read", f->path, err);
	*ret = sqlite3_column_int64(s, 0);
	return 0;
}

static const char schema[] =
	"CREATE TABLE run(id INTEGER PRIMARY KEY AUTOINCREMENT, source TEXT NOT NULL, run TEXT NOT NULL,"
	" start_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL, stored_ns INTEGER NOT NULL, url TEXT, name TEXT,"
	" labels TEXT NOT NULL, totals BLOB NOT NULL, nodes INTEGER NOT NULL, digest BLOB NOT NULL,"
	" bytes INTEGER NOT NULL, UNIQUE(source, run));"
	"CREATE INDEX run_by_start ON run(start_ns);"
	"CREATE INDEX run_by_source ON run(source, start_ns);"
	"CREATE INDEX run_by_bytes ON run(bytes);"
	"CREATE TABLE profile(id INTEGER PRIMARY KEY, data BLOB NOT NULL);"
	"CREATE TRIGGER run_removed AFTER DELETE ON run BEGIN DELETE FROM profile WHERE id = OLD.id; END;";

/* The additions of schema 2 to schema 1; a new file gets both. */
static const char orders[] =
	"CREATE INDEX run_by_duration ON run(duration_ns);"
	"CREATE INDEX run_by_only_source ON run(source);"
	"CREATE INDEX run_by_run ON run(run);"
	"CREATE INDEX run_by_name ON run(" RUNS_NAME_SQL ");";

/* Columns first, so that each row is rewritten only once. */
static void put_totals_sql(struct buf *sql)
{
	for (size_t i = 0; i < RUN_TOTALS_SORTED; i++)
		buf_printf(sql, "ALTER TABLE run ADD COLUMN %s INTEGER NOT NULL DEFAULT %lld;", run_totals_sorted[i],
			   (long long)RUN_TOTAL_MISSING);
	for (size_t i = 0; i < RUN_TOTALS_SORTED; i++)
		buf_printf(sql, "%s %s = run_total(totals, '%s')", i ? "," : "UPDATE run SET", run_totals_sorted[i],
			   run_totals_sorted[i]);
	for (size_t i = 0; i < RUN_TOTALS_SORTED; i++)
		buf_printf(sql, ";CREATE INDEX run_by_%s ON run(%s)", run_totals_sorted[i], run_totals_sorted[i]);
}

/* The additions of schema 3. */
static const char kinds[] =
	"ALTER TABLE run ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;"
	"UPDATE run SET kind = run_kind(source, labels, totals);"
	"CREATE INDEX run_by_kind ON run(kind, start_ns);";

/* Upgrades from schema 1 or 2. Readers see the old schema until everything is committed. */
static int upgrade(struct runs_file *f, struct err *err)
{
	_cleanup_(buf_done) struct buf sql = { 0 };

	assert(f->schema < RUNS_SCHEMA);
	buf_init(&sql);
	if (f->schema < 2) {
		buf_puts(&sql, orders);
		put_totals_sql(&sql);
		buf_putc(&sql, ';');
	}
	buf_puts(&sql, kinds);
	buf_printf(&sql, "PRAGMA user_version=%d;", RUNS_SCHEMA);
	f->schema = RUNS_SCHEMA;
	return runs_file_exec(f, sql.data, "upgrade", err);
}

/* Call within a transaction: another process may be creating the file, too. Returns 1 if it is a file of runs, 0 if
 * it is empty. */
static int check_schema(struct runs_file *f, struct err *err)
{
	int64_t application = 0, version = 0, tables = 0;
	int rc;

	if ((rc = get_number(f, "PRAGMA application_id", &application, err)) < 0 ||
	    (rc = get_number(f, "PRAGMA user_version", &version, err)) < 0 ||
	    (rc = get_number(f, "SELECT count(*) FROM sqlite_master", &tables, err)) < 0)
		return rc;
	if (application == 0 && version == 0 && tables == 0)
		return 0;
	if (application != RUNS_APPLICATION || version < 1)
		return err_set(err, -EBADMSG, "'%s' is a database, but not Strobe's database of runs", f->path);
	if (version > RUNS_SCHEMA)
		return err_set(err, -EBADMSG, "'%s' was written by a newer Strobe (schema %lld, this one knows up "
			       "to %d); upgrade strobe to read it", f->path, (long long)version, RUNS_SCHEMA);
	f->schema = version;
	return 1;
}

static int create(struct runs_file *f, struct err *err)
{
	_cleanup_(freep) char *sql = xasprintf("%s PRAGMA application_id=%d;", schema, RUNS_APPLICATION);
	int rc = runs_file_exec(f, sql, "create", err);

	return rc < 0 ? rc : upgrade(f, err);
}

static int check_or_create(struct runs_file *f, bool to_write, struct err *err)
{
	int rc = runs_file_exec(f, to_write ? "BEGIN IMMEDIATE" : "BEGIN", "open", err);

	if (rc >= 0)
		rc = check_schema(f, err);
	if (rc == 0 && to_write) {
		rc = create(f, err);
		if (rc >= 0)
			rc = 1;
	} else if (rc > 0 && to_write && f->schema < RUNS_SCHEMA) {
		rc = upgrade(f, err);
		if (rc >= 0)
			rc = 1;
	}
	assert(rc <= 0 || !to_write || f->schema == RUNS_SCHEMA);
	if (rc >= 0 && sqlite3_exec(f->db, "COMMIT", NULL, NULL, NULL))
		rc = sqlite_failed(f->db, "open", f->path, err);
	if (rc < 0 && !sqlite3_get_autocommit(f->db))
		sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
	return rc == 0 ? err_set(err, -ENOENT, "'%s' is empty", f->path) : rc;
}

/* SQLite would make the file readable by everybody. After imports by root, the file belongs to the daemon's user,
 * like the directory; SQLite gives log and index the same owner. */
static int create_file(const char *directory, const char *path, struct err *err)
{
	_cleanup_(fd_closep) int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
	struct stat st;

	if (fd < 0)
		return errno == EEXIST ? 0 : err_set(err, -errno, "cannot create '%s': %s", path, strerror(errno));
	if (geteuid() == 0 && stat(directory, &st) == 0 && (st.st_uid || st.st_gid) &&
	    fchown(fd, st.st_uid, st.st_gid) < 0)
		return err_set(err, -errno, "cannot give '%s' to the owner of its directory: %s", path,
			       strerror(errno));
	return 0;
}

static int open_writer(struct runs_file *f, const char *directory, struct err *err)
{
	struct stat st;
	int rc = create_file(directory, f->path, err);

	if (rc < 0)
		return rc;
	if (stat(f->path, &st) < 0)
		return err_set(err, -errno, "cannot open '%s': %s", f->path, strerror(errno));
	f->device = st.st_dev;
	f->inode = st.st_ino;
	if (sqlite3_open_v2(f->path, &f->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL))
		return sqlite_failed(f->db, "open", f->path, err);
	sqlite3_busy_timeout(f->db, BUSY_MS);
	rc = st.st_size == 0 ? runs_file_exec(f, "PRAGMA auto_vacuum=INCREMENTAL", "create", err) : 0;
	/* FULL: a commit that returned has reached the disk. The log is truncated after a large run. */
	if (rc >= 0)
		rc = runs_file_exec(f, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY;"
				       "PRAGMA journal_size_limit=33554432; PRAGMA trusted_schema=OFF", "open", err);
	return rc;
}

static int open_reader(struct runs_file *f, struct err *err)
{
	if (access(f->path, F_OK) < 0)
		return err_set(err, -errno, "cannot open '%s': %s", f->path, strerror(errno));
	if (sqlite3_open_v2(f->path, &f->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL))
		return sqlite_failed(f->db, "open", f->path, err);
	sqlite3_busy_timeout(f->db, BUSY_MS);
	return runs_file_exec(f, "PRAGMA trusted_schema=OFF", "open", err);
}

DEFINE_FREEP(struct runs_file, runs_file_close)

static int open_once(const char *directory, bool to_write, struct runs_file **ret, struct err *err)
{
	_cleanup_(runs_file_closep) struct runs_file *f = xcalloc(1, sizeof(*f));
	int rc;

	f->path = runs_file_path(directory);
	rc = sqlite_check_file(f->path, err);
	if (rc >= 0)
		rc = to_write ? open_writer(f, directory, err) : open_reader(f, err);
	if (rc >= 0 && (run_totals_add_function(f->db) || run_kind_add_function(f->db)))
		rc = sqlite_failed(f->db, "open", f->path, err);
	if (rc >= 0)
		rc = check_or_create(f, to_write, err);
	if (rc < 0)
		return rc;
	*ret = TAKE_PTR(f);
	return 0;
}

int runs_file_open(const char *directory, bool to_write, struct runs_file **ret, struct err *err)
{
	int64_t deadline = clock_monotonic_ns() + BUSY_MS * (NS_PER_SECOND / 1000);
	int rc;

	do {
		rc = open_once(directory, to_write, ret, err);
	} while (sqlite_wait_to_retry(rc, deadline));
	return rc;
}

struct runs_file *runs_file_close(struct runs_file *f)
{
	if (!f)
		return NULL;
	sqlite3_close_v2(f->db);
	free(f->path);
	free(f);
	return NULL;
}

bool runs_file_is_current(const struct runs_file *f)
{
	struct stat st;

	return stat(f->path, &st) == 0 && st.st_dev == f->device && st.st_ino == f->inode;
}

void runs_file_count(const char *directory, uint64_t *ret_runs, uint64_t *ret_bytes)
{
	_cleanup_(runs_file_closep) struct runs_file *f = NULL;
	int64_t runs = 0, bytes = 0;

	*ret_runs = *ret_bytes = 0;
	if (runs_file_open(directory, false, &f, NULL) < 0)
		return;
	if (get_number(f, "SELECT count(*) FROM run", &runs, NULL) >= 0)
		*ret_runs = (uint64_t)runs;
	if (get_number(f, "SELECT coalesce(sum(bytes), 0) FROM run", &bytes, NULL) >= 0)
		*ret_bytes = (uint64_t)bytes;
}

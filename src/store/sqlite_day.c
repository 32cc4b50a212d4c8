/* sqlite_day.c: creates, opens and closes day files; appending is in sqlite_append.c. */
#include "sqlite_day.h"
#include "chunk.h"
#include "clock.h"
#include "mem.h"
#include "sqlite_error.h"
#include <assert.h>
#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define BUSY_MS		5000	/* another process may be checking the log of a writer that died */
#define CUT_BUSY_MS	200	/* readers may be using the log */

static_assert(DAY_BUCKETS * BATCH_BUCKET_NS == NS_PER_DAY, "buckets divide a day");

char *day_path(const char *directory, int64_t number, const char *suffix)
{
	time_t seconds = (time_t)(number * 86400);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	return xasprintf("%s/%04d-%02d-%02d.db%s", directory, tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, suffix);
}

int64_t day_of_name(const char *name)
{
	static const char shape[] = "dddd-dd-dd.db";
	_cleanup_(freep) char *again = NULL;
	struct tm tm = { 0 };
	int64_t number;

	if (strlen(name) != sizeof(shape) - 1)
		return -1;
	for (size_t i = 0; shape[i]; i++)
		if (i < 10 && shape[i] == 'd' ? !isdigit((unsigned char)name[i]) : name[i] != shape[i])
			return -1;
	tm.tm_year = atoi(name) - 1900;
	tm.tm_mon = atoi(name + 5) - 1;
	tm.tm_mday = atoi(name + 8);
	number = timegm(&tm) / 86400;
	/* timegm turns 29 February of other years into 1 March; accept only names that we would write. */
	again = day_path("", number, "");
	return number >= 0 && !strcmp(again + 1, name) ? number : -1;
}

int64_t day_of_piece(const char *name, bool *ret_set_aside)
{
	char day[sizeof("2026-11-21.db")];

	if (strlen(name) < sizeof(day) - 1)
		return -1;
	memcpy(day, name, sizeof(day) - 1);
	day[sizeof(day) - 1] = 0;
	name += sizeof(day) - 1;
	*ret_set_aside = strncmp(name, ".corrupt-", strlen(".corrupt-")) == 0;
	if (*name && strcmp(name, "-wal") && strcmp(name, "-shm") && strcmp(name, "-journal") && !*ret_set_aside)
		return -1;
	return day_of_name(day);
}

int day_prepare(struct day *d, const char *sql, sqlite3_stmt **ret, struct err *err)
{
	return sqlite_prepare(d->db, sql, d->path, ret, err);
}

int day_exec(struct day *d, const char *sql, const char *doing, struct err *err)
{
	if (sqlite3_exec(d->db, sql, NULL, NULL, NULL))
		return sqlite_failed(d->db, doing, d->path, err);
	return 0;
}

static int get_number(struct day *d, const char *sql, int64_t *ret, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	int rc = day_prepare(d, sql, &s, err);

	if (rc < 0)
		return rc;
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW && sqlite3_column_type(s, 0) == SQLITE_INTEGER) {
		*ret = sqlite3_column_int64(s, 0);
		return 1;
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return sqlite_failed(d->db, "read", d->path, err);
	return 0;
}

int64_t day_number(struct day *d, const char *sql, int64_t otherwise)
{
	int64_t number;

	return get_number(d, sql, &number, NULL) > 0 ? number : otherwise;
}

int day_release_space(struct day *d, int64_t keep, const char *doing, struct err *err)
{
	int rc = 0;

	assert(sqlite3_get_autocommit(d->db));		/* neither pragma works inside a transaction */
	if (day_number(d, "PRAGMA freelist_count", 0) > keep)
		rc = day_exec(d, "PRAGMA incremental_vacuum", doing, err);
	/* Commits wait, so don't wait for a long query. */
	sqlite3_busy_timeout(d->db, CUT_BUSY_MS);
	sqlite3_wal_checkpoint_v2(d->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	sqlite3_busy_timeout(d->db, BUSY_MS);
	return rc;
}

struct str day_bytes(sqlite3_stmt *row, int column)
{
	const char *bytes = sqlite3_column_blob(row, column);	/* NULL if there are none */

	return (struct str){ bytes ? bytes : "", (size_t)sqlite3_column_bytes(row, column) };
}

void bundle_of_row(struct bundle_reader *r, sqlite3_stmt *row, int column)
{
	struct str data = day_bytes(row, column + 1);

	bundle_open(r, sqlite3_column_int64(row, column), data.p, data.n);
}

int series_of_row(sqlite3_stmt *row, int column, struct series *ret)
{
	return series_parse(ret, day_bytes(row, column), sqlite3_column_int64(row, column + 1),
			    sqlite3_column_int64(row, column + 2), day_bytes(row, column + 3));
}

bool series_row_is_hole(sqlite3_stmt *row, int column)
{
	return sqlite3_column_bytes(row, column + 3) == 0;
}

void series_key_of_row(sqlite3_stmt *row, int column, struct buf *out)
{
	buf_reset(out);
	series_put_key(out, day_bytes(row, column), (enum strobe_clock)sqlite3_column_int64(row, column + 1),
		       sqlite3_column_int64(row, column + 2), day_bytes(row, column + 3));
}

static const char schema[] =
	"CREATE TABLE frame_block(first INTEGER PRIMARY KEY, data BLOB NOT NULL);"
	"CREATE TABLE node_block(first INTEGER PRIMARY KEY, data BLOB NOT NULL);"
	"CREATE TABLE series(id INTEGER PRIMARY KEY, labels TEXT NOT NULL, clock INTEGER NOT NULL,"
	" period_ns INTEGER NOT NULL, columns BLOB NOT NULL);"
	"CREATE TABLE recent(id INTEGER PRIMARY KEY, bucket INTEGER NOT NULL, series INTEGER NOT NULL,"
	" data BLOB NOT NULL);"
	"CREATE TABLE chunk(id INTEGER PRIMARY KEY, data BLOB NOT NULL);"
	"CREATE TABLE batch(seq INTEGER PRIMARY KEY, id INTEGER NOT NULL);";

static int create_schema(struct day *d, struct err *err)
{
	_cleanup_(freep) char *sql = NULL;
	int rc;

	/* One transaction, so that a crash leaves either an empty database, for which this is repeated, or the
	 * complete schema. */
	sql = xasprintf("BEGIN IMMEDIATE; %s PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT;", schema,
			DAY_APPLICATION, DAY_BUNDLES);
	rc = day_exec(d, sql, "create", err);
	if (rc < 0 && !sqlite3_get_autocommit(d->db))
		sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	if (rc < 0)
		return rc;
	return day_exec(d, "PRAGMA wal_checkpoint(TRUNCATE)", "create", err);
}

int day_raise_schema(struct day *d, int64_t needed, struct err *err)
{
	_cleanup_(freep) char *sql = xasprintf("PRAGMA user_version=%lld", (long long)needed);
	int64_t version;
	int rc = get_number(d, "PRAGMA user_version", &version, err);

	assert(!sqlite3_get_autocommit(d->db) && needed <= DAY_SCHEMA);
	return rc < 0 || version >= needed ? rc : day_exec(d, sql, "write to", err);
}

/* Returns 1 if it is a day file, 0 if it is an empty database. */
static int check_schema(struct day *d, struct err *err)
{
	int64_t application = 0, version = 0, tables = 0;
	int rc;

	/* Checks in one transaction: another process may be creating the file. */
	rc = day_exec(d, "BEGIN", "open", err);
	if (rc >= 0)
		rc = get_number(d, "PRAGMA application_id", &application, err);
	if (rc >= 0)
		rc = get_number(d, "PRAGMA user_version", &version, err);
	if (rc >= 0)
		rc = get_number(d, "SELECT count(*) FROM sqlite_master", &tables, err);
	if (!sqlite3_get_autocommit(d->db))
		sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	if (rc < 0)
		return rc;
	if (application == 0 && version == 0 && tables == 0)
		return 0;
	if (application != DAY_APPLICATION || version < 1)
		return err_set(err, -EBADMSG, "'%s' is a database, but not one of Strobe", d->path);
	if (version > DAY_SCHEMA)
		return err_set(err, -EBADMSG, "'%s' was written by a newer Strobe (schema %lld, this one knows up "
			       "to %d); upgrade strobe to read it", d->path, (long long)version, DAY_SCHEMA);
	return 1;
}

/* SQLite would create it readable by everybody; log and index files take over the permissions of this one. */
static int create_file(const char *path, struct err *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);

	if (fd < 0 && errno != EEXIST)
		return err_set(err, -errno, "cannot create '%s': %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return 0;
}

static int open_writer(struct day *d, struct err *err)
{
	int rc = create_file(d->path, err);
	struct stat st;

	if (rc < 0)
		return rc;
	if (stat(d->path, &st) < 0)
		return err_set(err, -errno, "cannot open '%s': %s", d->path, strerror(errno));
	d->device = st.st_dev;
	d->inode = st.st_ino;
	if (sqlite3_open_v2(d->path, &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL))
		return sqlite_failed(d->db, "open", d->path, err);
	sqlite3_busy_timeout(d->db, BUSY_MS);
	/* Only works on an empty file; on any other it would write the first page at each opening. */
	rc = st.st_size == 0 ? day_exec(d, "PRAGMA auto_vacuum=INCREMENTAL", "create", err) : 0;
	/* FULL: a commit that returned has reached the disk, not only the kernel. */
	if (rc >= 0)
		rc = day_exec(d, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY;"
			      "PRAGMA cache_size=-16384; PRAGMA trusted_schema=OFF", "open", err);
	if (rc < 0)
		return rc;
	rc = check_schema(d, err);
	if (rc == 0)
		rc = create_schema(d, err);
	return rc;
}

/* Opens the file for readers that may not create the log's index: without a log, the file is complete. */
static int open_immutable(struct day *d, struct err *err)
{
	_cleanup_(freep) char *log = xasprintf("%s-wal", d->path), *uri = NULL;
	struct stat st;

	if (stat(log, &st) == 0 && st.st_size > 0)
		return sqlite_failed(d->db, "open", d->path, err);
	sqlite3_close(d->db);
	d->db = NULL;
	{
		_cleanup_(buf_done) struct buf b = { 0 };

		buf_init(&b);
		buf_puts(&b, "file:");
		for (const char *p = d->path; *p; p++) {
			if (*p == '%' || *p == '?' || *p == '#')
				buf_printf(&b, "%%%02X", (unsigned char)*p);
			else
				buf_putc(&b, *p);
		}
		buf_puts(&b, "?immutable=1");
		uri = buf_take(&b, NULL);
	}
	if (sqlite3_open_v2(uri, &d->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL))
		return sqlite_failed(d->db, "open", d->path, err);
	return 0;
}

static int open_reader(struct day *d, struct err *err)
{
	int64_t unused;
	int rc, code;

	if (access(d->path, F_OK) < 0)
		return err_set(err, -errno, "cannot open '%s': %s", d->path, strerror(errno));
	if (sqlite3_open_v2(d->path, &d->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL))
		return sqlite_failed(d->db, "open", d->path, err);
	sqlite3_busy_timeout(d->db, BUSY_MS);
	rc = get_number(d, "PRAGMA schema_version", &unused, NULL);
	code = sqlite3_errcode(d->db) & 0xff;
	if (rc < 0 && (code == SQLITE_CANTOPEN || code == SQLITE_READONLY)) {
		rc = open_immutable(d, err);
		if (rc < 0)
			return rc;
	}
	rc = day_exec(d, "PRAGMA trusted_schema=OFF", "open", err);
	if (rc >= 0)
		rc = check_schema(d, err);
	if (rc == 0)	/* being created right now, still empty */
		return err_set(err, -ENOENT, "'%s' is empty", d->path);
	return rc;
}

bool day_is_current(const struct day *d)
{
	struct stat st;

	return stat(d->path, &st) == 0 && st.st_dev == d->device && st.st_ino == d->inode;
}

DEFINE_FREEP(struct day, day_close)

static int open_once(const char *directory, int64_t number, enum day_mode mode, struct day **ret, struct err *err)
{
	_cleanup_(day_closep) struct day *d = xcalloc(1, sizeof(*d));
	int rc;

	assert(number >= 0);
	d->number = number;
	d->path = day_path(directory, number, "");
	intern_init(&d->series);
	map_init(&d->batches);
	rc = sqlite_check_file(d->path, err);
	if (rc >= 0)
		rc = mode == DAY_WRITE ? open_writer(d, err) : open_reader(d, err);
	if (rc < 0)
		return rc;
	d->hours_to_compact = (1u << 24) - 1;	/* until compaction has checked */
	*ret = TAKE_PTR(d);
	return 0;
}

int day_open(const char *directory, int64_t number, enum day_mode mode, struct day **ret, struct err *err)
{
	int64_t deadline = clock_monotonic_ns() + BUSY_MS * (NS_PER_SECOND / 1000);
	int rc;

	do {
		rc = open_once(directory, number, mode, ret, err);
	} while (sqlite_wait_to_retry(rc, deadline));
	return rc;
}

struct day *day_close(struct day *d)
{
	if (!d)
		return NULL;
	stack_dict_free(d->stacks);
	intern_done(&d->series);
	map_done(&d->batches);
	sqlite3_close_v2(d->db);
	free(d->path);
	free(d);
	return NULL;
}

/* Finds the buckets of a compacted hour from the headers of its chunks. */
static void hour_extent(struct day *d, int64_t hour, unsigned *first, unsigned *end)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	_cleanup_(buf_done) struct buf scratch = { 0 };

	assert(hour >= 0 && hour < 24);
	if (day_prepare(d, "SELECT data FROM chunk WHERE id >= ?1 << 24 AND id < (?1 + 1) << 24", &s, NULL) < 0)
		return;
	buf_init(&scratch);
	sqlite3_bind_int64(s, 1, hour);
	while (sqlite3_step(s) == SQLITE_ROW) {
		const void *data = sqlite3_column_blob(s, 0);
		struct chunk_reader r;

		/* The number of columns does not affect the part of the header that is needed, so 1 will do. */
		if (chunk_open(&r, data, (size_t)sqlite3_column_bytes(s, 0), 1, &scratch) < 0)
			continue;
		if (hour * CHUNK_BUCKETS + r.first_bucket < *first)
			*first = (unsigned)hour * CHUNK_BUCKETS + r.first_bucket;
		if (hour * CHUNK_BUCKETS + r.last_bucket + 1 > *end)
			*end = (unsigned)hour * CHUNK_BUCKETS + r.last_bucket + 1;
	}
}

bool day_extent(struct day *d, unsigned *ret_first, unsigned *ret_end)
{
	int64_t first_hour = day_number(d, "SELECT min(id) >> 24 FROM chunk", -1);
	int64_t last_hour = day_number(d, "SELECT max(id) >> 24 FROM chunk", -1);
	int64_t first = day_number(d, "SELECT min(bucket) FROM recent", -1);
	int64_t last = day_number(d, "SELECT max(bucket) FROM recent", -1);

	*ret_first = DAY_BUCKETS;
	*ret_end = 0;
	if (first >= 0 && last >= first && last < DAY_BUCKETS) {
		*ret_first = (unsigned)first;
		*ret_end = (unsigned)last + 1;
	}
	if (first_hour >= 0 && first_hour < 24)
		hour_extent(d, first_hour, ret_first, ret_end);
	if (last_hour > first_hour && last_hour >= 0 && last_hour < 24)
		hour_extent(d, last_hour, ret_first, ret_end);
	assert(*ret_first <= DAY_BUCKETS && *ret_end <= DAY_BUCKETS);
	return *ret_first < *ret_end;
}

/* test_sqlite_bundles.c: tests rows of `recent` with many series, rows written by earlier versions, and both in one
 * file. */
#include "bundle.h"
#include "sqlite_day.h"
#include "sqlite_store.h"
#include "store_fixture.h"
#include "test.h"


static struct store *open_in(const char *directory)
{
	_cleanup_(freep) char *url = xasprintf("sqlite:%s", directory);
	struct store *s = NULL;

	CHECK_INT(store_open(url, false, &s, NULL), 0);
	return s;
}

static sqlite3 *open_day(const char *directory)
{
	_cleanup_(freep) char *path = xasprintf("%s/2025-11-21.db", directory);
	sqlite3 *db;

	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	return db;
}

static int64_t number_in(const char *directory, const char *sql)
{
	sqlite3 *db = open_day(directory);
	sqlite3_stmt *s;
	int64_t n = -1;

	CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
	if (sqlite3_step(s) == SQLITE_ROW)
		n = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(db);
	return n;
}

static void tamper(const char *directory, const char *sql)
{
	sqlite3 *db = open_day(directory);

	CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void append_three(struct store *s, uint64_t id, int64_t ns)
{
	struct maker *m = maker_new(id);

	maker_add(m, ns, "entry=a", "main;a", 1);
	maker_add(m, ns + BATCH_BUCKET_NS, "entry=b", "main;b", 20);
	maker_add(m, ns, "entry=c", "main;c", 300);
	maker_add(m, ns, "entry=a", "main;a;deep", 4000);
	CHECK_INT(store_append(s, &m->batch, NULL), 0);
	maker_free(m);
}

/* Replaces bundles by one row per chunk, like versions before bundles wrote the file. */
static void unbundle(const char *directory)
{
	sqlite3 *db = open_day(directory);
	sqlite3_stmt *rows, *insert;

	CHECK_INT(sqlite3_exec(db, "BEGIN; ALTER TABLE recent RENAME TO bundled; CREATE TABLE recent(id INTEGER PRIMARY KEY, "
			       "bucket INTEGER NOT NULL, series INTEGER NOT NULL, data BLOB NOT NULL);", NULL, NULL, NULL), SQLITE_OK);
	CHECK_INT(sqlite3_prepare_v2(db, "SELECT bucket, series, data FROM bundled", -1, &rows, NULL), SQLITE_OK);
	CHECK_INT(sqlite3_prepare_v2(db, "INSERT INTO recent(bucket, series, data) VALUES(?, ?, ?)", -1, &insert, NULL), SQLITE_OK);
	while (sqlite3_step(rows) == SQLITE_ROW) {
		struct bundle_reader r;
		struct str chunk;
		int64_t series;

		CHECK_INT(sqlite3_column_int64(rows, 1), BUNDLE_SERIES);
		bundle_of_row(&r, rows, 1);
		while (bundle_next(&r, &series, &chunk) > 0) {
			sqlite3_bind_int64(insert, 1, sqlite3_column_int64(rows, 0));
			sqlite3_bind_int64(insert, 2, series);
			sqlite3_bind_blob(insert, 3, chunk.p, (int)chunk.n, SQLITE_TRANSIENT);
			CHECK_INT(sqlite3_step(insert), SQLITE_DONE);
			sqlite3_reset(insert);
		}
	}
	sqlite3_finalize(rows);
	sqlite3_finalize(insert);
	CHECK_INT(sqlite3_exec(db, "DROP TABLE bundled; PRAGMA user_version = 1; COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static int64_t ask_entry(struct store *s, const char *entry)
{
	const struct label_filter filter = { "entry", entry, LABEL_IS };
	struct profile *p = ask(s, 0, INT64_MAX, &filter, 1, NULL);
	int64_t sum = profile_sum(p, 0);

	profile_free(p);
	return sum;
}

static void check_answers(struct store *s, int64_t times)
{
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 4321 * times);
	CHECK_INT(ask_sum(s, NOON, NOON + BATCH_BUCKET_NS), 4301 * times);
	CHECK_INT(ask_entry(s, "a"), 4001 * times);
	CHECK_INT(ask_entry(s, "b"), 20 * times);
	CHECK_INT(ask_entry(s, "c"), 300 * times);
}

TEST(a_batch_makes_one_row_per_bucket)
{
	char *directory = fixture_directory();
	struct store *s = open_in(directory);

	append_three(s, 1, NOON);
	CHECK_INT(number_in(directory, "SELECT count(*) FROM recent"), 2);
	CHECK_INT(number_in(directory, "PRAGMA user_version"), DAY_BUNDLES);
	check_answers(s, 1);
	store_close(s);
	fixture_remove(directory);
}

TEST(an_hour_compacted_in_several_passes_has_the_same_content)
{
	static const struct store_limits none = { 0, 0 };
	int64_t usual = sqlite_compact_bytes;
	char *answers[2];

	for (int passes = 0; passes < 2; passes++) {
		char *directory = fixture_directory();
		struct store *s = open_in(directory);

		for (uint64_t id = 1; id <= 20; id++)
			append_three(s, id, NOON + (int64_t)id * BATCH_BUCKET_NS);
		sqlite_compact_bytes = passes ? 200 : usual;
		CHECK_INT(store_maintain(s, &none, NOON + 2 * DAY, NULL), 0);
		CHECK_INT(number_in(directory, "SELECT count(*) FROM recent"), 0);
		CHECK_INT(number_in(directory, "SELECT count(*) FROM chunk"), 3);
		CHECK_INT(ask_sum(s, 0, INT64_MAX), 20 * 4321);
		answers[passes] = ask_folded(s, 0, INT64_MAX);
		store_close(s);
		fixture_remove(directory);
	}
	sqlite_compact_bytes = usual;
	CHECK_STR(answers[0], answers[1]);
	free(answers[0]);
	free(answers[1]);
}

TEST(a_file_of_an_earlier_version_is_upgraded_and_then_rejected_by_that_version)
{
	static const struct store_limits none = { 0, 0 };
	char *directory = fixture_directory();
	struct store *s = open_in(directory);
	char *first, *second;

	append_three(s, 1, NOON);
	first = ask_folded(s, 0, INT64_MAX);
	store_close(s);
	unbundle(directory);
	CHECK_INT(number_in(directory, "SELECT count(*) FROM recent"), 4);
	s = open_in(directory);
	second = ask_folded(s, 0, INT64_MAX);
	CHECK_STR(first, second);
	check_answers(s, 1);
	CHECK_INT(number_in(directory, "PRAGMA user_version"), 1);	/* nothing was written yet */

	append_three(s, 2, NOON);
	CHECK_INT(number_in(directory, "SELECT count(*) FROM recent"), 6);
	CHECK_INT(number_in(directory, "PRAGMA user_version"), DAY_BUNDLES);
	check_answers(s, 2);
	CHECK_INT(store_maintain(s, &none, NOON + 2 * DAY, NULL), 0);
	CHECK_INT(number_in(directory, "SELECT count(*) FROM recent"), 0);
	CHECK_INT(number_in(directory, "SELECT count(*) FROM chunk"), 3);
	check_answers(s, 2);
	store_close(s);
	free(first);
	free(second);
	fixture_remove(directory);
}

/* Replaces the bytes of the first bundle from `at` on. */
static void damage(const char *directory, int at, const char *hex)
{
	_cleanup_(freep) char *sql = xasprintf("UPDATE recent SET data = CAST(substr(data, 1, %d) || x'%s' || substr(data, %d) AS BLOB) "
					       "WHERE id = 1", at, hex, at + 1 + (int)strlen(hex) / 2);

	tamper(directory, sql);
}

TEST(damage_in_a_bundle_costs_one_chunk_or_those_that_follow)
{
	static const struct { int at; const char *hex; int64_t at_least; } cases[] = {
		{ 2, "07", 4320 },		/* how the first chunk is packed */
		{ 1, "7f", 20 },		/* its size */
		{ 0, "00", 20 },		/* its series */
		{ 0, "09", 20 },		/* a series that does not exist: the ones after it do not, either */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		static const struct store_limits none = { 0, 0 };
		struct store_query_stats stats = { 0 };
		char *directory = fixture_directory();
		struct store *s = open_in(directory);
		struct store_stats store;
		int64_t sum;

		append_three(s, 1, NOON);
		store_close(s);
		damage(directory, cases[i].at, cases[i].hex);
		s = open_in(directory);
		profile_free(ask(s, 0, INT64_MAX, NULL, 0, &stats));
		CHECK_INT(stats.damaged_days, 1);
		sum = ask_sum(s, 0, INT64_MAX);
		CHECK_INT(sum, cases[i].at_least);
		CHECK_INT(store_maintain(s, &none, NOON + 2 * DAY, NULL), 0);
		CHECK_INT(ask_sum(s, 0, INT64_MAX), sum);
		store_stats(s, &store);
		CHECK(store.errors > 0);
		store_close(s);
		fixture_remove(directory);
	}
}

TEST_MAIN()

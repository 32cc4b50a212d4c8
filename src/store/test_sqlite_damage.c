/* test_sqlite_damage.c: tests how a SQLite store treats days that are damaged, foreign, or of a newer version. */
#include "sqlite_fixture.h"
#include "sqlite_store.h"

TEST(a_file_that_is_not_a_database_is_set_aside)
{
	char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db", directory), text[8192];
	struct store *s = open_in(directory, false, NULL);
	struct store_stats stats;

	memset(text, 'x', sizeof(text));
	for (int i = 1; i <= 2; i++) {
		write_file(path, text, sizeof(text), 0);
		CHECK_INT(append_one(s, (uint64_t)i, NOON, "entry=a", "main", 1), 0);
		CHECK_INT(ask_sum(s, 0, INT64_MAX), 1);
		CHECK_INT(files_like(directory, ".corrupt-"), i);
		store_stats(s, &stats);
		CHECK_INT(stats.errors, i);
		/* Replaces the file while it is open, like a careless restore would. */
		CHECK_INT(unlink(path), 0);
	}
	store_close(s);
	free(path);
	fixture_remove(directory);
}

TEST(a_database_of_another_program_is_set_aside_unchanged)
{
	char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db", directory);
	char *aside = xasprintf("%s.corrupt-1", path);
	struct store *s;
	sqlite3 *db;

	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, "CREATE TABLE photos(a); INSERT INTO photos VALUES(1)", NULL, NULL, NULL), 0);
	sqlite3_close(db);
	s = open_in(directory, false, NULL);
	CHECK_INT(append_one(s, 1, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(sqlite3_open(aside, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, "SELECT a FROM photos", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	store_close(s);
	free(path);
	free(aside);
	fixture_remove(directory);
}

TEST(a_damaged_day_affects_no_other_day_and_is_set_aside_by_maintenance)
{
	char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db", directory), junk[8192];
	struct store *s = open_in(directory, false, NULL);
	struct store_stats stats;

	for (int i = 0; i < 300; i++) {
		char stack[32];

		snprintf(stack, sizeof(stack), "main;f%d", i);
		CHECK_INT(append_one(s, 0, NOON, "entry=a", stack, 1), 0);
	}
	CHECK_INT(append_one(s, 0, NOON + DAY, "entry=a", "main", 7), 0);
	store_close(s);
	memset(junk, 0xa5, sizeof(junk));
	write_file(path, junk, sizeof(junk), 4096);
	s = open_in(directory, false, NULL);
	CHECK(ask_sum(s, 0, INT64_MAX) >= 7);
	CHECK_INT(ask_sum(s, NOON + DAY, NOON + 2 * DAY), 7);
	maintain_at(s, NOON + 2 * DAY);
	CHECK_INT(files_like(directory, ".corrupt-1"), 1);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 7);
	store_stats(s, &stats);
	CHECK(stats.errors > 0);
	CHECK_INT(append_one(s, 0, NOON, "entry=a", "main", 2), 0);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 9);
	store_close(s);
	free(path);
	fixture_remove(directory);
}

/* Runs SQL on a day file from outside. */
static void tamper(const char *path, const char *sql)
{
	sqlite3 *db;

	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

TEST(invalid_content_is_counted_and_skipped)
{
	static const char *const damage[] = {
		"UPDATE recent SET data = x'0000' WHERE id = 1",
		"UPDATE recent SET series = 99 WHERE id = 1",
		"UPDATE recent SET series = -1 WHERE id = 1",
		"UPDATE recent SET data = zeroblob(20) WHERE id = 1",
		"UPDATE recent SET data = 'text' WHERE id = 1",
		"UPDATE series SET columns = x'41' WHERE id = 1",
		"UPDATE series SET labels = '=,=' WHERE id = 1",
		"UPDATE series SET id = 7 WHERE id = 1",
		"DELETE FROM frame_block",
		"UPDATE node_block SET data = x'01ff'",
		"UPDATE node_block SET first = 99 WHERE first = 1",
		"UPDATE frame_block SET data = x'02ffffffffffff'",
		"UPDATE line_block SET data = x'0001'",
		"UPDATE line_block SET first = first + 1",
		"DROP TABLE chunk",
	};

	for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
		char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db", directory);
		struct store *s = open_in(directory, false, NULL);
		struct store_query q = { 0, INT64_MAX };
		struct store_labels labels;
		struct store_stats stats;
		uint64_t steps[4];

		CHECK_INT(append_one(s, 1, NOON, "entry=a", "main;a@9", 1), 0);
		CHECK_INT(append_one(s, 2, NOON, "entry=b", "main;b", 2), 0);
		store_close(s);
		tamper(path, damage[i]);
		s = open_in(directory, false, NULL);
		CHECK(ask_sum(s, 0, INT64_MAX) >= (i < 5 ? 2 : i < 14 ? 0 : -1));
		store_timeline(s, &q, DAY, steps, 4, NULL);
		if (store_labels(s, &q, &labels, NULL) == 0)
			store_labels_done(&labels);
		maintain_at(s, NOON + DAY);
		CHECK_INT(append_one(s, 3, NOON, "entry=a", "main;a", 4), 0);
		CHECK(ask_sum(s, 0, INT64_MAX) >= 4);
		store_stats(s, &stats);
		CHECK(stats.errors > 0);
		store_close(s);
		free(path);
		fixture_remove(directory);
	}
}

static uint64_t damaged_days(struct store *s, int64_t from, int64_t to)
{
	struct store_query q = { .from_ns = from, .to_ns = to };
	struct store_query_stats query_stats = { 0 };
	struct profile *p = NULL;

	CHECK_INT(store_query(s, &q, &p, &query_stats, NULL), 0);
	profile_free(p);
	return query_stats.damaged_days;
}

TEST(an_unreadable_day_is_reported_as_missing_and_left_in_place)
{
	char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db", directory);
	struct store *s = open_in(directory, false, NULL);
	struct store_stats stats;

	/* A directory in its place acts like a bad sector, even for root. */
	CHECK_INT(mkdir(path, 0700), 0);
	CHECK_INT(append_one(s, 1, NOON + DAY, "entry=a", "main", 7), 0);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 7);
	CHECK_INT(damaged_days(s, 0, INT64_MAX), 1);
	CHECK_INT(damaged_days(s, NOON + DAY, INT64_MAX), 0);
	for (int round = 0; round < 2; round++) {
		maintain_at(s, NOON + DAY + HOUR);
		store_stats(s, &stats);
		CHECK_INT(stats.days_damaged, 1);
		CHECK_INT(access(path, F_OK), 0);
	}
	/* Once it is back, it is read. */
	CHECK_INT(rmdir(path), 0);
	CHECK_INT(append_one(s, 2, NOON, "entry=a", "main", 2), 0);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 9);
	CHECK_INT(damaged_days(s, 0, INT64_MAX), 0);
	maintain_at(s, NOON + DAY + 2 * HOUR);
	store_stats(s, &stats);
	CHECK_INT(stats.days_damaged, 0);
	store_close(s);
	free(path);
	fixture_remove(directory);
}

TEST(the_store_opens_despite_a_damaged_day_and_answers_report_it_as_missing)
{
	static const struct {
		off_t at;		/* offset in the file of the first of two days; -1: the file is truncated */
		const char *bytes;
		size_t n;
	} damages[] = { { 0, "T", 1 }, { 60, "\0\0\0\x09", 4 }, { -1, "", 0 }, { 0, "no database", 11 } };

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db", directory);
		struct store *s = open_in(directory, false, NULL);
		struct store_stats stats;

		CHECK_INT(append_one(s, 1, NOON, "entry=a", "main", 1), 0);
		CHECK_INT(append_one(s, 2, NOON + DAY, "entry=a", "main", 7), 0);
		CHECK_INT(damaged_days(s, 0, INT64_MAX), 0);
		store_close(s);
		if (damages[i].at < 0)
			CHECK_INT(truncate(path, 0), 0);
		else
			write_file(path, damages[i].bytes, damages[i].n, damages[i].at);

		s = open_in(directory, false, NULL);
		CHECK_INT(files_like(directory, "corrupt"), 1);
		CHECK_INT(ask_sum(s, 0, INT64_MAX), 7);
		CHECK_INT(damaged_days(s, 0, INT64_MAX), 1);
		CHECK_INT(damaged_days(s, NOON + DAY, INT64_MAX), 0);
		store_stats(s, &stats);
		CHECK_INT(stats.days_damaged, 1);
		CHECK_INT(append_one(s, 3, NOON, "entry=a", "main", 2), 0);
		CHECK_INT(ask_sum(s, 0, INT64_MAX), 9);
		CHECK_INT(damaged_days(s, 0, INT64_MAX), 1);
		store_close(s);
		free(path);
		fixture_remove(directory);
	}
}

/* SQLite would block until somebody writes into the pipe. */
TEST(a_pipe_is_set_aside_and_a_dangling_link_is_left_in_place)
{
	char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db", directory);
	char *elsewhere = xasprintf("%s/elsewhere", directory), *aside = xasprintf("%s.corrupt-1", path);
	struct store *s = open_in(directory, false, NULL);
	struct store_stats stats;

	CHECK_INT(append_one(s, 1, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(append_one(s, 2, NOON + DAY, "entry=a", "main", 7), 0);
	store_close(s);
	CHECK_INT(rename(path, elsewhere), 0);
	CHECK_INT(mkfifo(path, 0600), 0);
	s = open_in(directory, false, NULL);
	CHECK_INT(files_like(directory, "corrupt"), 1);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 7);
	CHECK_INT(damaged_days(s, 0, INT64_MAX), 1);
	store_close(s);
	CHECK_INT(unlink(aside), 0);

	for (unsigned i = 0; i < 2; i++) {
		CHECK_INT(symlink(i ? path : "/nowhere", path), 0);
		s = open_in(directory, false, NULL);
		store_stats(s, &stats);
		CHECK_INT(stats.days_damaged, 1);
		CHECK_INT(ask_sum(s, 0, INT64_MAX), 7);
		CHECK_INT(damaged_days(s, 0, INT64_MAX), 1);
		store_close(s);
		CHECK_INT(unlink(path), 0);
	}

	CHECK_INT(symlink(elsewhere, path), 0);
	s = open_in(directory, false, NULL);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 8);
	CHECK_INT(damaged_days(s, 0, INT64_MAX), 0);
	store_close(s);
	free(path);
	free(elsewhere);
	free(aside);
	fixture_remove(directory);
}

TEST(a_day_of_a_newer_strobe_is_set_aside_and_stays_readable_by_it)
{
	char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db", directory);
	char *aside = xasprintf("%s.corrupt-1", path);
	struct store *s = open_in(directory, false, NULL);

	CHECK_INT(append_one(s, 1, NOON, "entry=a", "main", 1), 0);
	store_close(s);
	tamper(path, "PRAGMA user_version = 4");
	s = open_in(directory, true, NULL);	/* readers rename nothing */
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 0);
	CHECK_INT(damaged_days(s, 0, INT64_MAX), 1);
	store_close(s);
	CHECK_INT(files_like(directory, "corrupt"), 0);
	s = open_in(directory, false, NULL);
	CHECK_INT(append_one(s, 2, NOON, "entry=a", "main", 5), 0);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 5);
	store_close(s);
	tamper(aside, "PRAGMA user_version = 1");
	CHECK_INT(rename(aside, path), 0);
	s = open_in(directory, false, NULL);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 1);
	store_close(s);
	free(path);
	free(aside);
	fixture_remove(directory);
}

TEST(chunks_of_impossible_hours_do_not_extend_the_range_of_a_store)
{
	char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db", directory);
	struct store *s = open_in(directory, false, NULL);
	struct store_stats stats;

	CHECK_INT(append_one(s, 1, NOON, "entry=a", "main", 1), 0);
	maintain_at(s, NOON + 2 * DAY);
	store_close(s);
	tamper(path, "INSERT INTO chunk SELECT 1 - (3 << 24), data FROM chunk;"
		     "INSERT INTO chunk SELECT 1 - (1 << 24), data FROM chunk WHERE id > 0; DELETE FROM chunk WHERE id > 0");
	s = open_in(directory, false, NULL);
	store_stats(s, &stats);
	CHECK_INT(stats.oldest_ns, 0);
	CHECK_INT(stats.newest_ns, 0);
	store_close(s);
	free(path);
	fixture_remove(directory);
}

/* Leaves the change in the log, like a process that was killed. */
static void tamper_in_log(const char *path, const char *sql)
{
	sqlite3 *db;

	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

TEST(a_day_upgraded_in_its_log_by_a_newer_strobe_is_set_aside_with_the_log)
{
	char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db", directory);
	struct store *s = open_in(directory, false, NULL);
	struct store_stats stats;

	CHECK_INT(append_one(s, 1, NOON, "entry=a", "main", 1), 0);
	store_close(s);
	tamper_in_log(path, "PRAGMA user_version = 4");
	s = open_in(directory, false, NULL);
	CHECK_INT(files_like(directory, ".db.corrupt-1-wal"), 1);
	CHECK_INT(files_like(directory, ".db.corrupt-1"), 2);
	store_stats(s, &stats);
	CHECK_INT(stats.days_damaged, 1);
	CHECK_INT(append_one(s, 2, NOON, "entry=a", "main", 5), 0);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 5);
	store_close(s);
	free(path);
	fixture_remove(directory);
}

TEST(an_empty_file_left_by_a_crash_becomes_a_day)
{
	char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db", directory);
	struct store *s = open_in(directory, false, NULL);

	write_file(path, "", 0, 0);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 0);
	CHECK_INT(append_one(s, 1, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 1);
	CHECK_INT(files_like(directory, "corrupt"), 0);
	store_close(s);
	free(path);
	fixture_remove(directory);
}

TEST(files_set_aside_expire_with_their_day)
{
	char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db.corrupt-1", directory);
	char *other = xasprintf("%s/2025-11-21.txt", directory);
	struct store *s = open_in(directory, false, NULL);
	const struct store_limits l = { DAY, 0 };

	write_file(path, "x", 1, 0);
	write_file(other, "x", 1, 0);
	CHECK_INT(append_one(s, 1, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(store_maintain(s, &l, NOON + 3 * DAY, NULL), 0);
	CHECK_INT(files_like(directory, "2025-11-21"), 1);	/* other files stay */
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 0);
	store_close(s);
	free(path);
	free(other);
	fixture_remove(directory);
}

static void note_damaged_day(void *data, int64_t day_ns, const char *why)
{
	*(int64_t *)data = why ? day_ns : -1;
}

TEST(a_reader_reports_damage_to_the_writer)
{
	char *directory = fixture_directory();
	struct store *writer = open_in(directory, false, NULL), *reader = open_in(directory, true, NULL);
	int64_t reported = 0, midnight = NOON - NOON % DAY;
	struct store_query_stats query_stats = { 0 };
	struct store_query q = { .from_ns = NOON, .to_ns = NOON + HOUR };
	struct store_stats stats;
	struct profile *p = NULL;
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/2025-11-21.db", directory);
	f = fopen(path, "w");
	fputs("this is no database, and it is long enough to be looked at as one: ............................", f);
	fclose(f);
	store_on_damage(reader, note_damaged_day, &reported);
	CHECK_INT(store_query(reader, &q, &p, &query_stats, NULL), 0);
	CHECK_INT(query_stats.damaged_days, 1);
	CHECK_INT(reported, midnight);
	store_stats(reader, &stats);
	CHECK_INT(stats.errors, 0);
	store_note_damage(writer, reported, "it is damaged");
	store_stats(writer, &stats);
	CHECK_INT(stats.errors, 1);
	profile_free(p);
	store_close(reader);
	store_close(writer);
	fixture_remove(directory);
}

TEST_MAIN()

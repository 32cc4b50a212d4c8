/* test_sqlite_store.c: tests the guarantees specific to the SQLite store: its lock, its files, and recovery. */
#include "sqlite_store.h"
#include "failing_vfs.h"
#include "store_fixture.h"
#include "test.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>

static struct store *open_in(const char *directory, bool read_only, struct err *err)
{
	_cleanup_(freep) char *url = xasprintf("sqlite:%s", directory);
	struct store *s = NULL;
	struct err own = { 0 };

	if (store_open(url, read_only, &s, err ? err : &own) < 0 && !err)
		printf("# %s\n", own.text);
	return s;
}

static int maintain_at(struct store *s, int64_t now_ns)
{
	const struct store_limits none = { 0, 0 };

	return store_maintain(s, &none, now_ns, NULL);
}

static size_t files_like(const char *directory, const char *part)
{
	DIR *dir = opendir(directory);
	struct dirent *e;
	size_t n = 0;

	while (dir && (e = readdir(dir)))
		n += strstr(e->d_name, part) != NULL;
	if (dir)
		closedir(dir);
	return n;
}

static void write_file(const char *path, const void *bytes, size_t n, off_t at)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0640);

	CHECK(fd >= 0 && pwrite(fd, bytes, n, at) == (ssize_t)n);
	close(fd);
}

static mode_t mode_of(const char *directory, const char *name)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", directory, name);
	struct stat st = { 0 };

	CHECK(stat(path, &st) == 0);
	return st.st_mode & 0777;
}

/* --- Files and locks --- */

TEST(a_second_writer_is_told_who_holds_the_store)
{
	char *directory = fixture_directory();
	struct store *s = open_in(directory, false, NULL), *reader;
	struct err err = { 0 };
	char pid[32];

	snprintf(pid, sizeof(pid), "(pid %ld)", (long)getpid());
	CHECK(!open_in(directory, false, &err));
	CHECK_INT(err.code, -EBUSY);
	CHECK(strstr(err.text, "is in use by another strobe") && strstr(err.text, pid));
	reader = open_in(directory, true, NULL);
	CHECK(reader != NULL);
	store_close(reader);
	store_close(s);
	s = open_in(directory, false, NULL);
	CHECK(s != NULL);
	store_close(s);
	fixture_remove(directory);
}

TEST(files_are_for_the_owner_and_the_group)
{
	char *base = fixture_directory(), *directory = xasprintf("%s/a/b", base);
	mode_t mask = umask(022);
	struct store *s = open_in(directory, false, NULL);

	CHECK_INT(append_one(s, 1, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(mode_of(base, "a/b"), 0750);
	CHECK_INT(mode_of(directory, "2025-11-21.db"), 0640);
	CHECK_INT(mode_of(directory, "2025-11-21.db-wal"), 0640);
	CHECK_INT(mode_of(directory, "2025-11-21.db-shm"), 0640);
	CHECK_INT(mode_of(directory, "LOCK"), 0640);
	store_close(s);
	CHECK_INT(files_like(directory, "-wal"), 0);
	umask(mask);
	free(directory);
	fixture_remove(base);
}

TEST(only_names_that_are_dates_are_days)
{
	CHECK_INT(day_of_name("1970-01-02.db"), 1);
	CHECK_INT(day_of_name("2025-11-21.db"), NOON / DAY);
	CHECK_INT(day_of_name("2024-02-29.db"), 19782);
	CHECK_INT(day_of_name("2025-02-29.db"), -1);
	CHECK_INT(day_of_name("2025-13-01.db"), -1);
	CHECK_INT(day_of_name("1969-12-31.db"), -1);
	CHECK_INT(day_of_name("2025-11-21.db-wal"), -1);
	CHECK_INT(day_of_name("2025-11-21.dd"), -1);
	CHECK_INT(day_of_name("../../../a.db"), -1);
	CHECK_INT(day_of_name(""), -1);
}

TEST(a_missing_directory_is_an_error_for_a_reader_and_made_by_a_writer)
{
	char *base = fixture_directory(), *directory = xasprintf("%s/none", base);
	struct err err = { 0 };
	struct store *s;

	CHECK(!open_in(directory, true, &err));
	CHECK_INT(err.code, -ENOENT);
	CHECK(strstr(err.text, directory) != NULL);
	s = open_in(directory, false, NULL);
	CHECK(s != NULL);
	store_close(s);
	free(directory);
	fixture_remove(base);
}

TEST(a_day_file_that_is_removed_while_it_is_written_is_begun_again)
{
	char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db", directory);
	struct store *s = open_in(directory, false, NULL);

	CHECK_INT(append_one(s, 1, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(unlink(path), 0);
	CHECK_INT(append_one(s, 2, NOON, "entry=a", "main", 5), 0);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 5);
	store_close(s);
	free(path);
	fixture_remove(directory);
}

TEST(a_reader_without_the_right_to_write_beside_the_files_reads)
{
	char *directory = fixture_directory();
	struct store *s = open_in(directory, false, NULL);
	int status;
	pid_t child;

	CHECK_INT(append_one(s, 1, NOON, "entry=a", "main", 3), 0);
	store_close(s);
	if (geteuid() != 0) {
		fixture_remove(directory);
		SKIP("only root can become somebody else");
	}
	chmod(directory, 0755);
	child = fork();
	if (child == 0) {
		_cleanup_(freep) char *path = xasprintf("%s/2025-11-21.db", directory);

		chmod(path, 0644);
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		s = open_in(directory, true, NULL);
		_exit(s && ask_sum(s, 0, INT64_MAX) == 3 ? 0 : 1);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_INT(status, 0);
	fixture_remove(directory);
}

TEST(more_days_than_are_kept_open_are_all_written)
{
	char *directory = fixture_directory();
	struct store *s = open_in(directory, false, NULL);

	for (int round = 0; round < 2; round++)
		for (int day = 0; day < 7; day++)
			CHECK_INT(append_one(s, 0, NOON + day * DAY, "entry=a", "main;f", 1), 0);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 14);
	CHECK_FOLDED(s, NOON + 3 * DAY, NOON + 4 * DAY, "main;f 2");
	store_close(s);
	fixture_remove(directory);
}

/* --- Damaged and foreign files --- */

TEST(a_file_that_is_no_database_is_set_aside)
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
		/* Replaced while it is open, as a careless restore would. */
		CHECK_INT(unlink(path), 0);
	}
	store_close(s);
	free(path);
	fixture_remove(directory);
}

TEST(a_database_of_somebody_else_is_set_aside_whole)
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

TEST(a_damaged_day_hurts_no_other_day_and_is_set_aside_by_maintenance)
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

TEST(content_that_makes_no_sense_is_counted_and_passed_over)
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

/* Most senders know none: what is stored of theirs is what it was before there were lines. */
/* A block of node records has fewer than these. */
#define MANY	30000

TEST(a_query_of_more_stacks_than_its_caller_has_room_for_is_refused)
{
	static const struct label_filter filter = { "entry", "a", LABEL_IS };
	char *directory = fixture_fast_directory();
	struct store *s = open_in(directory, false, NULL);
	struct store_query q = { .from_ns = NOON - DAY, .to_ns = NOON + 2 * DAY, .refuse_above = MANY - 10 };
	struct maker *m = maker_new(1);
	struct profile *p = NULL;
	struct err err = { 0 };
	char stack[64];

	maker_series(m, NOON, "entry=a", STROBE_CLOCK_WALL, PERIOD);
	for (int i = 0; i < MANY; i++) {
		snprintf(stack, sizeof(stack), "f%d", i);
		maker_stack(m, stack, 1);
	}
	maker_series(m, NOON, "entry=b", STROBE_CLOCK_WALL, PERIOD);
	maker_stack(m, "f1", 1);
	CHECK_INT(store_append(s, &m->batch, NULL), 0);
	maker_free(m);

	CHECK_INT(store_query(s, &q, &p, NULL, &err), -ENOMEM);
	q.filters = &filter;
	q.filter_count = 1;
	CHECK_INT(store_query(s, &q, &p, NULL, &err), -ENOMEM);
	CHECK_STR(err.text, "the profile has more than 29990 nodes");
	q.refuse_above = MANY + 1;
	CHECK_INT(store_query(s, &q, &p, NULL, &err), 0);
	CHECK_INT(p->node_count, MANY + 1);
	profile_free(p);
	q.filters = NULL;
	q.filter_count = 0;
	q.from_ns = NOON;		/* a part of a day is refused only for what it has */
	CHECK_INT(store_query(s, &q, &p, NULL, &err), 0);
	CHECK_INT(profile_sum(p, 0), MANY + 1);
	profile_free(p);
	store_close(s);
	fixture_remove(directory);
}

TEST(a_day_without_lines_has_no_table_for_them)
{
	char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db", directory);
	struct store *s = open_in(directory, false, NULL);
	const char *sql = "SELECT 1 FROM sqlite_master WHERE name = 'line_block'";
	sqlite3_stmt *row;
	sqlite3 *db;

	CHECK_INT(append_one(s, 1, NOON, "entry=a", "main;a", 1), 0);
	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	for (int lines = 0; lines < 2; lines++) {
		CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
		CHECK_INT(sqlite3_step(row), lines ? SQLITE_ROW : SQLITE_DONE);
		sqlite3_finalize(row);
		CHECK_INT(append_one(s, 2 + (uint64_t)lines, NOON, "entry=a", "main;a@9", 1), 0);
	}
	sqlite3_close(db);
	store_close(s);
	free(path);
	fixture_remove(directory);
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

TEST(a_day_that_cannot_be_read_is_missing_in_answers_and_stays_where_it_is)
{
	char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db", directory);
	struct store *s = open_in(directory, false, NULL);
	struct store_stats stats;

	/* As good as a bad sector, also for root. */
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
	/* Back again, it is read. */
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

TEST(one_bad_day_keeps_no_store_from_opening_and_answers_say_that_it_is_missing)
{
	static const struct {
		off_t at;		/* in the file of the first of two days; -1: it is cut to nothing */
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

/* SQLite would wait for somebody to write into the pipe. */
TEST(a_pipe_is_set_aside_and_a_link_to_nowhere_stays_until_it_leads_somewhere)
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

TEST(a_day_of_a_newer_strobe_is_set_aside_and_can_be_read_by_that)
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

TEST(chunks_of_hours_that_no_day_has_are_no_part_of_the_range_of_a_store)
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

/* As a process leaves it that was killed. */
static void tamper_in_log(const char *path, const char *sql)
{
	sqlite3 *db;

	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

TEST(a_day_whose_log_makes_it_one_of_a_newer_strobe_is_set_aside_with_its_log)
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

TEST(an_empty_file_that_a_crash_left_behind_becomes_a_day)
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

TEST(what_was_set_aside_goes_with_its_day)
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

TEST(batch_ids_are_kept_for_two_days_and_space_is_given_back)
{
	char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db", directory);
	struct timespec old[2] = { { .tv_sec = NOON / SECOND }, { .tv_sec = NOON / SECOND } };
	struct store *s = open_in(directory, false, NULL);
	struct stat before, after;
	sqlite3_stmt *q;
	sqlite3 *db;

	for (uint64_t i = 1; i <= 2000; i++) {
		struct maker *m = maker_new(i);

		for (int k = 0; k < 5; k++)
			maker_add(m, NOON + (int64_t)i * SECOND, k % 2 ? "entry=a" : "entry=b", "main;run;work", 1);
		CHECK_INT(store_append(s, &m->batch, NULL), 0);
		maker_free(m);
	}
	store_close(s);
	CHECK(stat(path, &before) == 0);
	s = open_in(directory, false, NULL);
	CHECK_INT(maintain_at(s, NOON + DAY), 0);
	CHECK(stat(path, &after) == 0);
	CHECK(after.st_size < before.st_size / 2);
	CHECK_INT(append_one(s, 7, NOON, "entry=a", "main", 1), 0);	/* known still */
	store_close(s);
	CHECK_INT(utimensat(AT_FDCWD, path, old, 0), 0);
	s = open_in(directory, false, NULL);
	CHECK_INT(maintain_at(s, NOON + 4 * DAY), 0);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 10000);
	store_close(s);
	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_prepare_v2(db, "SELECT count(*) FROM batch", -1, &q, NULL), SQLITE_OK);
	CHECK_INT(sqlite3_step(q), SQLITE_ROW);
	CHECK_INT(sqlite3_column_int(q, 0), 0);
	sqlite3_finalize(q);
	sqlite3_close(db);
	free(path);
	fixture_remove(directory);
}

/* --- Bad days --- */

/* Appends batches 1, 2, 3 … and says in shared memory which one was acknowledged last. */
static void append_until_killed(const char *directory, uint64_t first, volatile uint64_t *acknowledged)
{
	struct store *s = open_in(directory, false, NULL);

	if (!s)
		_exit(2);
	for (uint64_t id = first; ; id++) {
		struct maker *m = maker_new(id);
		char stack[32];

		snprintf(stack, sizeof(stack), "main;f%llu", (unsigned long long)(id % 50));
		maker_add(m, NOON + 11 * HOUR + 59 * 60 * SECOND, "entry=a", stack, 1);
		maker_add(m, NOON + 12 * HOUR, "entry=b", stack, 1);	/* the next day */
		if (store_append(s, &m->batch, NULL) < 0)
			_exit(3);
		*acknowledged = id;
		maker_free(m);
		if (id % 16 == 0)
			maintain_at(s, NOON + 2 * DAY);
	}
}

TEST(kill_9_of_the_writer_loses_and_doubles_nothing)
{
	char *directory = fixture_directory();
	volatile uint64_t *acknowledged = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (int round = 0; round < 30; round++) {
		uint64_t before = *acknowledged;
		struct timespec pause = { 0, (round * 7919 % 15) * 1000000 };
		int status = 0;
		pid_t child = fork();
		struct store *s;
		int64_t first, second;

		if (child == 0)
			append_until_killed(directory, before + 1, acknowledged);
		for (int i = 0; i < 5000 && *acknowledged == before && waitpid(child, &status, WNOHANG) == 0; i++)
			nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
		nanosleep(&pause, NULL);
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

		/* The one that was on its way may be there whole, in its first day, or not at all. */
		s = open_in(directory, false, NULL);
		first = ask_sum(s, 0, NOON + 12 * HOUR);
		second = ask_sum(s, NOON + 12 * HOUR, INT64_MAX);
		CHECK(first == (int64_t)*acknowledged || first == (int64_t)*acknowledged + 1);
		CHECK(second == (int64_t)*acknowledged || second == (int64_t)*acknowledged + 1);
		CHECK(second <= first);

		/* And it counts once when it is handed over again, as the next round does; here to be sure at once. */
		{
			struct maker *m = maker_new(*acknowledged + 1);

			maker_add(m, NOON + 11 * HOUR + 59 * 60 * SECOND, "entry=a", "main;again", 1);
			maker_add(m, NOON + 12 * HOUR, "entry=b", "main;again", 1);
			CHECK_INT(store_append(s, &m->batch, NULL), 0);
			maker_free(m);
			++*acknowledged;
		}
		CHECK_INT(ask_sum(s, 0, INT64_MAX), (int64_t)*acknowledged * 2);
		store_close(s);
	}
	CHECK_INT(files_like(directory, "corrupt"), 0);
	munmap((void *)acknowledged, 4096);
	fixture_remove(directory);
}

/* Appends until the disk is full; returns how many batches were accepted. */
static uint64_t append_until_full(struct store *s, uint64_t first, struct err *err)
{
	for (uint64_t id = first; id < first + 100000; id++) {
		struct maker *m = maker_new(id);
		int rc;

		for (int i = 0; i < 20; i++) {
			char stack[64];

			snprintf(stack, sizeof(stack), "main;f%llu;g%d", (unsigned long long)id, i);
			maker_add(m, NOON, "entry=a", stack, 1);
		}
		rc = store_append(s, &m->batch, err);
		maker_free(m);
		if (rc < 0)
			return id - first;
	}
	return 100000;
}

/* In a directory whose disk is nearly full. `make_room` lets it have more. */
static void survive_full_disk(const char *directory, void (*make_room)(const char *directory))
{
	struct store *s = open_in(directory, false, NULL);
	struct err err = { 0 };
	uint64_t accepted = append_until_full(s, 1, &err), more;

	CHECK(accepted > 0 && accepted < 100000);
	CHECK_INT(err.code, -ENOSPC);
	CHECK(strstr(err.text, "no space is left") != NULL);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), (int64_t)accepted * 20);
	CHECK(append_until_full(s, accepted + 1, &err) == 0);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), (int64_t)accepted * 20);
	make_room(directory);
	for (more = 0; more < 50; more++)	/* the very batch that was refused comes first */
		CHECK_INT(append_one(s, accepted + 1 + more, NOON, "entry=a", "main;after", 1), 0);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), (int64_t)(accepted * 20 + more));
	CHECK_INT(maintain_at(s, NOON + DAY), 0);
	store_close(s);
	s = open_in(directory, false, NULL);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), (int64_t)(accepted * 20 + more));
	CHECK_INT(files_like(directory, "corrupt"), 0);
	store_close(s);
}

static void enlarge_tmpfs(const char *directory)
{
	CHECK_INT(mount("none", directory, "tmpfs", MS_REMOUNT, "size=64m"), 0);
}

static rlim_t old_limit;

static void lift_limit(const char *directory)
{
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ old_limit, RLIM_INFINITY });
}

TEST(a_full_disk_refuses_batches_whole_and_the_store_goes_on_when_there_is_room)
{
	char *directory = fixture_directory();

	if (geteuid() == 0 && mount("none", directory, "tmpfs", 0, "size=1m") == 0) {
		survive_full_disk(directory, enlarge_tmpfs);
		CHECK_INT(umount2(directory, MNT_DETACH), 0);
	} else {
		struct rlimit l;

		getrlimit(RLIMIT_FSIZE, &l);
		old_limit = l.rlim_cur;
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 600 * 1024, l.rlim_max });
		survive_full_disk(directory, lift_limit);
		signal(SIGXFSZ, SIG_DFL);
	}
	fixture_remove(directory);
}

static uint64_t room_in(const char *directory)
{
	struct statvfs v;

	CHECK_INT(statvfs(directory, &v), 0);
	return (uint64_t)v.f_bavail * v.f_frsize;
}

static void append_many(struct store *s, uint64_t first, int64_t at_ns)
{
	for (uint64_t id = first; id < first + 200; id++) {
		struct maker *m = maker_new(id);

		for (int i = 0; i < 20; i++) {
			char stack[64];

			snprintf(stack, sizeof(stack), "main;f%llu;g%d", (unsigned long long)id, i);
			maker_add(m, at_ns, "entry=a", stack, 1);
		}
		CHECK_INT(store_append(s, &m->batch, NULL), 0);
		maker_free(m);
	}
}

/* On a small disk of its own: as much room as was taken between two times of maintenance stays free above what must. */
static void check_reserve_of_disk(const char *directory)
{
	struct store *s = open_in(directory, false, NULL);
	struct store_limits l = { .min_free_bytes = 1 };
	uint64_t before, room, took;

	CHECK_INT(append_one(s, 1, NOON, "entry=a", "main;yesterday", 1), 0);
	CHECK_INT(append_one(s, 2, NOON + DAY, "entry=a", "main;today", 1), 0);
	CHECK_INT(store_maintain(s, &l, NOON + DAY, NULL), 0);
	before = room_in(directory);
	append_many(s, 1000, NOON + DAY);
	CHECK_INT(store_maintain(s, &l, NOON + DAY, NULL), 0);
	room = room_in(directory);
	took = before - room;
	CHECK(took > 10 * 4096);

	append_many(s, 2000, NOON + DAY);
	l.min_free_bytes = room - took * 3 / 2;
	CHECK_INT(store_maintain(s, &l, NOON + DAY, NULL), 0);
	CHECK(room_in(directory) > l.min_free_bytes);
	CHECK(!store_is_low_on_space(s, &l));
	CHECK_INT(ask_sum(s, 0, NOON + 11 * HOUR), 0);
	CHECK(ask_sum(s, NOON + 12 * HOUR, INT64_MAX) > 0);

	l.min_free_bytes = UINT64_MAX / 2;
	CHECK(store_is_low_on_space(s, &l));
	l.min_free_is_guess = true;
	CHECK(!store_is_low_on_space(s, &l));
	store_close(s);
}

TEST(what_comes_in_a_minute_stays_free_above_what_must_be_free)
{
	char *directory = fixture_directory();
	bool has_disk = geteuid() == 0 && mount("none", directory, "tmpfs", 0, "size=16m") == 0;

	if (has_disk) {
		check_reserve_of_disk(directory);
		CHECK_INT(umount2(directory, MNT_DETACH), 0);
	}
	fixture_remove(directory);
	if (!has_disk)
		SKIP("no disk can be mounted here");
}

/* One day's life with operation number `fail_at` of its files failing: what was acknowledged is there afterwards,
 * and nothing twice. Returns false once there are not so many operations. */
static bool live_with_failure(unsigned fail_at, bool forever, int error)
{
	char *directory = fixture_fast_directory();
	struct store *s = open_in(directory, false, NULL);
	bool acknowledged[13] = { false };
	int64_t expected = 0, found;
	bool failed;

	failing_vfs_arm(fail_at, forever, error);
	for (uint64_t id = 1; id <= 12; id++) {
		struct maker *m = maker_new(id);

		maker_add(m, NOON + 12 * HOUR - 10 * SECOND, "entry=a", id % 2 ? "main;odd" : "main;even", 1);
		maker_add(m, NOON + 12 * HOUR, "entry=a", id % 3 ? "main;odd" : "main;even", 1);
		acknowledged[id] = store_append(s, &m->batch, NULL) == 0;
		maker_free(m);
		if (id == 6 || id == 12)
			maintain_at(s, NOON + 2 * DAY);
		if (id == 9) {	/* closing and opening meets failures, too */
			store_close(s);
			s = open_in(directory, false, NULL);
			if (!s) {
				failing_vfs_arm(0, false, 0);
				s = open_in(directory, false, NULL);
			}
		}
	}
	failed = failing_vfs_disarm();

	for (uint64_t id = 1; id <= 12; id++)
		expected += acknowledged[id] ? 2 : 0;
	found = ask_sum(s, 0, INT64_MAX);
	if (found < expected || found > 24)
		printf("# failing %s number %u: %lld samples, %lld were acknowledged\n", failing_vfs_last(), fail_at,
		       (long long)found, (long long)expected);
	CHECK(found >= expected && found <= 24);

	/* Handed over again, every batch counts once. */
	for (uint64_t id = 1; id <= 12; id++) {
		struct maker *m = maker_new(id);

		maker_add(m, NOON + 12 * HOUR - 10 * SECOND, "entry=a", id % 2 ? "main;odd" : "main;even", 1);
		maker_add(m, NOON + 12 * HOUR, "entry=a", id % 3 ? "main;odd" : "main;even", 1);
		CHECK_INT(store_append(s, &m->batch, NULL), 0);
		maker_free(m);
	}
	CHECK_INT(maintain_at(s, NOON + 2 * DAY), 0);
	CHECK_FOLDED(s, 0, INT64_MAX, "main;even 10,main;odd 14");
	CHECK_INT(files_like(directory, "corrupt"), 0);
	store_close(s);
	fixture_remove(directory);
	return failed;
}

TEST(each_write_that_fails_in_turn_leaves_a_store_that_lost_nothing)
{
	unsigned n = 1;

	failing_vfs_register();
	while (live_with_failure(n, false, SQLITE_IOERR_WRITE) && n < 2000)
		n++;
	CHECK(n > 50 && n < 2000);
	failing_vfs_unregister();
}

TEST(a_disk_that_is_full_from_each_write_on_leaves_a_store_that_lost_nothing)
{
	unsigned n = 1;

	failing_vfs_register();
	while (live_with_failure(n, true, SQLITE_FULL) && n < 2000)
		n++;
	CHECK(n > 50 && n < 2000);
	failing_vfs_unregister();
}

static void append_hour(struct store *s, int hour)
{
	struct maker *m = maker_new(0);
	char stack[32], labels[32];

	snprintf(labels, sizeof(labels), "entry=%d", hour);
	snprintf(stack, sizeof(stack), "main;f%d", hour);
	maker_add(m, NOON + hour * HOUR, labels, stack, 1);
	maker_stack(m, "main;shared", 1);
	CHECK_INT(store_append(s, &m->batch, NULL), 0);
	maker_free(m);
}

/* Removes all hours but the newest one while one operation on files fails. Whatever happens, each hour is whole or gone, and the
 * newest is there. Returns false once there are not so many operations. */
static bool remove_hours_with_failure(unsigned fail_at, bool forever, int error)
{
	const struct store_limits tight = { .max_bytes = 1 };
	char *directory = fixture_fast_directory();
	struct store *s = open_in(directory, false, NULL);
	bool failed;

	for (int hour = 0; hour < 4; hour++)
		append_hour(s, hour);
	failing_vfs_arm(fail_at, forever, error);
	store_maintain(s, &tight, NOON + 3 * HOUR, NULL);
	failed = failing_vfs_disarm();
	for (int hour = 0; hour < 4; hour++) {
		int64_t sum = ask_sum(s, NOON + hour * HOUR, NOON + (hour + 1) * HOUR);

		CHECK(sum == 2 || (sum == 0 && hour < 3));
	}
	CHECK_FOLDED(s, NOON + 3 * HOUR, NOON + 4 * HOUR, "main;f3 1,main;shared 1");
	append_hour(s, 0);	/* its stack may be there, or gone */
	CHECK_INT(store_maintain(s, &tight, NOON + 3 * HOUR, NULL), 0);
	append_hour(s, 1);
	store_close(s);
	s = open_in(directory, false, NULL);
	CHECK_FOLDED(s, 0, INT64_MAX, "main;f1 1,main;f3 1,main;shared 2");
	CHECK_INT(files_like(directory, "corrupt"), 0);
	store_close(s);
	fixture_remove(directory);
	return failed;
}

TEST(each_write_that_fails_while_hours_are_removed_leaves_hours_whole_or_gone)
{
	unsigned n = 1, m = 1;

	failing_vfs_register();
	while (remove_hours_with_failure(n, false, SQLITE_IOERR_WRITE) && n < 2000)
		n++;
	while (remove_hours_with_failure(m, true, SQLITE_FULL) && m < 2000)
		m++;
	CHECK(n > 20 && n < 2000 && m > 20 && m < 2000);
	failing_vfs_unregister();
}

/* The other process says in `shared` that it is about to let go. */
static pid_t read_elsewhere(const char *directory, int go_on, _Atomic int *shared)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct files_lock l;
		char byte;
		int held;

		files_lock_init(&l, directory);
		held = files_lock_shared(&l);
		*shared = 1;
		if (read(go_on, &byte, 1) != 1)
			_exit(1);
		usleep(100000);
		*shared = 2;
		files_lock_release(&l, held);
		_exit(0);
	}
	return pid;
}

TEST(files_are_removed_when_no_process_reads_them)
{
	char *directory = fixture_directory();
	_Atomic int *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct store *s = open_in(directory, false, NULL);
	struct files_lock l;
	int ends[2], held, status;
	pid_t pid;

	CHECK(s && pipe(ends) == 0);
	pid = read_elsewhere(directory, ends[0], shared);
	while (!*shared)
		usleep(1000);
	files_lock_init(&l, directory);
	held = files_lock_shared(&l);		/* several may read */
	files_lock_release(&l, held);
	CHECK(write(ends[1], "", 1) == 1);
	held = files_lock_exclusive(&l);
	CHECK_INT(*shared, 2);
	files_lock_release(&l, held);
	files_lock_done(&l);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	munmap((void *)shared, sizeof(*shared));
	close(ends[0]);
	close(ends[1]);
	store_close(s);
	fixture_remove(directory);
}

static void note_damaged_day(void *data, int64_t day_ns, const char *why)
{
	*(int64_t *)data = why ? day_ns : -1;
}

TEST(a_reader_tells_what_it_finds_damaged_to_the_one_that_writes)
{
	char *directory = fixture_directory();
	struct store *writer = open_in(directory, false, NULL), *reader = open_in(directory, true, NULL);
	int64_t told = 0, midnight = NOON - NOON % DAY;
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
	store_on_damage(reader, note_damaged_day, &told);
	CHECK_INT(store_query(reader, &q, &p, &query_stats, NULL), 0);
	CHECK_INT(query_stats.damaged_days, 1);
	CHECK_INT(told, midnight);
	store_stats(reader, &stats);
	CHECK_INT(stats.errors, 0);
	store_note_damage(writer, told, "it is damaged");
	store_stats(writer, &stats);
	CHECK_INT(stats.errors, 1);
	profile_free(p);
	store_close(reader);
	store_close(writer);
	fixture_remove(directory);
}

TEST_MAIN()

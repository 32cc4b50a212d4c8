/* test_sqlite_files.c: tests the lock of a SQLite store, and its files: their names, owners, and when they are
 * removed. */
#include "sqlite_fixture.h"
#include "sqlite_store.h"
#include <sys/mman.h>
#include <sys/wait.h>

static mode_t mode_of(const char *directory, const char *name)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", directory, name);
	struct stat st = { 0 };

	CHECK(stat(path, &st) == 0);
	return st.st_mode & 0777;
}

TEST(a_second_writer_learns_which_process_holds_the_store)
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

TEST(files_are_accessible_to_owner_and_group_only)
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

TEST(only_files_named_by_a_date_are_days)
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

TEST(a_missing_directory_is_an_error_for_a_reader_and_created_by_a_writer)
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

TEST(a_day_file_removed_while_it_is_written_is_created_again)
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

TEST(a_reader_needs_no_write_access_to_the_directory)
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

TEST(more_days_can_be_written_than_are_kept_open)
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

/* A block of node records has fewer than these. */
#define MANY	30000

TEST(a_query_that_exceeds_the_limit_of_stacks_is_rejected)
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
	q.from_ns = NOON;		/* a part of a day is refused only for the nodes that it has */
	CHECK_INT(store_query(s, &q, &p, NULL, &err), 0);
	CHECK_INT(profile_sum(p, 0), MANY + 1);
	profile_free(p);
	store_close(s);
	fixture_remove(directory);
}

/* Most senders send no lines: their data is stored like before lines existed. */
TEST(a_day_without_executed_lines_has_no_table_for_them)
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

TEST(pending_batches_are_deduplicated_regardless_of_their_age)
{
	char *directory = fixture_directory(), *path = xasprintf("%s/2025-11-21.db", directory);
	struct timespec old[2] = { { .tv_sec = NOON / SECOND }, { .tv_sec = NOON / SECOND } };
	static const uint64_t pending[] = { 3, 5, 9 };
	struct store *s = open_in(directory, false, NULL);
	struct store_stats stats;

	for (uint64_t i = 1; i <= 6; i++)
		CHECK_INT(append_one(s, i, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(maintain_at(s, NOON + DAY), 0);
	store_close(s);
	CHECK_INT(utimensat(AT_FDCWD, path, old, 0), 0);
	s = open_in(directory, false, NULL);
	store_keep_ids(s, pending, ARRAY_SIZE(pending));	/* a sink was away, or the collector */
	for (int i = 0; i < 2; i++)
		CHECK_INT(maintain_at(s, NOON + 4 * DAY), 0);
	for (uint64_t i = 1; i <= 6; i++)
		CHECK_INT(append_one(s, i, NOON, "entry=a", "main", 10), 0);
	store_stats(s, &stats);
	CHECK_INT(stats.deduplicated_batches, 2);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 6 + 4 * 10);
	CHECK_INT(maintain_at(s, NOON + DAY), 0);
	store_close(s);

	/* Nothing is kept once it has been acknowledged. */
	CHECK_INT(utimensat(AT_FDCWD, path, old, 0), 0);
	s = open_in(directory, false, NULL);
	store_keep_ids(s, pending, 1);
	store_keep_ids(s, NULL, 0);
	CHECK_INT(maintain_at(s, NOON + 4 * DAY), 0);
	CHECK_INT(append_one(s, 3, NOON, "entry=a", "main", 100), 0);
	CHECK_INT(ask_sum(s, 0, INT64_MAX), 6 + 4 * 10 + 100);
	store_close(s);
	free(path);
	fixture_remove(directory);
}

TEST(batch_ids_are_kept_for_two_days_and_their_space_is_freed)
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
	CHECK_INT(append_one(s, 7, NOON, "entry=a", "main", 1), 0);	/* still known */
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

/* Forks a reader that sets `shared` just before it releases the lock. */
static pid_t read_elsewhere(const char *directory, int release_fd, _Atomic int *shared)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct files_lock l;
		char byte;
		int held;

		files_lock_init(&l, directory);
		held = files_lock_shared(&l);
		*shared = 1;
		if (read(release_fd, &byte, 1) != 1)
			_exit(1);
		usleep(100000);
		*shared = 2;
		files_lock_release(&l, held);
		_exit(0);
	}
	return pid;
}

TEST(files_are_removed_once_no_process_reads_them)
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

TEST_MAIN()

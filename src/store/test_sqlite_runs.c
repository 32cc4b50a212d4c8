/* test_sqlite_runs.c: tests the file of runs when it is damaged, foreign, its writer is killed, or the disk is
 * full. */
#include "failing_vfs.h"
#include "sqlite_runs.h"
#include "store_fixture.h"
#include "test.h"
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

static struct store *open_in(const char *directory, bool beside, struct err *err)
{
	_cleanup_(freep) char *url = xasprintf("sqlite:%s", directory);
	struct store *s = NULL;
	struct err own = { 0 };
	int rc = beside ? store_open_runs(url, &s, err ? err : &own) : store_open(url, false, &s, err ? err : &own);

	if (rc < 0 && !err)
		printf("# %s\n", own.text);
	return s;
}

static int add(struct store *s, unsigned id, int64_t value, struct err *err)
{
	struct profile *p = profile_new();
	struct store_new_run run = { .profile = p };
	char name[20];
	int rc;

	snprintf(name, sizeof(name), "%u", id);
	labels_set(&p->labels, "source", 6, "s", 1);
	labels_set(&p->labels, "id", 2, name, strlen(name));
	for (uint32_t i = 0; i < 40; i++) {
		char f[20];

		snprintf(f, sizeof(f), "f%u", i * id % 997);
		profile_add(p, profile_child(p, PROFILE_ROOT, profile_frame(p, (struct str){ f, strlen(f) },
									    (struct str){ "", 0 }, 0)),
			    profile_column(p, "wall_ns", "nanoseconds"), value + i);
	}
	rc = store_add_runs(s, &run, 1, NOON, err);
	profile_free(p);
	return rc < 0 ? rc : run.result;
}

static size_t count(struct store *s)
{
	struct store_run_query q = { .limit = 100000 };
	struct store_runs runs;
	size_t n;

	if (store_list_runs(s, &q, &runs, NULL) < 0)
		return SIZE_MAX;
	n = runs.count;
	store_runs_done(&runs);
	return n;
}

/* Tells whether the profile of a run is complete. */
static bool is_whole(struct store *s, unsigned id, int64_t value)
{
	struct store_run run;
	struct profile *p;
	char name[20];
	bool whole;

	snprintf(name, sizeof(name), "%u", id);
	if (store_get_run(s, "s", name, NULL, &run, &p, NULL) < 0)
		return false;
	whole = profile_sum(p, 0) == 40 * value + 780 && run.totals[0].value == 40 * value + 780;
	store_run_done(&run);
	profile_free(p);
	return whole;
}

static unsigned files_like(const char *directory, const char *part)
{
	DIR *d = opendir(directory);
	unsigned n = 0;

	for (struct dirent *e; (e = readdir(d));)
		n += strstr(e->d_name, part) != NULL;
	closedir(d);
	return n;
}

static void tamper(const char *directory, const char *sql)
{
	_cleanup_(freep) char *path = runs_file_path(directory);
	sqlite3 *db;

	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void write_over(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fwrite(bytes, 1, n, f) == n);
	fclose(f);
}

TEST(the_file_is_accessible_to_owner_and_group_only)
{
	char *directory = fixture_directory(), *path = runs_file_path(directory);
	struct store *s = open_in(directory, false, NULL);
	struct stat st;

	CHECK_INT(add(s, 1, 5, NULL), 1);
	CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0640);
	store_close(s);
	free(path);
	fixture_remove(directory);
}

TEST(a_damaged_or_foreign_file_is_set_aside_by_the_daemon_only)
{
	char *directory = fixture_directory(), *path = runs_file_path(directory), text[8192];
	struct store *s, *beside;
	struct err err = { 0 };

	memset(text, 'x', sizeof(text));
	write_over(path, text, sizeof(text));
	beside = open_in(directory, true, NULL);
	CHECK_INT(add(beside, 1, 5, &err), -EBADMSG);
	CHECK(strstr(err.text, "runs.sqlite") != NULL);
	CHECK_INT(files_like(directory, ".corrupt-"), 0);
	s = open_in(directory, false, NULL);
	CHECK(count(s) == SIZE_MAX);
	CHECK_INT(add(s, 1, 5, NULL), 1);
	CHECK_INT(files_like(directory, ".corrupt-1"), 1);
	CHECK_INT(add(beside, 2, 5, NULL), 1);
	CHECK_INT(count(s), 2);
	/* The file is removed while it is open. */
	CHECK_INT(unlink(path), 0);
	CHECK_INT(count(s), 0);
	CHECK_INT(add(s, 3, 5, NULL), 1);
	CHECK_INT(count(s), 1);
	store_close(beside);
	store_close(s);
	free(path);
	fixture_remove(directory);
}

/* Returns the ids sorted by time, longest first, read two at a time. */
static char *listed_by_wall(struct store *s)
{
	struct store_run_query q = { .limit = 2, .order = STORE_RUNS_BY_WALL };
	char after[STORE_RUNS_NEXT] = "";
	struct store_runs runs;
	struct buf b;

	buf_init(&b);
	q.after = after;
	do {
		if (store_list_runs(s, &q, &runs, NULL) < 0)
			break;
		for (size_t i = 0; i < runs.count; i++)
			buf_printf(&b, "%s ", runs.items[i].id);
		snprintf(after, sizeof(after), "%s", runs.next);
		store_runs_done(&runs);
	} while (*after);
	return buf_take(&b, NULL);
}

static void check_by_wall(struct store *s, const char *expected)
{
	_cleanup_(freep) char *ids = listed_by_wall(s);

	CHECK_STR(ids, expected);
}

static int64_t number_in(const char *directory, const char *sql)
{
	_cleanup_(freep) char *path = runs_file_path(directory);
	sqlite3_stmt *q = NULL;
	int64_t value = -1;
	sqlite3 *db;

	if (sqlite3_open(path, &db) == SQLITE_OK && sqlite3_prepare_v2(db, sql, -1, &q, NULL) == SQLITE_OK &&
	    sqlite3_step(q) == SQLITE_ROW)
		value = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	sqlite3_close(db);
	return value;
}

/* Tells whether SQLite would sort or read all runs for this order. */
static bool reads_all(const char *directory, const char *key)
{
	_cleanup_(freep) char *path = runs_file_path(directory);
	_cleanup_(freep) char *sql = xasprintf("EXPLAIN QUERY PLAN SELECT id, %s FROM run WHERE 1 AND (%s, id) < (5, 5) "
					       "ORDER BY %s DESC, id DESC", key, key, key);
	bool by_index = false, sorts = false;
	sqlite3_stmt *q = NULL;
	sqlite3 *db;

	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
	while (q && sqlite3_step(q) == SQLITE_ROW) {
		const char *step = (const char *)sqlite3_column_text(q, 3);

		by_index |= strstr(step, "INDEX run_by_") != NULL;
		sorts |= strstr(step, "TEMP B-TREE") != NULL;
	}
	sqlite3_finalize(q);
	sqlite3_close(db);
	return !by_index || sorts;
}

TEST(each_order_of_a_list_has_its_index)
{
	static const char *const keys[] = {
		"start_ns", "duration_ns", "wall_ns", "cpu_ns", "memory_bytes", "peak_memory_bytes", "calls", "source", "run",
		RUNS_NAME_SQL,
	};
	char *directory = fixture_directory();
	struct store *s = open_in(directory, false, NULL);

	CHECK_INT(add(s, 1, 50, NULL), 1);
	CHECK_INT(ARRAY_SIZE(keys), STORE_RUN_ORDERS);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (reads_all(directory, keys[i])) {
			printf("# %s\n", keys[i]);
			CHECK(!"an index");
		}
	CHECK(reads_all(directory, "nodes"));
	store_close(s);
	fixture_remove(directory);
}

/* Turns the file into one written before lists were sorted by totals. */
static void make_schema_1(const char *directory)
{
	tamper(directory, "DROP INDEX run_by_kind; ALTER TABLE run DROP COLUMN kind; DROP INDEX run_by_duration; DROP INDEX run_by_only_source; DROP INDEX run_by_run;"
			  "DROP INDEX run_by_name; DROP INDEX run_by_wall_ns; DROP INDEX run_by_cpu_ns;"
			  "DROP INDEX run_by_memory_bytes; DROP INDEX run_by_peak_memory_bytes; DROP INDEX run_by_calls;"
			  "ALTER TABLE run DROP COLUMN wall_ns; ALTER TABLE run DROP COLUMN cpu_ns;"
			  "ALTER TABLE run DROP COLUMN memory_bytes; ALTER TABLE run DROP COLUMN peak_memory_bytes;"
			  "ALTER TABLE run DROP COLUMN calls; PRAGMA user_version=1");
}

TEST(a_file_of_an_older_strobe_can_be_sorted_and_the_next_writer_upgrades_it)
{
	char *directory = fixture_directory();
	struct store *s = open_in(directory, false, NULL), *reader = NULL;
	_cleanup_(freep) char *url = xasprintf("sqlite:%s", directory);

	CHECK_INT(add(s, 1, 50, NULL), 1);
	CHECK_INT(add(s, 2, 70, NULL), 1);
	CHECK_INT(add(s, 3, 60, NULL), 1);
	check_by_wall(s, "2 3 1 ");
	store_close(s);
	make_schema_1(directory);

	CHECK_INT(store_open(url, true, &reader, NULL), 0);
	check_by_wall(reader, "2 3 1 ");
	CHECK_INT(number_in(directory, "PRAGMA user_version"), 1);
	s = open_in(directory, false, NULL);
	check_by_wall(s, "2 3 1 ");
	CHECK_INT(add(s, 4, 65, NULL), 1);
	CHECK_INT(number_in(directory, "PRAGMA user_version"), 3);
	CHECK_INT(number_in(directory, "SELECT wall_ns FROM run WHERE run = '3'"), 40 * 60 + 780);
	CHECK_INT(number_in(directory, "SELECT cpu_ns = -9223372036854775807 FROM run WHERE run = '3'"), 1);
	check_by_wall(s, "2 4 3 1 ");
	check_by_wall(reader, "2 4 3 1 ");
	CHECK(is_whole(s, 2, 70));
	store_close(reader);
	store_close(s);
	fixture_remove(directory);
}

/* --- Kinds of runs --- */

#define KINDS	3
#define RUNS_OF_KINDS	90

static void add_of_kinds(struct store *s)
{
	for (int i = 0; i < RUNS_OF_KINDS; i++) {
		_cleanup_(freep) char *labels = xasprintf("source=s,id=%d,host=web%d,span_id=%d", i, i % KINDS, i);
		_cleanup_(profile_freep) struct profile *p = profile_new();
		struct store_new_run run = { .profile = p };

		CHECK_INT(labels_parse(labels, &p->labels, NULL), 0);
		profile_add(p, profile_child(p, PROFILE_ROOT, profile_frame(p, (struct str){ "f", 1 }, (struct str){ "", 0 }, 0)),
			    profile_column(p, "calls", "count"), i + 1);
		p->start_ns = NOON + i * SECOND;
		p->end_ns = p->start_ns + 1;
		CHECK_INT(store_add_runs(s, &run, 1, NOON, NULL), 0);
		CHECK_INT(run.result, 1);
	}
}

/* Lists one run of each kind, and checks how many were read for it. */
static void check_kinds(struct store *s, struct store_run_query q, const char *expected, uint64_t examined)
{
	_cleanup_(buf_done) struct buf ids = { 0 };
	struct store_runs runs = { 0 };

	buf_init(&ids);
	q.distinct = true;
	q.limit = 10;
	CHECK_INT(store_list_runs(s, &q, &runs, NULL), 0);
	for (size_t i = 0; i < runs.count; i++)
		buf_printf(&ids, "%s ", runs.items[i].id);
	CHECK_STR(ids.size ? ids.data : "", expected);
	CHECK_INT(runs.examined, examined);
	store_runs_done(&runs);
}

static bool is_web1(const void *data, const char *value)
{
	return !strcmp(value, "web1");
}

TEST(one_run_of_each_kind_is_found_without_reading_the_others)
{
	static const char *const host[] = { "host" }, *const span[] = { "span_id" };
	const struct store_run_condition web1 = { .keys = host, .key_count = 1, .otherwise = "", .holds = is_web1 };
	const struct store_run_condition spans = { .keys = span, .key_count = 1, .otherwise = "web1", .holds = is_web1 };
	const struct label_filter web2 = { "host", "web2", LABEL_IS };
	char *directory = fixture_directory();
	struct store *s = open_in(directory, false, NULL);

	add_of_kinds(s);
	check_kinds(s, (struct store_run_query){ 0 }, "89 88 87 ", KINDS);
	check_kinds(s, (struct store_run_query){ .from_ns = NOON + 10 * SECOND, .to_ns = NOON + 51 * SECOND }, "50 49 48 ", KINDS);
	check_kinds(s, (struct store_run_query){ .from_ns = NOON + 88 * SECOND }, "89 88 ", 2);
	check_kinds(s, (struct store_run_query){ .to_ns = NOON }, "", 0);
	check_kinds(s, (struct store_run_query){ .conditions = &web1, .condition_count = 1 }, "88 ", KINDS);
	check_kinds(s, (struct store_run_query){ .filters = &web2, .filter_count = 1 }, "89 ", KINDS);
	check_kinds(s, (struct store_run_query){ .source = "other" }, "", 0);
	/* Runs of a kind differ in these. */
	check_kinds(s, (struct store_run_query){ .text = "7" }, "87 79 77 ", RUNS_OF_KINDS);
	check_kinds(s, (struct store_run_query){ .id_part = "5", .to_ns = NOON + 56 * SECOND }, "55 54 53 ", 56);
	check_kinds(s, (struct store_run_query){ .conditions = &spans, .condition_count = 1 }, "", RUNS_OF_KINDS);

	CHECK_INT(store_remove_run(s, "s", "89", NULL), 0);
	check_kinds(s, (struct store_run_query){ 0 }, "88 87 86 ", KINDS);
	store_close(s);
	fixture_remove(directory);
}

/* Adds runs of many hosts at once; only the first `few` of them are of web7. */
static void add_many(struct store *s, int count, int few)
{
	struct store_new_run *runs = xcalloc((size_t)count, sizeof(*runs));

	for (int i = 0; i < count; i++) {
		_cleanup_(freep) char *labels = xasprintf("source=s,id=%d,host=web%d", i, i < few ? 7 : 100 + i % 50);
		struct profile *p = profile_new();

		CHECK_INT(labels_parse(labels, &p->labels, NULL), 0);
		profile_add(p, profile_child(p, PROFILE_ROOT, profile_frame(p, (struct str){ "f", 1 }, (struct str){ "", 0 }, 0)),
			    profile_column(p, "calls", "count"), 1);
		p->start_ns = NOON + i * SECOND;
		p->end_ns = p->start_ns + 1;
		runs[i].profile = p;
	}
	CHECK_INT(store_add_runs(s, runs, (size_t)count, NOON, NULL), 0);
	for (int i = 0; i < count; i++)
		profile_free((struct profile *)runs[i].profile);
	free(runs);
}

static bool is_web7(const void *data, const char *value)
{
	return !strcmp(value, "web7");
}

/* Lists pages of three runs, and checks that few runs are read for each. */
static void check_pages(struct store *s, struct store_run_query q, const char *expected)
{
	_cleanup_(buf_done) struct buf ids = { 0 };
	char after[STORE_RUNS_NEXT] = "";
	struct store_runs runs = { 0 };

	buf_init(&ids);
	q.limit = 3;
	q.after = after;
	do {
		CHECK_INT(store_list_runs(s, &q, &runs, NULL), 0);
		for (size_t i = 0; i < runs.count; i++)
			buf_printf(&ids, "%s ", runs.items[i].id);
		buf_puts(&ids, *runs.next ? "/ " : "");
		CHECK(runs.examined < 6000);
		snprintf(after, sizeof(after), "%s", runs.next);
		store_runs_done(&runs);
	} while (*after);
	CHECK_STR(ids.size ? ids.data : "", expected);
}

TEST(runs_with_a_rare_label_are_found_by_their_kind)
{
	static const char *const host[] = { "host" };
	const struct store_run_condition web7 = { .keys = host, .key_count = 1, .otherwise = "", .holds = is_web7 };
	const struct label_filter also = { "host", "web7", LABEL_IS }, none = { "host", "web8", LABEL_IS };
	char *directory = fixture_directory();
	struct store *s = open_in(directory, false, NULL);

	add_many(s, 12000, 7);
	check_pages(s, (struct store_run_query){ .conditions = &web7, .condition_count = 1 }, "6 5 4 / 3 2 1 / 0 ");
	check_pages(s, (struct store_run_query){ .filters = &also, .filter_count = 1, .order = STORE_RUNS_BY_CALLS }, "6 5 4 / 3 2 1 / 0 ");
	check_pages(s, (struct store_run_query){ .filters = &also, .filter_count = 1, .from_ns = NOON + 5 * SECOND, .source = "s" }, "6 5 ");
	check_pages(s, (struct store_run_query){ .filters = &also, .filter_count = 1, .id_part = "4" }, "4 ");
	check_pages(s, (struct store_run_query){ .filters = &also, .filter_count = 1, .total_part = "wall" }, "");
	check_pages(s, (struct store_run_query){ .filters = &none, .filter_count = 1 }, "");
	store_close(s);
	fixture_remove(directory);
}

TEST(the_next_writer_adds_kinds_to_a_file_of_an_older_strobe)
{
	char *directory = fixture_directory();
	struct store *s = open_in(directory, false, NULL), *reader = NULL;
	_cleanup_(freep) char *url = xasprintf("sqlite:%s", directory);

	add_of_kinds(s);
	store_close(s);
	tamper(directory, "DROP INDEX run_by_kind; ALTER TABLE run DROP COLUMN kind; PRAGMA user_version=2");
	CHECK_INT(store_open(url, true, &reader, NULL), 0);
	check_kinds(reader, (struct store_run_query){ 0 }, "89 88 87 ", RUNS_OF_KINDS);
	CHECK_INT(number_in(directory, "PRAGMA user_version"), 2);
	s = open_in(directory, false, NULL);
	CHECK_INT(add(s, 1000, 5, NULL), 1);
	CHECK_INT(number_in(directory, "PRAGMA user_version"), 3);
	check_kinds(reader, (struct store_run_query){ .from_ns = NOON + SECOND }, "89 88 87 ", KINDS);
	store_close(reader);
	store_close(s);
	fixture_remove(directory);
}

TEST(a_file_of_a_newer_strobe_is_set_aside_by_the_owner_of_the_directory)
{
	char *directory = fixture_directory();
	struct store *s = open_in(directory, false, NULL);
	struct err err = { 0 };

	CHECK_INT(add(s, 1, 5, NULL), 1);
	store_close(s);
	tamper(directory, "PRAGMA user_version = 99");
	s = open_in(directory, true, NULL);
	CHECK_INT(add(s, 2, 5, &err), -EBADMSG);
	CHECK(strstr(err.text, "newer Strobe") != NULL);
	CHECK_INT(files_like(directory, "corrupt"), 0);
	store_close(s);
	s = open_in(directory, false, NULL);
	CHECK_INT(add(s, 2, 5, NULL), 1);
	CHECK_INT(files_like(directory, "corrupt"), 1);
	store_close(s);
	fixture_remove(directory);
}

TEST(an_invalid_profile_is_reported_as_damaged_and_the_list_continues)
{
	static const char *const damages[] = {
		"UPDATE profile SET data = x'01535452420101'", "UPDATE profile SET data = x'02ffffffff7f'",
		"UPDATE profile SET data = x''", "DELETE FROM profile", "UPDATE profile SET data = 7",
		"UPDATE run SET totals = x'ffffff', labels = 'no labels'",
	};

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		char *directory = fixture_directory();
		struct store *s = open_in(directory, false, NULL);
		struct store_run run;
		struct profile *p;
		struct err err = { 0 };
		int rc;

		CHECK_INT(add(s, 1, 5, NULL), 1);
		tamper(directory, damages[i]);
		rc = store_get_run(s, "s", "1", NULL, &run, &p, &err);
		CHECK_INT(rc, i + 1 < ARRAY_SIZE(damages) ? -EBADMSG : 0);
		CHECK(rc == 0 || strstr(err.text, "the run '1' of source 's' is damaged"));
		store_run_done(&run);
		profile_free(p);
		CHECK_INT(count(s), 1);
		store_close(s);
		fixture_remove(directory);
	}
}

TEST(kill_9_of_the_writer_loses_no_acknowledged_run)
{
	char *directory = fixture_fast_directory();
	unsigned acknowledged = 0;
	struct store *s;

	for (int round = 0; round < 8; round++) {
		int pipe_fds[2];
		unsigned last = acknowledged, id;
		pid_t pid;

		CHECK_INT(pipe(pipe_fds), 0);
		pid = fork();
		if (pid == 0) {
			s = open_in(directory, round % 2, NULL);
			for (id = acknowledged + 1;; id++)
				if (!s || add(s, id, id, NULL) < 0 || write(pipe_fds[1], &id, sizeof(id)) != sizeof(id))
					_exit(1);
		}
		close(pipe_fds[1]);
		while (last < acknowledged + 20 + (unsigned)round && read(pipe_fds[0], &id, sizeof(id)) == sizeof(id))
			last = id;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		while (read(pipe_fds[0], &id, sizeof(id)) == sizeof(id))
			last = id;
		close(pipe_fds[0]);
		CHECK(last > acknowledged);
		acknowledged = last;
	}
	s = open_in(directory, false, NULL);
	for (unsigned id = 1; id <= acknowledged; id++)
		if (!is_whole(s, id, id)) {
			printf("# run %u of %u is lost\n", id, acknowledged);
			CHECK(!"a run that was acknowledged is there");
			break;
		}
	CHECK(count(s) <= acknowledged + 1);
	store_close(s);
	fixture_remove(directory);
}

/* SQLite itself does not wait if the file is being switched to WAL while another process is about to write to it. */
TEST(a_file_being_created_by_another_process_is_awaited)
{
	char *directory = fixture_fast_directory(), *path = runs_file_path(directory), ready;
	int fds[2];
	struct store *s;
	pid_t pid;

	write_over(path, "", 0);
	CHECK_INT(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		sqlite3 *db;

		if (sqlite3_open(path, &db) || sqlite3_exec(db, "CREATE TABLE t(x); DROP TABLE t; BEGIN IMMEDIATE",
							    NULL, NULL, NULL) || write(fds[1], "r", 1) != 1)
			_exit(1);
		usleep(300000);
		sqlite3_close(db);
		_exit(0);
	}
	CHECK_INT(read(fds[0], &ready, 1), 1);
	s = open_in(directory, false, NULL);
	CHECK_INT(add(s, 1, 5, NULL), 1);
	CHECK_INT(count(s), 1);
	store_close(s);
	waitpid(pid, NULL, 0);
	close(fds[0]);
	close(fds[1]);
	free(path);
	fixture_remove(directory);
}

TEST(runs_added_by_several_processes_at_once_are_each_stored_once)
{
	char *directory = fixture_fast_directory();
	struct store *s = open_in(directory, false, NULL);
	pid_t pids[4];

	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			struct store *own = open_in(directory, true, NULL);
			int bad = !own;

			/* Half of the records are shared. */
			for (unsigned n = 1; n <= 40 && own; n++) {
				struct err err = { 0 };

				if (add(own, n % 2 ? n : 1000 * (unsigned)(i + 1) + n, n, &err) < 0) {
					printf("# process %zu, run %u: %s\n", i, n, err.text);
					bad = 1;
				}
			}
			fflush(stdout);
			_exit(bad);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		int status = -1;

		waitpid(pids[i], &status, 0);
		CHECK_INT(status, 0);
	}
	CHECK_INT(count(s), 20 + 4 * 20);
	store_close(s);
	fixture_remove(directory);
}

/* Adds runs while file operation number `fail_at` fails: acknowledged runs must be complete and exist once. Returns
 * false once there are fewer operations. */
static bool live_with_failure(unsigned fail_at, bool forever, int error)
{
	char *directory = fixture_fast_directory();
	struct store *s = open_in(directory, false, NULL);
	struct store_limits l = { .runs_max_count = 4 };
	bool acknowledged[9] = { false }, failed;

	failing_vfs_arm(fail_at, forever, error);
	for (unsigned id = 1; id <= 8; id++)
		acknowledged[id] = add(s, id, id, NULL) >= 0;
	failed = failing_vfs_disarm();
	for (unsigned id = 1; id <= 8; id++)
		if (acknowledged[id])
			CHECK(is_whole(s, id, id));
	for (unsigned id = 1; id <= 8; id++)
		CHECK(add(s, id, id, NULL) >= 0);
	CHECK_INT(count(s), 8);

	failing_vfs_arm(fail_at, forever, error);
	store_maintain(s, &l, NOON, NULL);
	failed |= failing_vfs_disarm();
	CHECK_INT(store_maintain(s, &l, NOON, NULL), 0);
	CHECK_INT(count(s), 4);
	CHECK_INT(files_like(directory, "corrupt"), 0);
	store_close(s);
	fixture_remove(directory);
	return failed;
}

TEST(no_run_is_lost_whichever_write_fails)
{
	unsigned n = 1;

	failing_vfs_register();
	while (live_with_failure(n, false, SQLITE_IOERR_WRITE) && n < 1000)
		n += test_every(3);
	CHECK(n > 20 && n < 1000);
	failing_vfs_unregister();
}

TEST(no_run_is_lost_whichever_write_fills_the_disk)
{
	unsigned n = test_every(2);	/* between those that fail above */

	failing_vfs_register();
	while (live_with_failure(n, true, SQLITE_FULL) && n < 1000)
		n += test_every(3);
	CHECK(n > 20 && n < 1000);
	failing_vfs_unregister();
}

TEST_MAIN()

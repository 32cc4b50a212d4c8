/* test_sqlite_crash.c: tests that a SQLite store loses nothing by kill -9, full disks, and writes that fail. */
#include "failing_vfs.h"
#include "sqlite_fixture.h"
#include "sqlite_store.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

/* Appends batches 1, 2, 3 …, and notes in shared memory the last one acknowledged. */
static void append_until_killed(const char *directory, uint64_t first, volatile uint64_t *acknowledged)
{
	struct store *s = open_in(directory, false, NULL);

	if (!s)
		_exit(2);
	for (uint64_t id = first;; id++) {
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

TEST(kill_9_of_the_writer_neither_loses_nor_duplicates_samples)
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

		/* The batch in flight may be stored completely, only in its first day, or not at all. */
		s = open_in(directory, false, NULL);
		first = ask_sum(s, 0, NOON + 12 * HOUR);
		second = ask_sum(s, NOON + 12 * HOUR, INT64_MAX);
		CHECK(first == (int64_t)*acknowledged || first == (int64_t)*acknowledged + 1);
		CHECK(second == (int64_t)*acknowledged || second == (int64_t)*acknowledged + 1);
		CHECK(second <= first);

		/* Appending it again counts it once, as the next round would do; checked here at once. */
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

/* Runs in a directory whose disk is nearly full. `make_room` frees space on it. */
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
	for (more = 0; more < 50; more++)	/* begins with the batch that was refused */
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

TEST(a_full_disk_rejects_whole_batches_and_writing_resumes_when_space_is_free)
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

/* Uses a small disk: beside the space that must stay free, as much stays free as was used between two maintenance
 * runs. */
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

TEST(space_for_a_minute_of_samples_is_kept_free_above_the_required_reserve)
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

/* Writes one day while file operation number `fail_at` fails: acknowledged batches must exist afterwards, and none
 * twice. Returns false once there are fewer operations. */
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
		if (id == 9) {	/* closing and opening can fail, too */
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

	/* Appended again, every batch counts once. */
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

TEST(no_samples_are_lost_whichever_write_fails)
{
	unsigned n = 1;

	failing_vfs_register();
	while (live_with_failure(n, false, SQLITE_IOERR_WRITE) && n < 2000)
		n += test_every(3);
	CHECK(n > 50 && n < 2000);
	failing_vfs_unregister();
}

TEST(no_samples_are_lost_whichever_write_fills_the_disk)
{
	unsigned n = test_every(2);	/* between those that fail above */

	failing_vfs_register();
	while (live_with_failure(n, true, SQLITE_FULL) && n < 2000)
		n += test_every(3);
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

/* Removes all hours but the newest one while one file operation fails. In any case each hour must be complete or
 * gone, and the newest must exist. Returns false once there are fewer operations. */
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
	append_hour(s, 0);	/* its stack may or may not exist still */
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

TEST(hours_are_removed_entirely_or_not_at_all_whichever_write_fails)
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

TEST_MAIN()

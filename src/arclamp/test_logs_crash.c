/* test_logs_crash.c: after kill -9 at random points, and on full disks, each committed batch is present once. */
#include "logs.h"

#include "logs_fixture.h"
#include "test.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define TAGS	3

/* Each batch has an even number of lines and samples, because sample_pop counters restart with a process. */
static struct logs_group groups[] = { { "hourly", "%Y-%m-%d_%H", NULL, 10000, 1 },
				      { "daily", "%Y-%m-%d", NULL, 10000, 2 } };

static struct logs *open_logs(const char *base)
{
	const struct logs_options o = { (char *)base, groups, 2 };
	struct logs *l = NULL;
	struct err err;

	if (logs_open(&o, &l, &err) < 0)
		printf("# %s\n", err.text);
	return l;
}

/* Depends only on the id. Sometimes begins a new hour, so that files are created, too. */
static struct open_batch *make_batch(uint64_t id)
{
	struct open_batch *b = open_batch_new(id);
	int64_t time = FIXTURE_TIME + (int64_t)(id / 5) * 3600 * NS_PER_SECOND;
	uint64_t random = id * 0x9e3779b97f4a7c15u + 1;
	char line[300];

	for (int i = 0; i < 60; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		snprintf(line, sizeof(line), "/srv/e%d.php;batch%llu;line%d;%0*d 1", (int)(random % TAGS),
			 (unsigned long long)id, i, 1 + (int)(random >> 32) % 200, 0);
		fixture_line(b, line, time);
	}
	fixture_stack(fixture_message(b, "msg", time), "msg;x", 2);
	return b;
}

/* Whether all files of both trees are identical. */
static bool same_trees(const char *a, const char *b)
{
	_cleanup_(freep) char *command = xasprintf("diff -r -q -x .strobe -x filler %s %s", a, b);

	return system(command) == 0;
}

/* Commits batches until killed, and counts durable ones in memory shared with the parent. */
static void work(const char *base, volatile uint64_t *committed)
{
	struct logs *l = open_logs(base);

	for (uint64_t id = *committed + 1; l && fixture_give(l, make_batch(id), NULL) >= 0; id++)
		*committed = id;
	_exit(1);
}

static void kill_one(const char *base, volatile uint64_t *committed, unsigned us)
{
	uint64_t before = *committed;
	pid_t pid = fork();
	int status;

	if (pid == 0)
		work(base, committed);
	for (int i = 0; *committed == before && us % 3 && i < 1000; i++)
		usleep(100);				/* two out of three are killed after committing something */
	usleep(us);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	CHECK(WIFSIGNALED(status));
}

static void kill_many(char *base, int kills, unsigned max_us)
{
	char *model = fixture_fast_directory();
	volatile uint64_t *committed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct logs *expected = open_logs(model), *l;
	uint64_t in_model = 0, rolled_back = 0;
	unsigned seed = 12345;

	*committed = 0;
	for (int i = 0; i < kills; i++) {
		kill_one(base, committed, (unsigned)rand_r(&seed) % max_us);
		l = open_logs(base);
		CHECK(l);
		rolled_back += logs_counters(l)->batches_rolled_back;
		/* The batch in flight is delivered again, as from a stream. */
		++*committed;
		CHECK(!fixture_give(l, make_batch(*committed), NULL));
		logs_close(l);
		while (in_model < *committed)
			CHECK(!fixture_give(expected, make_batch(++in_model), NULL));
		if (i % 10 == 9)
			CHECK(same_trees(base, model));
	}
	CHECK(*committed > (uint64_t)kills);
	CHECK(rolled_back > 0);
	printf("# %d kills, %llu batches, %llu of them taken back at a start\n", kills, (unsigned long long)*committed,
	       (unsigned long long)rolled_back);
	logs_close(expected);
	fixture_remove(base);
	fixture_remove(model);
	munmap((void *)committed, 4096);
	free(base);
	free(model);
}

/* On a disk, most are killed while waiting for it; in memory, between any two system calls. */
TEST(a_process_killed_at_any_point_writes_each_batch_once)
{
	kill_many(fixture_directory(), 20, 6000);
	kill_many(fixture_fast_directory(), 100, 1500);
}

/* With each limit the first batches succeed, then one fails in the middle of some file. */
TEST(a_batch_is_rolled_back_completely_when_a_file_cannot_grow)
{
	char *base = fixture_fast_directory(), *model = fixture_fast_directory();
	struct logs *l = open_logs(base), *expected = open_logs(model);
	struct rlimit all, few;
	uint64_t failures = 0;
	struct err err;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &all);
	for (uint64_t id = 1; id <= 40; id++) {
		struct open_batch *b = make_batch(id);
		int r;

		few = (struct rlimit){ 1000 + id * 700, all.rlim_max };
		setrlimit(RLIMIT_FSIZE, &few);
		r = fixture_commit(l, b, &err);
		setrlimit(RLIMIT_FSIZE, &all);
		if (r < 0) {
			failures++;
			CHECK_INT(r, -EIO);		/* never an error that the collector treats as permanent */
			CHECK(same_trees(base, model));
			CHECK(!fixture_commit(l, b, &err));
		}
		open_batch_free(b);
		CHECK(!fixture_give(expected, make_batch(id), NULL));
		if (r < 0)
			CHECK(same_trees(base, model));
	}
	CHECK(same_trees(base, model));
	CHECK(failures > 5);
	logs_close(l);
	logs_close(expected);
	fixture_remove(base);
	fixture_remove(model);
	free(base);
	free(model);
}

/* Runs in a child with its own namespace, if possible. Returns 0: fine, 1: a check failed, 2: no file system. */
static int fill_disk(const char *base, const char *model)
{
	char *filler = xasprintf("%s/filler", base);
	uint64_t failures = 0;
	struct logs *l, *expected;
	struct err err;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", base, "tmpfs", 0, "size=4m"))
		return 2;
	l = open_logs(base);
	expected = open_logs(model);
	for (uint64_t id = 1; id <= 30; id++) {
		struct open_batch *b = make_batch(id);
		FILE *f = NULL;

		if (id % 3 == 0) {
			/* Fills the disk except for a few pages, a different number each time. */
			f = fopen(filler, "w");
			setvbuf(f, NULL, _IONBF, 0);
			while (fwrite("0123456789abcdef", 16, 1, f) == 1)
				;
			fflush(f);
			CHECK(!ftruncate(fileno(f), lseek(fileno(f), 0, SEEK_END) - (off_t)(id / 3) * 4096));
		}
		for (int tries = 0; tries < 5 && fixture_commit(l, b, &err) < 0; tries++) {
			failures++;
			CHECK(same_trees(base, model));
			CHECK(strstr(err.text, "No space"));
			unlink(filler);
			if (f)
				fclose(f);
			f = NULL;
		}
		if (f)
			fclose(f);
		unlink(filler);
		open_batch_free(b);
		CHECK(!fixture_give(expected, make_batch(id), NULL));
		CHECK(same_trees(base, model));
	}
	printf("# %llu failures on a full disk\n", (unsigned long long)failures);
	CHECK(failures > 3);
	logs_close(l);
	logs_close(expected);
	return test_failures > 0;
}

TEST(batches_wait_on_a_full_disk_and_none_is_written_twice)
{
	char *base = fixture_directory(), *model = fixture_fast_directory();
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int r = fill_disk(base, model);

		fflush(stdout);
		_exit(r);
	}
	waitpid(pid, &status, 0);
	fixture_remove(base);
	fixture_remove(model);
	free(base);
	free(model);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		SKIP("no file system of its own can be mounted here");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_MAIN()

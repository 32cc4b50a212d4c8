/* test_missed_files.c: rotated files are told from copies. */

#include "missed_files.h"

#include "clock.h"
#include "mem.h"
#include "tail.h"
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
	char directory[32];
	const char *base;
	struct file_offset last;
	int64_t seen_ns;
	struct buf found;
	struct missed_files missed;
};

/* Runs a shell command in the directory. */
static void shell(const struct fixture *f, const char *command)
{
	_cleanup_(freep) char *all = xasprintf("cd %s && %s", f->directory, command);

	CHECK_INT(system(all), 0);
}

/* Creates a file with two lines, of which the first has been read when the source is closed. */
static void setup(struct fixture *f, const char *base)
{
	_cleanup_(freep) char *command = xasprintf("printf 'a 1\\nb 2\\n' >%s", base), *path = NULL;
	struct stat st;
	int fd;

	*f = (struct fixture){ .directory = "/tmp/test-missed-XXXXXX", .base = base };
	CHECK(mkdtemp(f->directory) != NULL);
	shell(f, command);
	path = xasprintf("%s/%s", f->directory, base);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK_INT(fstat(fd, &st), 0);
	f->last = (struct file_offset){ .device = st.st_dev, .inode = st.st_ino, .offset = 4, .mark = tail_mark(fd, 4) };
	close(fd);
	f->seen_ns = clock_wall_ns();
	buf_init(&f->found);
}

/* Returns the names, with a question mark behind doubtful ones. */
static const char *find(struct fixture *f)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", f->directory, f->base);
	struct timespec seen = { .tv_sec = f->seen_ns / NS_PER_SECOND, .tv_nsec = f->seen_ns % NS_PER_SECOND };

	missed_files_done(&f->missed);
	missed_files_find(path, &f->last, &seen, &f->missed);
	buf_reset(&f->found);
	for (size_t i = 0; i < f->missed.count; i++)
		buf_printf(&f->found, "%s%s ", strrchr(f->missed.items[i].path, '/') + 1, f->missed.items[i].doubt ? "?" : "");
	return f->found.data ? f->found.data : "";
}

static const char *doubt_of(const struct fixture *f, size_t i)
{
	return i < f->missed.count && f->missed.items[i].doubt ? f->missed.items[i].doubt : "";
}

static void teardown(struct fixture *f)
{
	shell(f, "rm -r $PWD");
	missed_files_done(&f->missed);
	buf_done(&f->found);
}

/* Without times of creation in the file system nothing is certain. */
static bool tells_birth(void)
{
	struct statx x;
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), r = statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &x);

	close(fd);
	return r == 0 && (x.stx_mask & STATX_BTIME);
}

/* `expected` has no question marks. */
static void check_found(struct fixture *f, const char *expected)
{
	if (tells_birth())
		CHECK_STR(find(f), expected);
}

TEST(numbered_files_after_the_last_one_read_are_found_oldest_first)
{
	struct fixture f;

	setup(&f, "x");
	shell(&f, "mv x x.13; for i in 12 11 10 9 8 7 6 5 4 3 2 1; do echo \"m$i 1\" >x.$i; sleep 0.01; done; echo 'c 1' >x");
	check_found(&f, "x.12 x.11 x.10 x.9 x.8 x.7 x.6 x.5 x.4 x.3 x.2 x.1 ");
	shell(&f, "rm x");
	check_found(&f, "x.12 x.11 x.10 x.9 x.8 x.7 x.6 x.5 x.4 x.3 x.2 x.1 ");
	teardown(&f);
}

TEST(dates_are_found_before_an_extension_too)
{
	struct fixture f;

	setup(&f, "x.log");
	shell(&f, "mv x.log x.log-20261130; echo 'm 1' >x.log-20261201; sleep 0.01; echo 'n 1' >x.log-20261202; echo 'c 1' >x.log");
	check_found(&f, "x.log-20261201 x.log-20261202 ");
	teardown(&f);
	setup(&f, "x.log");
	shell(&f, "mv x.log x-2026-11-30_23.log; echo 'm 1' >x-2026-12-01_00.log; echo 'c 1' >x.log");
	check_found(&f, "x-2026-12-01_00.log ");
	teardown(&f);
}

TEST(no_file_is_missed_without_a_rotation_or_with_a_single_one)
{
	struct fixture f;

	setup(&f, "x");
	shell(&f, "echo 'c 1' >>x; cp x x.1; echo 'd 1' >x.2; gzip -k x.2");
	CHECK_STR(find(&f), "");
	shell(&f, "rm x.*; mv x x.1; echo 'e 1' >x");
	CHECK_STR(find(&f), "");
	shell(&f, "cp x.1 x.1.bak; cp x x.bak; cp x x~; echo >x.swp; echo 1 >x.offset; echo 'f 1' >x2; echo 'f 1' >x-error; : >x.0");
	CHECK_STR(find(&f), "");
	teardown(&f);
}

TEST(a_file_that_sorts_before_the_last_one_read_is_not_missed)
{
	struct fixture f;

	setup(&f, "x");
	shell(&f, "mv x x.2; echo 'm 1' >x.1; echo 'c 1' >x; echo 'z 1' >x.3; echo 'y 1' >x.4; gzip x.4");
	check_found(&f, "x.1 ");
	teardown(&f);
}

TEST(copies_are_reported_as_doubtful)
{
	struct fixture f;

	setup(&f, "x");
	shell(&f, "mv x x.2; cp x.2 x.1; echo 'c 1' >x");
	CHECK_STR(find(&f), "x.1? ");
	CHECK(strstr(doubt_of(&f, 0), "begins like the file that was read up to byte 4"));
	shell(&f, "cp x x.1");
	CHECK_STR(find(&f), "x.1? ");
	CHECK(strstr(doubt_of(&f, 0), "begins like 'x'"));
	shell(&f, "rm x.1; echo 'y 1' >x.1");			/* after the file that the path names */
	CHECK_STR(find(&f), "x.1? ");
	shell(&f, "rm x.1 x; echo 'y 1' >x.1; touch -d '2 days ago' x.1; echo 'c 1' >x");	/* cp -p */
	CHECK_STR(find(&f), "x.1? ");
	teardown(&f);
}

TEST(a_missed_file_is_read_despite_a_copy_of_it)
{
	struct fixture f;

	setup(&f, "x");
	shell(&f, "mv x x.2; echo 'm 1' >x.1; sleep 0.01; cp x.1 x.1-20261129; echo 'c 1' >x");
	if (tells_birth())
		CHECK(!strcmp(find(&f), "x.1 x.1-20261129? ") || !strcmp(find(&f), "x.1-20261129? x.1 "));
	teardown(&f);
	setup(&f, "x");
	shell(&f, "mv x x-20261101; echo 'm 1' >x-20261103; sleep 0.01; cp x-20261103 x-20261102; echo 'c 1' >x");
	CHECK_STR(find(&f), "x-20261103? x-20261102? ");
	teardown(&f);
}

TEST(files_dated_day_first_are_doubtful)
{
	struct fixture f;

	setup(&f, "x");
	shell(&f, "mv x x-01122026; echo 'm 1' >x-02122026; echo 'c 1' >x");
	CHECK_STR(find(&f), "x-02122026? ");
	teardown(&f);
}

TEST(without_the_last_file_read_all_others_are_doubtful)
{
	struct fixture f;

	setup(&f, "x");
	shell(&f, "echo 'd 1' >>x; mv x x.2; gzip x.2; echo 'm 1' >x.1; echo 'c 1' >x");
	CHECK(!strcmp(find(&f), "x.2.gz? x.1? ") || !strcmp(find(&f), "x.1? x.2.gz? "));
	CHECK(f.missed.items[0].is_compressed != f.missed.items[1].is_compressed);
	shell(&f, "rm x.2.gz");
	CHECK_STR(find(&f), "x.1? ");
	teardown(&f);
	setup(&f, "x");
	shell(&f, "mv x kept; echo 'm 1' >x.1; echo 'c 1' >x");		/* not a name made by rotation */
	CHECK_STR(find(&f), "x.1? ");
	teardown(&f);
}

TEST(a_copy_made_by_copytruncate_is_doubtful)
{
	struct fixture f;

	setup(&f, "x");
	shell(&f, "echo 'c 1' >>x; cp x x.1; : >x; echo 'd 1' >x");
	CHECK_STR(find(&f), "x.1? ");
	CHECK(strstr(doubt_of(&f, 0), "begins like the file that was read up to byte 4"));
	teardown(&f);
}

TEST(a_file_that_existed_at_the_last_check_of_the_path_is_doubtful)
{
	struct fixture f;

	setup(&f, "x");
	shell(&f, "mv x x.2; echo 'm 1' >x.1; echo 'c 1' >x");
	f.seen_ns += 60 * NS_PER_SECOND;
	CHECK_STR(find(&f), "x.1? ");
	teardown(&f);
}

TEST(a_path_that_is_a_link_has_its_rotated_files_beside_the_file)
{
	struct fixture f;

	setup(&f, "x");
	shell(&f, "mkdir d; mv x d/y.2; echo 'm 1' >d/y.1; echo 'c 1' >d/y; ln -s d/y x");
	check_found(&f, "y.1 ");
	teardown(&f);
}

TEST_MAIN()

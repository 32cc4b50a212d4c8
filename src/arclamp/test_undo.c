/* test_undo.c: undo records that are truncated anywhere or have wrong content. */
#include "undo.h"

#include "log.h"
#include "logs_fixture.h"
#include "test.h"

static struct err problem;
static char *base;
static struct undo *undo;

static void put(const char *name, const char *content)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", base, name);

	CHECK(!io_write_file(path, content, strlen(content), &problem));
}

static void check(const char *name, const char *content)
{
	char *found = fixture_read(base, name, NULL);

	CHECK_STR(found, content);
	free(found);
}

static uint64_t inode_of(const char *name)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", base, name);
	struct stat st;

	return stat(path, &st) ? 0 : st.st_ino;
}

static void begin(void)
{
	_cleanup_(freep) char *path = NULL;

	base = fixture_fast_directory();
	path = xasprintf("%s/daily", base);
	CHECK(!undo_open(base, &undo, &problem));
	CHECK(!io_make_dirs(path, 0755, &problem));
}

static void reopen(void)
{
	undo = undo_close(undo);
	CHECK(!undo_open(base, &undo, &problem));
}

static void end(void)
{
	undo = undo_close(undo);
	fixture_remove(base);
	free(base);
}

/* Begins a batch that appends to one file and creates another, and never ends it. */
static void begin_batch(uint64_t id)
{
	struct undo_file files[2] = { { .path = "daily/old.log", .length = 4 }, { .path = "daily/new.log" } };

	put("daily/old.log", "old\n");
	files[0].inode = inode_of("daily/old.log");
	CHECK(!undo_begin(undo, id, files, 2, &problem));
}

static void write_half(void)
{
	_cleanup_(freep) char *path = xasprintf("%s/daily/old.log", base);
	FILE *f = fopen(path, "a");

	fputs("torn", f);
	fclose(f);
	put("daily/new.log", "torn");
}

TEST(unfinished_batches_are_rolled_back_and_finished_ones_are_kept)
{
	begin();
	begin_batch(7);
	write_half();
	reopen();
	check("daily/old.log", "old\n");
	check("daily/new.log", "(none)");
	CHECK(!undo_knows(undo, 7));
	CHECK_INT(undo_count(undo), 1);
	reopen();
	CHECK_INT(undo_count(undo), 0);			/* once is enough */
	begin_batch(8);
	write_half();
	CHECK(!undo_end(undo, &problem));
	reopen();
	check("daily/old.log", "old\ntorn");
	check("daily/new.log", "torn");
	CHECK(undo_knows(undo, 8) && !undo_knows(undo, 7) && !undo_knows(undo, 0));
	end();
}

TEST(changes_made_meanwhile_by_others_are_kept)
{
	begin();
	begin_batch(1);
	put("daily/old.log", "another file of this name\n");	/* replaced */
	reopen();
	check("daily/old.log", "another file of this name\n");
	begin_batch(2);
	put("daily/gone.log", "x");
	CHECK(!undo_roll_back(undo, &problem) && !undo_roll_back(undo, &problem));
	check("daily/old.log", "old\n");
	check("daily/gone.log", "x");
	end();
}

/* Simulates a crash that truncated the file, and a disk that flipped a bit. */
TEST(truncated_and_damaged_records_are_ignored)
{
	char *path, *whole;
	size_t size;

	begin();
	path = xasprintf("%s/.strobe/batches", base);
	begin_batch(1);
	CHECK(!undo_end(undo, &problem));
	begin_batch(2);
	whole = fixture_read(base, ".strobe/batches", &size);
	log_set_level(0);
	for (size_t cut = 0; cut < 2 * size; cut++) {
		undo = undo_close(undo);
		if (cut >= size)
			whole[cut - size] ^= 0x10;
		CHECK(!io_write_file(path, whole, cut < size ? cut : size, &problem));
		if (cut >= size)
			whole[cut - size] ^= 0x10;
		write_half();
		CHECK(!undo_open(base, &undo, &problem));
		/* Damage before the last record must not truncate files that have grown since. */
		CHECK(undo_count(undo) <= (cut < size));
		CHECK(!undo_knows(undo, 2));
		CHECK(inode_of("daily/old.log"));		/* existing files are never removed */
		reopen();
		CHECK_INT(undo_count(undo), 0);			/* not by the next process either */
	}
	log_set_level(2);
	free(whole);
	free(path);
	end();
}

TEST(records_with_paths_outside_the_tree_are_ignored)
{
	static const char *const paths[] = { "../outside", "/tmp/x", "daily/../../outside", "daily/.hidden",
					     ".strobe/lock", "x",
		"", "daily/", "../daily/x", "a/b/c" };
	char *outside;

	begin();
	outside = xasprintf("%s/../outside", base);
	put("../outside", "keep");
	put("x", "keep");
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const struct undo_file one = { .path = paths[i] };

		CHECK(!undo_begin(undo, i + 1, &one, 1, &problem));
		reopen();
		CHECK_INT(undo_count(undo), 0);
	}
	check("../outside", "keep");
	check("x", "keep");
	unlink(outside);
	free(outside);
	end();
}

static void run_batch(uint64_t id, const struct undo_file *files, size_t count)
{
	CHECK(!undo_begin(undo, id, files, count, &problem));
	CHECK(!undo_end(undo, &problem));
}

TEST(ids_are_kept_until_they_are_old_and_not_pending)
{
	const uint64_t open[] = { 3, UNDO_IDS };

	begin();
	for (uint64_t id = 1; id <= UNDO_IDS + 5; id++)
		run_batch(id, NULL, 0);
	CHECK(undo_knows(undo, 1) && undo_knows(undo, 5) && undo_knows(undo, UNDO_IDS + 5));
	reopen();
	CHECK(undo_knows(undo, 1) && undo_knows(undo, 5) && undo_knows(undo, UNDO_IDS + 5));
	undo_keep_ids(undo, open, 2);
	CHECK(undo_knows(undo, 3) && !undo_knows(undo, 5) && undo_knows(undo, 6) && undo_knows(undo, UNDO_IDS + 5));
	undo_keep_ids(undo, NULL, 0);
	CHECK(!undo_knows(undo, 3) && !undo_knows(undo, 5) && undo_knows(undo, 7) && undo_knows(undo, UNDO_IDS + 5));
	end();
}

/* Records of 500 files each make it grow to its limit. */
TEST(a_rewritten_file_contains_the_kept_ids)
{
	struct undo_file files[500];
	const uint64_t open[] = { 3 };

	begin();
	for (uint64_t id = 1; id <= UNDO_IDS + 5; id++)
		run_batch(id, NULL, 0);
	undo_keep_ids(undo, open, 1);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		files[i] = (struct undo_file){ .path = "daily/a-name-of-some-length-that-makes-the-record-large.log" };
	for (uint64_t id = UNDO_IDS + 6; id <= UNDO_IDS + 200; id++)
		run_batch(id, files, ARRAY_SIZE(files));
	reopen();
	CHECK(undo_knows(undo, 3) && !undo_knows(undo, 5) && undo_knows(undo, 6) && undo_knows(undo, UNDO_IDS + 200));
	end();
}

TEST_MAIN()

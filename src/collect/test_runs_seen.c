/* test_runs_seen.c: tests the list of imported files across restarts, crashes and deletions. */
#include "runs_seen.h"

#include "buf.h"
#include "mem.h"
#include "private_file.h"
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

static char *directory;

static char *path_of(void)
{
	static char template[] = "/tmp/strobe-seen-XXXXXX";

	if (!directory)
		directory = mkdtemp(template);
	return xasprintf("%s/seen", directory);
}

static void open_seen(struct runs_seen *s)
{
	struct err err = { 0 };

	CHECK_INT(runs_seen_init(s, path_of(), &err), 0);
}

/* Returns the content of the file; the caller frees it. */
static char *content(void)
{
	_cleanup_(freep) char *path = path_of();
	struct buf b;

	buf_init(&b);
	private_file_read(path, &b, 1 << 20, NULL);
	return buf_take(&b, NULL);
}

static void write_content(const char *text)
{
	_cleanup_(freep) char *path = path_of();

	CHECK_INT(private_file_write(path, text, strlen(text), false, NULL), 0);
}

static void remove_all(void)
{
	_cleanup_(freep) char *path = path_of();

	unlink(path);
}

TEST(added_ids_are_known_after_reopening)
{
	_cleanup_(freep) char *text = NULL;
	struct runs_seen s;

	open_seen(&s);
	CHECK(!runs_seen_has(&s, 1));
	runs_seen_add(&s, 1);
	runs_seen_add(&s, UINT64_MAX);
	runs_seen_add(&s, 1);
	runs_seen_done(&s);
	text = content();
	CHECK_STR(text, "strobe runs 1\n0000000000000001\nffffffffffffffff\n");
	open_seen(&s);
	CHECK(runs_seen_has(&s, 1) && runs_seen_has(&s, UINT64_MAX) && !runs_seen_has(&s, 2));
	runs_seen_done(&s);
	remove_all();
}

TEST(removed_files_are_forgotten_and_the_size_of_the_file_is_bounded)
{
	struct runs_seen s;

	open_seen(&s);
	for (uint64_t id = 1; id <= 3000; id++)
		runs_seen_add(&s, id);
	runs_seen_end_scan(&s);			/* all of them came during the scan */
	CHECK(runs_seen_has(&s, 1) && s.lines == 3000);
	for (uint64_t id = 1; id <= 10; id++)
		runs_seen_mark(&s, id);
	runs_seen_add(&s, 5000);
	runs_seen_end_scan(&s);
	CHECK(runs_seen_has(&s, 10) && runs_seen_has(&s, 5000) && !runs_seen_has(&s, 11));
	CHECK_INT(s.lines, 11);
	runs_seen_done(&s);
	open_seen(&s);
	CHECK(runs_seen_has(&s, 10) && runs_seen_has(&s, 5000) && !runs_seen_has(&s, 11));
	runs_seen_done(&s);
	remove_all();
}

TEST(a_truncated_line_is_skipped_and_rewritten)
{
	_cleanup_(freep) char *text = NULL;
	struct runs_seen s;

	write_content("strobe runs 1\n0000000000000001\n00000000000");
	open_seen(&s);
	CHECK(runs_seen_has(&s, 1) && s.known.count == 1);
	runs_seen_add(&s, 2);
	runs_seen_done(&s);
	text = content();
	CHECK_STR(text, "strobe runs 1\n0000000000000001\n0000000000000002\n");
	remove_all();
}

TEST(a_file_of_another_kind_is_not_accepted)
{
	struct runs_seen s;
	struct err err = { 0 };

	write_content("strobe file 1\nlast 5\n");
	CHECK_INT(runs_seen_init(&s, path_of(), &err), -EINVAL);
	CHECK(strstr(err.text, "is not a list of imported files") != NULL);
	runs_seen_done(&s);
	remove_all();
}

TEST(ids_that_cannot_be_written_are_kept_in_memory_and_written_later)
{
	_cleanup_(freep) char *text = NULL;
	struct runs_seen s;

	CHECK_INT(runs_seen_init(&s, xasprintf("%s/none/seen", directory), NULL), 0);
	runs_seen_add(&s, 7);
	CHECK(runs_seen_has(&s, 7) && s.fd < 0);
	free(s.path);
	s.path = path_of();
	runs_seen_save(&s);
	runs_seen_done(&s);
	text = content();
	CHECK_STR(text, "strobe runs 1\n0000000000000007\n");
	remove_all();
	rmdir(directory);
}

TEST_MAIN()

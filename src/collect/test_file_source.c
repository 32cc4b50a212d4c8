/* test_file_source.c: files that grow, rotate and are truncated, across restarts. */

#include "test_file_source.h"

#include "file_state.h"

#include <glob.h>
#include <sys/stat.h>

TEST(a_file_is_followed_from_before_its_creation_through_rotation_and_truncation)
{
	struct fixture f;

	setup(&f);
	open_it(&f);
	CHECK_STR(run(&f), "");
	CHECK_INT(f.caught_up, 1);
	write_to(&f, "a;b 1\nno line\nc 2\npart", false);
	CHECK_STR(run(&f), "a;b 1|c 2|");
	write_to(&f, "ial 3\n", false);
	rotate(&f);
	write_to(&f, "new 4\n", false);
	CHECK_STR(run(&f), "partial 3|new 4|");
	write_to(&f, "n 5\n", true);
	CHECK_STR(run(&f), "n 5|");
	CHECK_INT(f.source->counters.lines, 5);
	CHECK_INT(f.source->counters.rejected_lines[SOURCE_LINE_NO_COUNT], 1);
	/* No two lines have one ack token, whatever their offset is. */
	for (size_t i = 0; i < f.lines; i++)
		for (size_t j = 0; j < i; j++)
			CHECK(memcmp(&f.ack_tokens[i], &f.ack_tokens[j], sizeof(f.ack_tokens[i])));
	teardown(&f);
}

TEST(a_restart_resumes_after_the_acknowledged_lines)
{
	struct fixture f;
	struct ack_token before;

	setup(&f);
	write_to(&f, "a 1\nb 2\nc 3\nd 4\n", false);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|b 2|c 3|d 4|");
	CHECK_INT(f.source->counters.pending, 4);
	ack(&f, 0, 2);
	CHECK_INT(f.source->counters.pending, 2);
	CHECK_INT(f.source->counters.acked, 2);
	before = f.ack_tokens[2];
	f.source = source_close(f.source);
	write_to(&f, "e 5\n", false);
	f.lines = 0;
	open_it(&f);
	CHECK_STR(run(&f), "c 3|d 4|e 5|");
	CHECK(f.ack_tokens[0].stream == before.stream && f.ack_tokens[0].high == before.high &&
	      f.ack_tokens[0].low == before.low);
	teardown(&f);
}

TEST(a_file_rotated_away_during_a_restart_is_read_to_its_end)
{
	struct fixture f;

	setup(&f);
	write_to(&f, "a 1\nb 2\n", false);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|b 2|");
	ack(&f, 0, 1);
	f.source = source_close(f.source);
	write_to(&f, "c 3\n", false);
	rotate(&f);
	write_to(&f, "d 4\n", false);
	open_it(&f);
	CHECK_STR(run(&f), "b 2|c 3|d 4|");
	teardown(&f);
}

/* Renames the file that was read last to x.3, after two others had the path. */
static void rotate_thrice(struct fixture *f)
{
	_cleanup_(freep) char *command = xasprintf("cd %s && mv x x.3 && echo 'm 1' >x.2 && sleep 0.02 && echo 'n 1' >x.1 && cp x.1 x.1.bak && "
						   "echo 'd 4' >x",
						   f->directory);

	CHECK_INT(system(command), 0);
}

static bool tells_birth(const struct fixture *f)
{
	struct statx x;

	return statx(AT_FDCWD, f->directory, 0, STATX_BTIME, &x) == 0 && (x.stx_mask & STATX_BTIME);
}

TEST(files_created_and_rotated_during_a_restart_are_read_once_in_order)
{
	struct fixture f;
	struct ack_token before;

	setup(&f);
	write_to(&f, "a 1\nb 2\n", false);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|b 2|");
	ack(&f, 0, 1);
	f.source = source_close(f.source);
	rotate_thrice(&f);
	open_it(&f);
	if (!tells_birth(&f)) {
		CHECK_STR(run(&f), "b 2|d 4|");
		teardown(&f);
		return;
	}
	f.lines = 0;
	CHECK_STR(run(&f), "b 2|m 1|n 1|d 4|");
	before = f.ack_tokens[1];
	f.source = source_close(f.source);
	f.lines = 0;
	open_it(&f);
	CHECK_STR(run(&f), "b 2|m 1|n 1|d 4|");
	CHECK(f.ack_tokens[1].stream == before.stream && f.ack_tokens[1].high == before.high && f.ack_tokens[1].low == before.low);
	ack(&f, 0, 4);
	f.source = source_close(f.source);
	f.lines = 0;
	open_it(&f);
	CHECK_STR(run(&f), "");
	teardown(&f);
}

TEST(a_file_that_appears_while_a_removed_source_waits_for_its_sink_is_read_later)
{
	struct fixture f;

	setup(&f);
	write_to(&f, "a 1\nb 2\n", false);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|b 2|");
	f.source->ops->stop(f.source);
	sleep(1);
	rotate_thrice(&f);
	sleep(2);
	ack(&f, 0, 2);						/* which saves the offset */
	f.source = source_close(f.source);
	open_it(&f);
	CHECK_STR(run(&f), tells_birth(&f) ? "m 1|n 1|d 4|" : "d 4|");
	teardown(&f);
}

TEST(many_rotated_files_wait_for_their_sink_even_across_a_restart)
{
	_cleanup_(buf_done) struct buf all = { 0 };
	struct fixture f;

	setup(&f);
	buf_init(&all);
	open_it(&f);
	for (int i = 0; i < 40; i++) {
		_cleanup_(freep) char *line = xasprintf("f%d 1\n", i), *to = xasprintf("%s.%d", f.path, i), *said = xasprintf("f%d 1|", i);

		write_to(&f, line, false);
		CHECK_STR(run(&f), said);
		buf_puts(&all, said);
		CHECK_INT(rename(f.path, to), 0);
	}
	f.source = source_close(f.source);
	f.lines = 0;
	open_it(&f);
	CHECK_STR(run(&f), all.data);
	teardown(&f);
}

TEST(a_file_renamed_to_another_followed_path_is_not_read_twice)
{
	struct source *other = NULL;
	struct err err = { 0 };
	struct fixture f;

	setup(&f);
	write_to(&f, "a 1\n", false);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|");
	{
		_cleanup_(freep) char *url = xasprintf("file:%s.1", f.path);

		CHECK_INT(source_open(url, f.loop, &f.receiver, &other, &err), 0);
	}
	rotate(&f);
	write_to(&f, "b 2\n", false);
	CHECK_STR(run(&f), "b 2|");
	source_close(other);
	teardown(&f);
}

TEST(no_line_is_read_twice_after_an_undone_rotation)
{
	struct fixture f;

	setup(&f);
	write_to(&f, "a 1\n", false);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|");
	rotate(&f);
	write_to(&f, "b 2\n", false);
	CHECK_STR(run(&f), "b 2|");
	{
		_cleanup_(freep) char *from = xasprintf("%s.1", f.path);

		CHECK_INT(rename(from, f.path), 0);
	}
	write_to(&f, "c 3\n", false);
	CHECK_STR(run(&f), "c 3|");
	teardown(&f);
}

TEST(a_file_with_the_same_inode_but_other_content_is_read_from_the_start)
{
	struct fixture f;

	setup(&f);
	write_to(&f, "a 1\nb 2\n", false);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|b 2|");
	ack(&f, 0, 2);
	f.source = source_close(f.source);
	write_to(&f, "other 3\nb 2\n", true);	/* the same inode and longer than before, but not what was read */
	open_it(&f);
	CHECK_STR(run(&f), "other 3|b 2|");
	teardown(&f);
}

/* Overwrites the saved offset with the first `n` bytes of `bytes`; NULL: truncates it to `n` bytes. */
static void damage(struct fixture *f, const char *bytes, size_t n)
{
	_cleanup_(freep) char *pattern = xasprintf("%s/*.position", f->directory);
	glob_t found;
	int fd;

	CHECK_INT(glob(pattern, 0, NULL, &found), 0);
	CHECK_INT(found.gl_pathc, 1);
	fd = open(found.gl_pathv[0], O_WRONLY | (bytes ? O_TRUNC : 0));
	if (bytes)
		CHECK(write(fd, bytes, n) == (ssize_t)n);
	else
		CHECK_INT(ftruncate(fd, (off_t)n), 0);
	close(fd);
	globfree(&found);
}

/* Renamed, but its bytes not written, or not all of them, when the power went. */
TEST(with_a_damaged_state_file_the_file_is_read_and_no_ack_token_is_reused)
{
	static const struct { const char *bytes; size_t n; } cases[] = {
		{ "", 0 },
		{ "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20 },
		{ NULL, 9 },			/* "strobe fi" */
		{ NULL, 20 },			/* "last 2" without its end */
		{ NULL, 24 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fixture f;

		setup(&f);
		open_it(&f);
		for (int k = 0; k < 2; k++) {			/* two epochs */
			write_to(&f, "a 1\nb 1\n", false);
			CHECK_STR(run(&f), "a 1|b 1|");
			write_to(&f, "", true);
			CHECK_STR(run(&f), "");
		}
		write_to(&f, "c 1\n", false);
		CHECK_STR(run(&f), "c 1|");
		f.source = source_close(f.source);
		damage(&f, cases[i].bytes, cases[i].n);
		/* Truncated as by logrotate's copytruncate; other lines follow at the same offsets. */
		write_to(&f, "d 1\ne 1\n", true);
		open_it(&f);
		CHECK_STR(run(&f), "d 1|e 1|");
		write_to(&f, "f 1\n", true);
		CHECK_STR(run(&f), "f 1|");
		for (size_t k = 0; k < f.lines; k++)
			for (size_t j = 0; j < k; j++)
				CHECK(memcmp(&f.ack_tokens[k], &f.ack_tokens[j], sizeof(f.ack_tokens[k])));
		teardown(&f);
	}
}

TEST(paths_that_cannot_be_followed_are_rejected)
{
	static const char *const bad[] = { "file:relative", "file:/tmp", "file:/dev/null", "file:/tmp/x?clock=sun",
					   "file:/" };
	struct fixture f;

	setup(&f);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err err = { 0 };

		CHECK_INT(source_open(bad[i], f.loop, &f.receiver, &f.source, &err), -EINVAL);
		CHECK(err.text[0] != 0);
	}
	teardown(&f);
}

TEST_MAIN()

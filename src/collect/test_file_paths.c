/* test_file_paths.c: one file by several paths, through links and renames, is read once. */

#include "test_file_source.h"

#include "file_state.h"

#include <glob.h>
#include <sys/stat.h>

/* Closes the file, opens it by another path, and returns the lines read. */
static const char *run_by(struct fixture *f, const char *path)
{
	free(f->url);
	f->url = xasprintf("file:%s/%s", f->directory, path);
	f->source = source_close(f->source);
	f->lines = 0;
	open_it(f);
	return run(f);
}

static void make_names(const struct fixture *f)
{
	_cleanup_(freep) char *to_directory = xasprintf("%s/dir", f->directory);
	_cleanup_(freep) char *to_file = xasprintf("%s/by-link", f->directory), *hard = xasprintf("%s/hard", f->directory);

	CHECK_INT(symlink(".", to_directory), 0);
	CHECK_INT(symlink("x", to_file), 0);
	CHECK_INT(link(f->path, hard), 0);
}

static size_t count_state_files(const struct fixture *f)
{
	_cleanup_(freep) char *pattern = xasprintf("%s/*.position", f->directory);
	size_t n = 0;
	glob_t found;

	if (glob(pattern, 0, NULL, &found) == 0)
		n = found.gl_pathc;
	globfree(&found);
	return n;
}

TEST(a_file_is_resumed_under_any_of_its_paths)
{
	static const char *const paths[] = { "dir/x", "by-link", "hard", "dir/by-link", "x", "dir/hard", "x" };
	struct fixture f;

	setup(&f);
	write_to(&f, "a 1\nb 2\n", false);
	make_names(&f);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|b 2|");
	ack(&f, 0, 2);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		CHECK_STR(run_by(&f, paths[i]), "");
		write_to(&f, "c 3\n", false);
		CHECK_STR(run(&f), "c 3|");
		ack(&f, 0, 1);
		CHECK_INT(count_state_files(&f), 1);
	}
	teardown(&f);
}

TEST(earlier_ack_tokens_stay_valid_under_another_path_of_the_same_file)
{
	_cleanup_(freep) char *identity = NULL;
	struct ack_token before;
	struct fixture f;

	setup(&f);
	write_to(&f, "a 1\nb 2\n", false);
	make_names(&f);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|b 2|");
	ack(&f, 0, 1);
	before = f.ack_tokens[1];
	identity = xstrdup(source_identity(f.source));
	CHECK_STR(run_by(&f, "hard"), "b 2|");
	CHECK_STR(source_identity(f.source), identity);
	CHECK(f.ack_tokens[0].stream == before.stream && f.ack_tokens[0].high == before.high &&
	      f.ack_tokens[0].low == before.low);
	teardown(&f);
}

TEST(a_file_rotated_while_stopped_is_found_through_a_link_to_its_directory)
{
	struct fixture f;

	setup(&f);
	write_to(&f, "a 1\nb 2\n", false);
	make_names(&f);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|b 2|");
	ack(&f, 0, 1);
	f.source = source_close(f.source);
	rotate(&f);
	write_to(&f, "c 3\n", false);
	CHECK_STR(run_by(&f, "dir/x"), "b 2|c 3|");
	teardown(&f);
}

TEST(a_file_renamed_to_any_name_while_stopped_is_read_to_its_end)
{
	_cleanup_(freep) char *to = NULL;
	struct fixture f;

	setup(&f);
	to = xasprintf("%s/before-x", f.directory);
	write_to(&f, "a 1\nb 2\n", false);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|b 2|");
	ack(&f, 0, 1);
	f.source = source_close(f.source);
	CHECK_INT(rename(f.path, to), 0);
	write_to(&f, "c 3\n", false);
	CHECK_STR(run_by(&f, "x"), "b 2|c 3|");
	teardown(&f);
}

TEST(a_rotated_file_configured_by_its_new_name_is_resumed_and_so_is_its_successor)
{
	_cleanup_(freep) char *command = NULL;
	struct fixture f;

	setup(&f);
	command = xasprintf("echo 'd 4' >>%s/x.1", f.directory);
	write_to(&f, "a 1\nb 2\n", false);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|b 2|");
	ack(&f, 0, 2);
	rotate(&f);
	write_to(&f, "c 3\n", false);
	CHECK_STR(run(&f), "c 3|");
	ack(&f, 2, 3);
	CHECK_INT(system(command), 0);
	CHECK_STR(run_by(&f, "x.1"), "d 4|");
	ack(&f, 0, 1);
	CHECK_STR(run_by(&f, "x"), "");
	CHECK_STR(run_by(&f, "x.1"), "");
	CHECK_INT(count_state_files(&f), 2);
	teardown(&f);
}

static struct source *open_beside(struct fixture *f, struct source *first, const char *name)
{
	_cleanup_(freep) char *url = xasprintf("file:%s/%s", f->directory, name);
	struct source_receiver receiver = f->receiver;
	struct err err = { 0 };
	struct source *s = NULL;

	receiver.kept = (struct source_list){ &first, first != NULL };
	if (source_open(url, f->loop, &receiver, &s, &err) < 0)
		CHECK_STR(err.text, "");
	return s;
}

static void rename_in(const struct fixture *f, const char *from, const char *to)
{
	_cleanup_(freep) char *a = xasprintf("%s/%s", f->directory, from), *b = xasprintf("%s/%s", f->directory, to);

	CHECK_INT(rename(a, b), 0);
}

static void append_to(const struct fixture *f, const char *name, const char *text)
{
	_cleanup_(freep) char *command = xasprintf("printf '%s' >>%s/%s", text, f->directory, name);

	CHECK_INT(system(command), 0);
}

/* In what order the lines of two files come does not matter. */
static void check_once(const char *got, const char *line, const char *other)
{
	const char *at = strstr(got, line);

	CHECK(at && !strstr(at + 1, line));
	CHECK(!other || strstr(got, other));
	CHECK_INT(strlen(got), strlen(line) + (other ? strlen(other) : 0));
}

TEST(a_file_rotated_while_stopped_and_listed_by_both_names_is_read_once)
{
	for (int order = 0; order < 2; order++) {
		struct source *a, *b;
		struct fixture f;

		setup(&f);
		write_to(&f, "a 1\n", false);
		open_it(&f);
		CHECK_STR(run(&f), "a 1|");
		ack(&f, 0, 1);
		f.source = source_close(f.source);
		write_to(&f, "b 2\n", false);
		rotate(&f);
		write_to(&f, "c 3\n", false);
		a = open_beside(&f, NULL, order ? "x.1" : "x");
		b = open_beside(&f, a, order ? "x" : "x.1");
		check_once(run(&f), "b 2|", "c 3|");
		append_to(&f, "x.1", "d 4\n");
		check_once(run(&f), "d 4|", NULL);
		source_close(a);
		source_close(b);
		teardown(&f);
	}
}

TEST(a_file_rotated_to_a_path_that_is_added_later_is_read_once)
{
	struct source *added;
	struct fixture f;

	setup(&f);
	write_to(&f, "a 1\n", false);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|");
	ack(&f, 0, 1);
	rotate(&f);
	added = open_beside(&f, f.source, "x.1");		/* before a new file exists at the old path */
	CHECK_STR(run(&f), "");
	write_to(&f, "b 2\n", false);
	CHECK_STR(run(&f), "b 2|");
	append_to(&f, "x.1", "c 3\n");
	CHECK_STR(run(&f), "c 3|");
	ack(&f, 0, 3);
	f.source = source_close(f.source);
	append_to(&f, "x.1", "d 4\n");
	CHECK_STR(run(&f), "d 4|");				/* by the added source, from the offset of the
								 * other one */
	open_it(&f);
	CHECK_STR(run(&f), "");
	source_close(added);
	teardown(&f);
}

TEST(two_files_that_swap_names_are_read_once_whichever_source_is_removed)
{
	for (int which = 0; which < 2; which++) {
		struct source *sources[2];
		struct fixture f;

		setup(&f);
		append_to(&f, "x", "a 1\n");
		append_to(&f, "y", "b 2\n");
		sources[0] = open_beside(&f, NULL, "x");
		sources[1] = open_beside(&f, sources[0], "y");
		check_once(run(&f), "a 1|", "b 2|");
		for (int i = 0; i < 2; i++)
			sources[i]->ops->ack(sources[i], f.ack_tokens, 2);
		rename_in(&f, "x", "z");
		rename_in(&f, "y", "x");
		rename_in(&f, "z", "y");
		append_to(&f, "x", "c 3\n");
		append_to(&f, "y", "d 4\n");
		f.lines = 0;
		check_once(run(&f), "c 3|", "d 4|");
		for (int i = 0; i < 2; i++)
			sources[i]->ops->ack(sources[i], f.ack_tokens, 2);
		sources[which] = source_close(sources[which]);
		append_to(&f, which ? "x" : "y", "e 5\n");
		CHECK_STR(run(&f), "e 5|");
		sources[which] = open_beside(&f, sources[!which], which ? "y" : "x");
		CHECK_STR(run(&f), "");
		append_to(&f, "x", "f 6\n");
		append_to(&f, "y", "g 7\n");
		check_once(run(&f), "f 6|", "g 7|");
		source_close(sources[0]);
		source_close(sources[1]);
		teardown(&f);
	}
}

TEST(a_source_that_takes_over_a_file_keeps_the_offset_of_its_previous_one)
{
	struct source *y;
	struct fixture f;

	setup(&f);
	append_to(&f, "x", "a 1\n");
	append_to(&f, "y", "b 2\n");
	open_it(&f);
	y = open_beside(&f, f.source, "y");
	check_once(run(&f), "a 1|", "b 2|");
	f.source->ops->ack(f.source, f.ack_tokens, 2);
	y->ops->ack(y, f.ack_tokens, 2);
	f.source = source_close(f.source);
	usleep(20000);						/* so that the other offsets are the later ones */
	source_close(y);
	rename_in(&f, "x", "z");
	rename_in(&f, "y", "x");
	rename_in(&f, "z", "y");
	open_it(&f);
	CHECK_STR(run(&f), "");
	f.source = source_close(f.source);
	CHECK_STR(run_by(&f, "y"), "");
	teardown(&f);
}

TEST(a_file_truncated_while_stopped_is_read_from_its_start_under_another_path)
{
	struct fixture f;

	setup(&f);
	write_to(&f, "a 1\nb 2\n", false);
	make_names(&f);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|b 2|");
	ack(&f, 0, 2);
	f.source = source_close(f.source);
	write_to(&f, "c 3\nd 4\ne 5\n", true);
	CHECK_STR(run_by(&f, "hard"), "c 3|d 4|e 5|");
	teardown(&f);
}

TEST(offsets_under_the_name_of_an_earlier_version_are_used)
{
	_cleanup_(freep) char *through_link = NULL, *before = NULL, *now = NULL;
	struct fixture f;

	setup(&f);
	write_to(&f, "a 1\nb 2\n", false);
	make_names(&f);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|b 2|");
	ack(&f, 0, 2);
	f.source = source_close(f.source);
	/* An earlier version stored the path as configured, and no origin. */
	through_link = xasprintf("%s/dir/x", f.directory);
	before = file_state_path(f.directory, through_link);
	now = file_state_path(f.directory, f.path);
	CHECK_INT(rename(now, before), 0);
	rotate(&f);
	write_to(&f, "c 3\n", false);
	CHECK_STR(run_by(&f, "dir/x"), "c 3|");
	CHECK_INT(access(before, F_OK), -1);
	CHECK_INT(access(now, F_OK), 0);
	teardown(&f);
}

TEST(a_source_whose_opening_is_undone_takes_no_offsets_from_another_path)
{
	struct err err = { 0 };
	struct source *undone;
	struct fixture f;

	setup(&f);
	write_to(&f, "a 1\nb 2\n", false);
	make_names(&f);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|b 2|");
	ack(&f, 0, 2);
	f.source = source_close(f.source);
	free(f.url);
	f.url = xasprintf("file:%s/hard", f.directory);
	CHECK_INT(source_open(f.url, f.loop, &f.receiver, &undone, &err), 0);
	source_close(undone);
	rotate(&f);
	write_to(&f, "c 3\n", false);
	CHECK_STR(run_by(&f, "x"), "c 3|");
	teardown(&f);
}

/* Inodes are reused, and logs may begin with the same lines. */
TEST(an_offset_is_not_applied_to_a_file_created_after_it)
{
	_cleanup_(freep) char *path = NULL;
	struct stat before, after;
	struct fixture f;
	char *found;

	setup(&f);
	write_to(&f, "a 1\nb 2\n", false);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|b 2|");
	ack(&f, 0, 2);
	f.source = source_close(f.source);
	path = xasprintf("%s/y", f.directory);
	CHECK_INT(link(f.path, path), 0);
	found = file_state_find(f.directory, path, NULL, 0);
	CHECK(found != NULL);
	CHECK_INT(utimensat(AT_FDCWD, found, (struct timespec[2]){ { 1, 0 }, { 1, 0 } }, 0), 0);
	free(found);
	CHECK_INT(stat(path, &before), 0);
	CHECK_INT(stat(f.path, &after), 0);
	CHECK(before.st_ino == after.st_ino);
	CHECK(file_state_find(f.directory, path, NULL, 0) == NULL);
	teardown(&f);
}

TEST_MAIN()

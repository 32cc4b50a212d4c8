/* test_file_source.c: lines in pieces, URL options, and files that grow, rotate and are truncated. */

#include "file_source.h"
#include "file_state.h"
#include "line_feed.h"
#include "line_options.h"
#include "mem.h"
#include "tail.h"
#include "test.h"

#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

/* --- Lines out of pieces --- */

static struct buf seen;

static void note_line(void *data, uint64_t at, const char *line, size_t n)
{
	if (line)
		buf_printf(&seen, "%llu:%.*s\n", (unsigned long long)at, (int)n, line);
	else
		buf_printf(&seen, "%llu too long\n", (unsigned long long)at);
}

static const char *lines_of(const char *text, size_t piece, size_t max, bool end)
{
	struct line_feed f;

	buf_done(&seen);
	buf_init(&seen);
	line_feed_init(&f, max, note_line, NULL);
	for (size_t at = 0, n = strlen(text); at < n; at += piece)
		line_feed_put(&f, text + at, n - at < piece ? n - at : piece);
	if (end)
		line_feed_end(&f);
	line_feed_done(&f);
	return seen.data;
}

TEST(lines_are_the_same_in_pieces_of_any_size)
{
	for (size_t piece = 1; piece < 20; piece++) {
		CHECK_STR(lines_of("one 1\n\nthree 3\nlast", piece, 100, true), "0:one 1\n6:\n7:three 3\n15:last\n");
		CHECK_STR(lines_of("one 1\nlast", piece, 100, false), "0:one 1\n");
	}
}

TEST(a_line_that_is_too_long_is_said_once_and_the_next_one_is_fine)
{
	for (size_t piece = 1; piece < 30; piece++)
		CHECK_STR(lines_of("a 1\nabcdefghijklmno 1\nb 2\n", piece, 8, true), "0:a 1\n4 too long\n22:b 2\n");
}

/* --- URLs --- */

TEST(a_query_says_labels_clock_and_period)
{
	struct line_options o;
	struct err err;

	CHECK_INT(line_options_parse("label.host=web%201&clock=cpu&period=0.01&channel=excimer", &o, &err), 0);
	CHECK_STR(labels_get(&o.hints.labels, "host"), "web 1");
	CHECK_INT(o.hints.clock, STROBE_CLOCK_CPU);
	CHECK_INT(o.hints.period_ns, 10000000);
	CHECK_STR(o.channel, "excimer");
	line_options_done(&o);
	CHECK_INT(line_options_parse(NULL, &o, &err), 0);
	line_options_done(&o);
}

TEST(what_a_query_cannot_say_is_refused)
{
	static const char *const bad[] = {
		"clock=sun", "period=often", "tint=red", "label.a-b=1", "label.host", "channel=%zz",
		"label.host=a%00b",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct line_options o;
		struct err err = { 0 };

		CHECK_INT(line_options_parse(bad[i], &o, &err), -EINVAL);
		CHECK(err.text[0]);
		line_options_done(&o);
	}
}

/* --- Acknowledgement --- */

TEST(the_position_is_before_the_first_line_that_is_not_acknowledged)
{
	struct tail *t = tail_new(-1, 1, 2, 3, 100);

	CHECK_INT(tail_position(t), 100);
	for (unsigned i = 0; i < 1000; i++)
		tail_note(t, 100 + i * 10);
	t->feed.line_at = 10100;
	CHECK(tail_acknowledge(t, 110));
	CHECK_INT(tail_position(t), 100);
	CHECK(tail_acknowledge(t, 100));
	CHECK_INT(tail_position(t), 120);
	CHECK(!tail_acknowledge(t, 125));
	for (unsigned i = 999; i >= 2; i--)
		CHECK(tail_acknowledge(t, 100 + i * 10));
	CHECK(tail_is_done(t));
	CHECK_INT(tail_position(t), 10100);
	tail_free(t);
}

/* --- Files --- */

struct fixture {
	struct loop *loop;
	struct source *source;
	struct source_receiver receiver;
	struct watch timer;
	unsigned periods;			/* until the loop stops */
	char directory[32], *path, *url;
	struct ack_token ack_tokens[64];
	size_t lines, caught_up;
};

static void on_line(void *data, const struct source_about *about, const char *line, size_t n)
{
	struct fixture *f = data;

	buf_put(&seen, line, n);
	buf_putc(&seen, '|');
	f->ack_tokens[f->lines++] = *about->ack_token;
}

static void caught_up(void *data, struct source *s)
{
	((struct fixture *)data)->caught_up++;
}

static void stop_loop(struct watch *w, uint32_t events)
{
	struct fixture *f = (struct fixture *)((char *)w - offsetof(struct fixture, timer));

	loop_timer_read(w);
	if (!--f->periods)
		loop_stop(f->loop, 0);
}

static void setup(struct fixture *f)
{
	struct err err;

	memset(f, 0, sizeof(*f));
	strcpy(f->directory, "/tmp/test-file-XXXXXX");
	CHECK(mkdtemp(f->directory) != NULL);
	f->path = xasprintf("%s/x", f->directory);
	f->url = xasprintf("file:%s?channel=c", f->path);
	f->loop = loop_new(&err);
	f->receiver = (struct source_receiver){ .line = on_line, .caught_up = caught_up, .data = f,
						.state = f->directory };
	f->timer = (struct watch){ .ready = stop_loop, .fd = -1 };
	buf_done(&seen);
	buf_init(&seen);
}

static void open_it(struct fixture *f)
{
	struct err err = { 0 };

	if (source_open(f->url, f->loop, &f->receiver, &f->source, &err) < 0)
		CHECK_STR(err.text, "");
}

static void write_to(struct fixture *f, const char *text, bool cut)
{
	int fd = open(f->path, O_WRONLY | O_CREAT | O_APPEND | (cut ? O_TRUNC : 0), 0600);

	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* Two looks of the source at least, however late they are: three periods like its own. */
static const char *run(struct fixture *f)
{
	struct err err;

	buf_reset(&seen);
	f->periods = 3;
	CHECK_INT(loop_add_timer(f->loop, &f->timer, 200 * 1000000LL, &err), 0);
	loop_run(f->loop, &err);
	loop_remove_timer(f->loop, &f->timer);
	return seen.data;
}

static void ack(struct fixture *f, size_t from, size_t to)
{
	f->source->ops->ack(f->source, f->ack_tokens + from, to - from);
}

static void rotate(struct fixture *f)
{
	_cleanup_(freep) char *to = xasprintf("%s.1", f->path);

	CHECK_INT(rename(f->path, to), 0);
}

static void teardown(struct fixture *f)
{
	_cleanup_(freep) char *command = xasprintf("rm -r %s", f->directory);

	source_close(f->source);
	loop_free(f->loop);
	CHECK_INT(system(command), 0);
	free(f->path);
	free(f->url);
}

TEST(a_file_is_followed_from_before_it_is_there_through_rotation_and_truncation)
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

TEST(a_restart_goes_on_behind_what_was_acknowledged)
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

TEST(what_was_rotated_away_during_a_restart_is_read_to_its_end)
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

/* The file that was read last becomes x.3, and two others were named by the path meanwhile. */
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

TEST(files_that_the_path_named_during_a_restart_are_read_in_order_and_once)
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

TEST(many_rotated_files_wait_for_their_sink_also_over_a_restart)
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

TEST(a_file_that_is_renamed_to_another_path_that_is_read_is_not_read_twice)
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

TEST(a_rotation_that_is_undone_reads_no_line_twice)
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

TEST(another_file_in_its_place_is_read_from_the_start)
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

/* Overwrites the saved position with the first `n` bytes of `bytes`, or of itself if that is NULL. */
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
TEST(a_damaged_position_keeps_nothing_from_being_read_and_gives_no_ack_token_twice)
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
		/* Cut as by logrotate's copytruncate; other lines are where the first ones were. */
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

TEST(what_cannot_be_followed_is_refused)
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

/* --- Other paths --- */

/* Opens the file by another path, after it was closed, and hands over what comes. */
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

static size_t count_positions(const struct fixture *f)
{
	_cleanup_(freep) char *pattern = xasprintf("%s/*.position", f->directory);
	size_t n = 0;
	glob_t found;

	if (glob(pattern, 0, NULL, &found) == 0)
		n = found.gl_pathc;
	globfree(&found);
	return n;
}

TEST(a_file_goes_on_by_any_of_its_paths)
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
		CHECK_INT(count_positions(&f), 1);
	}
	teardown(&f);
}

TEST(ack_tokens_of_before_are_those_of_the_same_source_by_another_path)
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

TEST(a_file_that_was_rotated_meanwhile_is_found_through_a_link_of_its_directory)
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

TEST(a_file_that_was_renamed_to_any_name_meanwhile_is_read_to_its_end)
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

TEST(a_rotated_file_that_is_configured_by_its_new_name_goes_on_and_its_successor_too)
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
	CHECK_INT(count_positions(&f), 2);
	teardown(&f);
}

static struct source *open_beside(struct fixture *f, struct source *first, const char *name)
{
	_cleanup_(freep) char *url = xasprintf("file:%s/%s", f->directory, name);
	struct source_receiver receiver = f->receiver;
	struct err err = { 0 };
	struct source *s = NULL;

	receiver.staying = (struct source_list){ &first, first != NULL };
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

TEST(a_file_that_was_rotated_meanwhile_and_is_listed_by_both_names_is_read_once)
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

TEST(a_file_that_is_rotated_to_a_path_that_is_added_then_is_read_once)
{
	struct source *added;
	struct fixture f;

	setup(&f);
	write_to(&f, "a 1\n", false);
	open_it(&f);
	CHECK_STR(run(&f), "a 1|");
	ack(&f, 0, 1);
	rotate(&f);
	added = open_beside(&f, f.source, "x.1");		/* before anything is at the old path */
	CHECK_STR(run(&f), "");
	write_to(&f, "b 2\n", false);
	CHECK_STR(run(&f), "b 2|");
	append_to(&f, "x.1", "c 3\n");
	CHECK_STR(run(&f), "c 3|");
	ack(&f, 0, 3);
	f.source = source_close(f.source);
	append_to(&f, "x.1", "d 4\n");
	CHECK_STR(run(&f), "d 4|");				/* by the one that was added, from where the other was */
	open_it(&f);
	CHECK_STR(run(&f), "");
	source_close(added);
	teardown(&f);
}

TEST(two_files_that_swap_their_names_are_read_once_whichever_source_goes)
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

TEST(a_source_that_takes_a_file_over_keeps_the_offset_of_the_one_it_had)
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

TEST(a_file_that_was_truncated_meanwhile_is_read_from_its_start_by_another_path)
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
	/* It had the path as it was configured, and said nothing about its origin. */
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

TEST(an_opening_that_is_undone_takes_no_offsets_from_another_path)
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

/* Inodes are used again, and logs begin with the same lines. */
TEST(a_file_that_is_younger_than_an_offset_is_another_one)
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

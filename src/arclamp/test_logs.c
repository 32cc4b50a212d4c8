/* test_logs.c: the tree of trace logs: names, content and retention. */
#include "logs.h"

#include "logs_fixture.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <utime.h>

static char *base;
static struct logs *logs;
static struct err problem;
static uint64_t last_id;

static int open_with(struct logs_group *groups, size_t count)
{
	const struct logs_options o = { base, groups, count };

	problem.text[0] = 0;
	return logs_open(&o, &logs, &problem);
}

static void begin(struct logs_group *groups, size_t count)
{
	base = fixture_directory();
	CHECK(!open_with(groups, count));
}

static void begin_usual(void)
{
	struct logs_options o;
	char *url;

	base = fixture_directory();
	url = xasprintf("logs:%s/", base);
	CHECK(!logs_options_from_url(url, &o, &problem));
	CHECK(!logs_open(&o, &logs, &problem));
	logs_options_done(&o);
	free(url);
}

static void end(void)
{
	logs = logs_close(logs);
	fixture_remove(base);
	free(base);
}

static struct open_batch *batch(void)
{
	return open_batch_new(++last_id);
}

static void write_line(const char *line, int64_t time_ns)
{
	struct open_batch *b = batch();

	fixture_line(b, line, time_ns);
	CHECK(!fixture_give(logs, b, &problem));
}

static void check_file(const char *name, const char *content)
{
	char *found = fixture_read(base, name, NULL);

	if (strcmp(found, content))
		printf("# %s\n", name);
	CHECK_STR(found, content);
	free(found);
}

/* Returns the names in a directory, sorted, separated by blanks. */
static const char *names(const char *period)
{
	char *path = xasprintf("%s/%s", base, period);
	static char text[8192];
	struct dirent **list;
	int n = scandir(path, &list, NULL, alphasort);
	size_t at = 0;

	text[0] = 0;
	for (int i = 0; i < n; i++) {
		if (list[i]->d_name[0] != '.')
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at ? " " : "", list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	free(path);
	return text;
}

static void touch(const char *name, int64_t age_hours)
{
	char *path = xasprintf("%s/%s", base, name);
	struct utimbuf times = { time(NULL) - age_hours * 3600, time(NULL) - age_hours * 3600 };
	FILE *f = fopen(path, "a");

	fputs("old\n", f);
	fclose(f);
	utime(path, &times);
	free(path);
}

TEST(a_line_goes_to_all_and_to_its_entry_point_in_each_group)
{
	begin_usual();
	write_line("/srv/w/index.php;main;Parser::parse 1", FIXTURE_TIME);
	write_line("/srv/w/index.php;main 2", FIXTURE_TIME + 3600 * NS_PER_SECOND);
	write_line("index.php;main;work 1", FIXTURE_TIME);
	write_line("/srv/w/wp-cron.php 1", FIXTURE_TIME);
	CHECK_STR(names("hourly"), "2026-11-21_18.all.log 2026-11-21_18.index.log 2026-11-21_18.wp-cron.log "
		  "2026-11-21_19.all.log 2026-11-21_19.index.log");
	CHECK_STR(names("daily"), "2026-11-21.all.log 2026-11-21.index.log 2026-11-21.wp-cron.log");
	check_file("hourly/2026-11-21_18.all.log", "/srv/w/index.php;main;Parser::parse 1\nindex.php;main;work 1\n"
		   "/srv/w/wp-cron.php 1\n");
	check_file("hourly/2026-11-21_18.index.log", "/srv/w/index.php;main;Parser::parse 1\nindex.php;main;work 1\n");
	check_file("daily/2026-11-21.index.log", "/srv/w/index.php;main;Parser::parse 1\n/srv/w/index.php;main 2\n"
		   "index.php;main;work 1\n");
	CHECK_INT(logs_counters(logs)->lines, 16);
	CHECK_INT(logs_counters(logs)->tags, 2);
	CHECK_INT(logs_counters(logs)->files_made, 8);
	CHECK(!logs_last_error(logs, problem.text, sizeof(problem.text)));
	end();
}

TEST(lines_keep_any_bytes)
{
	static const char line[] = "/w/index.php;class@anonymous\0/w/X.php:3$0;\xff\xfe\r\033[2J;x 1";
	struct open_batch *b = batch();
	char *found;
	size_t n;

	begin_usual();
	fixture_bytes(b, line, sizeof(line) - 1, NULL, FIXTURE_TIME);
	CHECK(!fixture_give(logs, b, &problem));
	found = fixture_read(base, "daily/2026-11-21.index.log", &n);
	CHECK_INT(n, sizeof(line));
	CHECK(!memcmp(found, line, sizeof(line) - 1) && found[n - 1] == '\n');
	free(found);
	end();
}

TEST(the_time_of_a_line_is_utc_in_any_time_zone)
{
	setenv("TZ", "Europe/Berlin", 1);
	tzset();
	begin_usual();
	write_line("a.php;x 1", 1792890000LL * NS_PER_SECOND - 1);		/* 2026-10-25T01:00Z: DST ends */
	write_line("a.php;x 2", 1792890000LL * NS_PER_SECOND);
	write_line("a.php;x 3", 1792890000LL * NS_PER_SECOND + 23 * 3600 * NS_PER_SECOND);
	check_file("hourly/2026-10-25_00.a.log", "a.php;x 1\n");
	check_file("hourly/2026-10-25_01.a.log", "a.php;x 2\n");
	check_file("hourly/2026-10-26_00.a.log", "a.php;x 3\n");
	check_file("daily/2026-10-25.a.log", "a.php;x 1\na.php;x 2\n");
	unsetenv("TZ");
	tzset();
	end();
}

TEST(hostile_entry_points_share_a_tag_and_never_become_a_path)
{
	static char longest[70000];
	struct open_batch *b = batch();

	begin_usual();
	memset(longest, 'x', sizeof(longest) - 8);
	strcpy(longest + sizeof(longest) - 8, ";y 1");
	fixture_line(b, "/srv/a\nb.php;y 1", FIXTURE_TIME);
	fixture_line(b, "..;y 1", FIXTURE_TIME);
	fixture_line(b, ".;y 1", FIXTURE_TIME);
	fixture_line(b, ";y 1", FIXTURE_TIME);
	fixture_line(b, "/srv/;y 1", FIXTURE_TIME);
	fixture_line(b, "/srv/a b.php;y 1", FIXTURE_TIME);
	fixture_line(b, "\033[31mx.php;y 1", FIXTURE_TIME);
	fixture_line(b, "all.php;y 1", FIXTURE_TIME);
	fixture_line(b, "other.php;y 1", FIXTURE_TIME);
	fixture_line(b, longest, FIXTURE_TIME);
	fixture_bytes(b, "\0x;y 1", 6, NULL, FIXTURE_TIME);
	fixture_bytes(b, "index\0evil.php;y 1", 18, NULL, FIXTURE_TIME);
	CHECK(!fixture_give(logs, b, &problem));
	CHECK_STR(names("daily"), "2026-11-21.all.log 2026-11-21.other.log");
	CHECK_STR(names("."), "daily hourly");
	CHECK_INT(logs_counters(logs)->lines_other, 12);
	write_line("../../etc/passwd;y 1", FIXTURE_TIME);	/* only the basename counts, which is harmless here */
	CHECK_STR(names("daily"), "2026-11-21.all.log 2026-11-21.other.log 2026-11-21.passwd.log");
	end();
}

static void write_entries(int first, int count)
{
	struct open_batch *b = batch();
	char line[64], text[256];

	for (int i = first; i < first + count; i++) {
		snprintf(line, sizeof(line), "e%d.php;x 1", i);
		fixture_line(b, line, FIXTURE_TIME);
	}
	CHECK(!fixture_give(logs, b, &problem));
	CHECK(!logs_last_error(logs, text, sizeof(text)));
}

TEST(open_files_are_closed_when_descriptors_run_out)
{
	struct logs_group one[] = { { "daily", "%Y-%m-%d", NULL, 1, 1 } };
	struct rlimit all, few = { 128, 128 };
	int taken[128], count = 0;

	begin(one, 1);
	getrlimit(RLIMIT_NOFILE, &all);
	few.rlim_max = all.rlim_max;
	CHECK(!setrlimit(RLIMIT_NOFILE, &few));
	write_entries(0, 9);
	CHECK_INT(logs_counters(logs)->files_open, 10);		/* one for the lines of all entry points */
	while (count < 128 && (taken[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		count++;
	write_entries(9, 9);
	CHECK(logs_counters(logs)->files_open < 10);		/* the directory took a descriptor, too */
	while (count--)
		close(taken[count]);
	CHECK(!setrlimit(RLIMIT_NOFILE, &all));
	check_file("daily/2026-11-21.e17.log", "e17.php;x 1\n");
	/* A quarter of the descriptors is for log files; the rest is left to others. */
	few.rlim_cur = 32;
	CHECK(!setrlimit(RLIMIT_NOFILE, &few));
	write_entries(18, 20);
	CHECK_INT(logs_counters(logs)->files_open, 8);
	CHECK(!setrlimit(RLIMIT_NOFILE, &all));
	end();
}

TEST(at_most_a_thousand_entry_points_have_files)
{
	struct logs_group one[] = { { "daily", "%Y-%m-%d", NULL, 1, 1 } };
	struct open_batch *b = batch();
	char line[64];

	begin(one, 1);
	for (int i = 0; i < 1005; i++) {
		snprintf(line, sizeof(line), "e%d.php;x 1", i);
		fixture_line(b, line, FIXTURE_TIME);
	}
	CHECK(!fixture_give(logs, b, &problem));
	CHECK_INT(logs_counters(logs)->files_made, 1002);
	CHECK_INT(logs_counters(logs)->lines_other, 5);
	CHECK(logs_counters(logs)->files_open <= 200);
	check_file("daily/2026-11-21.other.log", "e1000.php;x 1\ne1001.php;x 1\ne1002.php;x 1\ne1003.php;x 1\n"
		   "e1004.php;x 1\n");
	check_file("daily/2026-11-21.e999.log", "e999.php;x 1\n");

	/* The next process finds them again, except those that were removed. */
	logs = logs_close(logs);
	CHECK(!open_with(one, 1));
	CHECK_INT(logs_counters(logs)->tags, 1000);
	write_line("new.php;x 1", FIXTURE_TIME);
	check_file("daily/2026-11-21.new.log", "(none)");
	logs = logs_close(logs);
	snprintf(line, sizeof(line), "%s/daily/2026-11-21.e5.log", base);
	CHECK(!unlink(line));
	CHECK(!open_with(one, 1));
	write_line("new.php;x 1", FIXTURE_TIME);
	check_file("daily/2026-11-21.new.log", "new.php;x 1\n");
	end();
}

TEST(every_nth_line_of_a_group_is_written)
{
	struct logs_group both[] = { { "hourly", "%Y-%m-%d_%H", NULL, 5, 3 }, { "daily", "%Y-%m-%d", NULL, 5, 1 } };
	char line[32];

	begin(both, 2);
	for (int i = 1; i <= 10; i++) {
		snprintf(line, sizeof(line), "%s.php;x %d", i % 2 ? "a" : "b", i);
		write_line(line, FIXTURE_TIME);
	}
	check_file("hourly/2026-11-21_18.all.log", "a.php;x 3\nb.php;x 6\na.php;x 9\n");
	check_file("hourly/2026-11-21_18.a.log", "a.php;x 3\na.php;x 9\n");
	check_file("hourly/2026-11-21_18.b.log", "b.php;x 6\n");
	check_file("daily/2026-11-21.b.log", "b.php;x 2\nb.php;x 4\nb.php;x 6\nb.php;x 8\nb.php;x 10\n");
	end();
}

TEST(messages_are_written_as_folded_lines)
{
	struct logs_group both[] = { { "hourly", "%Y-%m-%d_%H", NULL, 5, 10 }, { "daily", "%Y-%m-%d", NULL, 5, 1 } };
	struct open_batch *b = batch();
	struct profile *p;

	begin(both, 2);
	p = fixture_message(b, "/srv/w/load.php", FIXTURE_TIME);
	fixture_stack(p, "/srv/w/load.php;main;a\nb", 7);
	fixture_stack(p, "/srv/w/load.php;main", 5);
	fixture_line(b, "index.php;x 1", FIXTURE_TIME);
	CHECK(!fixture_give(logs, b, &problem));
	check_file("daily/2026-11-21.load.log", "/srv/w/load.php;main 5\n/srv/w/load.php;main;a_b 7\n");
	check_file("daily/2026-11-21.all.log", "index.php;x 1\n/srv/w/load.php;main 5\n/srv/w/load.php;main;a_b 7\n");
	check_file("hourly/2026-11-21_18.all.log", "/srv/w/load.php;main;a_b 1\n");	/* every tenth of 1 + 5 + 7 */
	check_file("hourly/2026-11-21_18.load.log", "/srv/w/load.php;main;a_b 1\n");
	end();
}

/* Readers of these logs expect one line per stack and second. */
TEST(executed_lines_add_no_lines)
{
	struct open_batch *b = batch();
	struct profile *p;

	begin_usual();
	p = fixture_message(b, "index.php", FIXTURE_TIME);
	for (uint32_t line = 3; line < 6; line++) {
		uint32_t frame = profile_frame(p, (struct str){ "f", 1 }, (struct str){ "a.php", 5 }, 1);

		profile_add(p, profile_child_at(p, PROFILE_ROOT, frame, line), 0, line);
	}
	CHECK_INT(p->node_count, 4);
	CHECK(!fixture_give(logs, b, &problem));
	check_file("hourly/2026-11-21_18.index.log", "f 12\n");
	end();
}

TEST(a_group_can_be_limited_to_one_channel)
{
	struct logs_group three[] = { { "hourly", "%Y-%m-%d_%H", "excimer", 5, 1 },
		{ "hourly", "%Y-%m-%d_%H.excimer-wall", "excimer-wall", 5, 1 }, { "daily", "%F", NULL, 5, 1 } };
	struct open_batch *b = batch();

	begin(three, 3);
	fixture_bytes(b, "index.php;cpu 1", 15, "excimer", FIXTURE_TIME);
	fixture_bytes(b, "index.php;wall 1", 16, "excimer-wall", FIXTURE_TIME);
	fixture_bytes(b, "excimer-wall.index.php;x 1", 26, "excimer", FIXTURE_TIME);
	CHECK(!fixture_give(logs, b, &problem));
	check_file("hourly/2026-11-21_18.index.log", "index.php;cpu 1\n");
	check_file("hourly/2026-11-21_18.excimer-wall.index.log", "index.php;wall 1\n");
	check_file("hourly/2026-11-21_18.other.log", "excimer-wall.index.php;x 1\n");
	check_file("daily/2026-11-21.index.log", "index.php;cpu 1\nindex.php;wall 1\n");
	end();
}

TEST(retention_counts_files_of_one_tag_and_leaves_neighbors_alone)
{
	struct logs_group one[] = { { "hourly", "%Y-%m-%d_%H", NULL, 2, 1 } };

	begin(one, 1);
	touch("hourly/2026-11-21_10.index.log.gz", 8);
	touch("hourly/2026-11-21_11.index.log.zst", 7);
	touch("hourly/2026-11-21_12.index.log", 6);
	touch("hourly/2026-11-21_13.index.log", 5);
	touch("hourly/2026-11-21_09.excimer-wall.index.log", 30);
	touch("hourly/2026-11-20.index.log", 31);
	touch("hourly/2026-11-21_09.wp-index.log", 32);
	touch("hourly/2026-11-21_09.index.log.gz.tmp", 33);
	touch("hourly/x.index.log", 34);
	touch("hourly/2026-11-21_01.all.log", 35);
	write_line("index.php;x 1", FIXTURE_TIME);
	CHECK_STR(names("hourly"), "2026-11-20.index.log 2026-11-21_01.all.log 2026-11-21_09.excimer-wall.index.log "
		  "2026-11-21_09.index.log.gz.tmp 2026-11-21_09.wp-index.log 2026-11-21_12.index.log "
		  "2026-11-21_13.index.log 2026-11-21_18.all.log 2026-11-21_18.index.log x.index.log");
	CHECK_INT(logs_counters(logs)->files_removed, 2);
	write_line("index.php;x 2", FIXTURE_TIME);		/* no new file, so no retention */
	CHECK_INT(logs_counters(logs)->files_removed, 2);
	end();
}

TEST(retention_never_removes_files_the_current_batch_is_written_to)
{
	struct logs_group one[] = { { "hourly", "%Y-%m-%d_%H", NULL, 0, 1 } };
	struct open_batch *b = batch();

	begin(one, 1);
	touch("hourly/2026-11-21_10.index.log", 8);
	touch("hourly/2026-11-21_11.index.log", 7);
	fixture_line(b, "index.php;x 1", FIXTURE_TIME - 8 * 3600 * NS_PER_SECOND);
	fixture_line(b, "index.php;x 2", FIXTURE_TIME);
	CHECK(!fixture_give(logs, b, &problem));
	check_file("hourly/2026-11-21_10.index.log", "old\nindex.php;x 1\n");
	check_file("hourly/2026-11-21_11.index.log", "(none)");
	check_file("hourly/2026-11-21_18.index.log", "index.php;x 2\n");
	end();
}

TEST(a_redelivered_batch_is_written_once)
{
	struct open_batch *b = batch();
	struct logs_group one[] = { { "daily", "%F", NULL, 1, 1 } };

	begin(one, 1);
	fixture_line(b, "a.php;x 1", FIXTURE_TIME);
	CHECK(!fixture_commit(logs, b, &problem));
	CHECK(!fixture_commit(logs, b, &problem));
	logs = logs_close(logs);
	CHECK(!open_with(one, 1));
	CHECK(!fixture_give(logs, b, &problem));
	check_file("daily/2026-11-21.all.log", "a.php;x 1\n");
	CHECK_INT(logs_counters(logs)->batches_deduplicated, 1);
	end();
}

TEST(batch_ids_survive_the_rewriting_of_their_file)
{
	struct logs_group one[] = { { "daily", "%F", NULL, 1, 1 } };
	uint64_t first = last_id + 1;
	struct stat st;
	char *path;

	begin(one, 1);
	path = xasprintf("%s/.strobe/batches", base);
	for (int i = 0; i < 3; i++)
		write_line("a.php;x 1", FIXTURE_TIME);
	logs = logs_close(logs);
	/* Extends the file with zeros, to the size of many days of records. */
	CHECK(!truncate(path, 5 << 20));
	CHECK(!open_with(one, 1));
	CHECK(!stat(path, &st) && st.st_size < 4096);		/* zeros are not records, and are cut off */
	for (uint64_t id = first; id <= last_id; id++) {
		struct open_batch *b = open_batch_new(id);

		fixture_line(b, "a.php;x 1", FIXTURE_TIME);
		CHECK(!fixture_give(logs, b, &problem));
	}
	check_file("daily/2026-11-21.a.log", "a.php;x 1\na.php;x 1\na.php;x 1\n");
	free(path);
	end();
}

TEST(files_moved_removed_or_truncated_by_others_are_reopened)
{
	char *from, *to;

	begin_usual();
	from = xasprintf("%s/daily/2026-11-21.a.log", base);
	to = xasprintf("%s/daily/2026-11-21.a.log.1", base);
	write_line("a.php;x 1", FIXTURE_TIME);
	CHECK(!rename(from, to));
	write_line("a.php;x 2", FIXTURE_TIME);
	check_file("daily/2026-11-21.a.log.1", "a.php;x 1\n");
	check_file("daily/2026-11-21.a.log", "a.php;x 2\n");
	CHECK(!unlink(from));
	write_line("a.php;x 3", FIXTURE_TIME);
	check_file("daily/2026-11-21.a.log", "a.php;x 3\n");
	CHECK(!truncate(from, 0));
	write_line("a.php;x 4", FIXTURE_TIME);
	check_file("daily/2026-11-21.a.log", "a.php;x 4\n");
	fixture_remove(base);
	write_line("a.php;x 5", FIXTURE_TIME);
	check_file("daily/2026-11-21.a.log", "a.php;x 5\n");
	free(from);
	free(to);
	end();
}

TEST(anything_but_a_regular_file_is_an_error_that_names_it_and_never_blocks)
{
	struct open_batch *b = batch();
	char *path, *target;

	begin_usual();
	path = xasprintf("%s/daily/2026-11-21.a.log", base);
	target = xasprintf("%s/secret", base);
	fixture_line(b, "a.php;x 1", FIXTURE_TIME);
	CHECK(!mkfifo(path, 0600));
	CHECK(fixture_commit(logs, b, &problem) == -ENXIO);
	CHECK(strstr(problem.text, path));
	CHECK(logs_last_error(logs, problem.text, sizeof(problem.text)));
	CHECK(!unlink(path) && !symlink(target, path));
	CHECK(fixture_commit(logs, b, &problem) == -ELOOP);
	CHECK(access(target, F_OK));
	check_file("hourly/2026-11-21_18.a.log", "(none)");		/* all or nothing */
	check_file("daily/2026-11-21.all.log", "(none)");
	CHECK(!unlink(path));
	CHECK(!fixture_give(logs, b, &problem));
	check_file("daily/2026-11-21.a.log", "a.php;x 1\n");
	CHECK(!logs_last_error(logs, problem.text, sizeof(problem.text)));
	CHECK_INT(logs_counters(logs)->batches_rolled_back, 2);
	free(path);
	free(target);
	end();
}

TEST(two_processes_cannot_write_to_one_tree)
{
	struct logs_group one[] = { { "daily", "%F", NULL, 1, 1 } };
	const struct logs_options o = { 0 };
	struct logs_options same;
	struct logs *second = NULL;

	begin(one, 1);
	same = (struct logs_options){ base, one, 1 };
	CHECK(logs_open(&same, &second, &problem) == -EBUSY);
	CHECK(strstr(problem.text, "another process writes trace logs to"));
	CHECK(logs_open(&o, &second, &problem) == -EINVAL);
	end();
}

TEST(invalid_options_are_rejected)
{
	struct logs_group twice[] = { { "daily", "%F", NULL, 1, 1 }, { "daily", "%F", "wall", 1, 1 } };
	struct logs_options o;

	CHECK(logs_options_from_url("logs:", &o, &problem) == -EINVAL);
	logs_options_done(&o);
	CHECK(logs_options_from_url("logs:/srv/x?retain=1", &o, &problem) == -EINVAL);
	logs_options_done(&o);
	base = fixture_directory();
	CHECK(open_with(twice, 2) == -EINVAL);
	CHECK(strstr(problem.text, "be written twice"));
	twice[1] = (struct logs_group){ "daily", "%Y-%m-%d", NULL, 1, 1 };
	CHECK(open_with(twice, 2) == -EINVAL);
	CHECK(strstr(problem.text, "be written twice"));
	twice[1] = (struct logs_group){ "../up", "%F", NULL, 1, 1 };
	CHECK(open_with(twice, 2) == -EINVAL);
	CHECK(strstr(problem.text, "'../up' is not a valid directory name"));
	twice[1] = (struct logs_group){ "up", "%D", NULL, 1, 1 };
	CHECK(open_with(twice, 2) == -EINVAL);
	CHECK(strstr(problem.text, "the format '%D' cannot be used: its names contain '/'"));
	end();
}

TEST_MAIN()

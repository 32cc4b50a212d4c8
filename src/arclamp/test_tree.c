/* test_tree.c: names of logs and pictures, and listing a tree without leaving it. */
#include "tree.h"

#include "buf.h"
#include "io.h"
#include "mem.h"
#include "test.h"

#include <stdlib.h>
#include <sys/stat.h>

/* Returns "time|profiler|entry|packing" and the parts of a picture; "-" for any other name. */
static const char *parts(const char *name)
{
	static char out[512];
	struct tree_name n;

	if (!tree_name_parse(name, &n))
		return "-";
	snprintf(out, sizeof(out), "%s %.*s|%.*s|%.*s%s%s%.*s%s",
		 n.kind == TREE_LOG ? "log" : n.kind == TREE_PICTURE ? "picture" :
		 "tmp", (int)n.time.n, n.time.p, (int)n.profiler.n, n.profiler.p, (int)n.entry.n, n.entry.p,
		 n.packing == TREE_GZIP ? " gz" : n.packing == TREE_ZSTD ? " zst" : "", n.function.n ? " fn " : "",
		 (int)n.function.n, n.function.p, n.reversed ? " reversed" : "");
	return out;
}

TEST(names_of_logs_are_parsed)
{
	CHECK_STR(parts("2026-11-20.all.log"), "log 2026-11-20||all");
	CHECK_STR(parts("2026-11-20_07.index.log.gz"), "log 2026-11-20_07||index gz");
	CHECK_STR(parts("2026-11-20.excimer.index.log.zst"), "log 2026-11-20|excimer|index zst");
	CHECK_STR(parts("2026-11-20.excimer-wall.wp-cron.log"), "log 2026-11-20|excimer-wall|wp-cron");
	CHECK_STR(parts("2026-11-20.a.b.c.log"), "log 2026-11-20|a.b|c");
	CHECK_STR(parts("2026-11-20.reversed.log"), "log 2026-11-20||reversed");
	CHECK_STR(parts("2026-11-20.fn-x.log"), "log 2026-11-20||fn-x");
	CHECK_STR(parts("2026-11-20.all.log.gz.tmp"), "tmp 2026-11-20||all gz");
}

TEST(names_of_pictures_are_parsed)
{
	CHECK_STR(parts("2026-11-20.all.svgz"), "picture 2026-11-20||all");
	CHECK_STR(parts("2026-11-20.excimer.all.reversed.svgz"), "picture 2026-11-20|excimer|all reversed");
	CHECK_STR(parts("2026-11-20.excimer.all.fn-Edit.svgz"), "picture 2026-11-20|excimer|all fn Edit");
	CHECK_STR(parts("2026-11-20.all.fn-Edit.reversed.svgz"), "picture 2026-11-20||all fn Edit reversed");
	CHECK_STR(parts("2026-11-20.all.fn-Edit.reversed.svgz.tmp"), "tmp 2026-11-20||all fn Edit reversed");
}

TEST(other_names_are_rejected)
{
	static const char *const others[] = {
		"", ".", "log", ".log", "all.log", "2026-11-20..log", ".2026.all.log", "2026-11-20.all",
		"2026-11-20.all.log.bz2", "2026-11-20.all.txt", ".svgz", "x.svgz", ".tmp", "x.tmp", "fn-a.svgz",
		".reversed.svgz", "a..svgz",
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		CHECK_STR(parts(others[i]), "-");
}

static char base[64];

static void put(const char *name, const char *text)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", base, name);

	CHECK(io_write_file(path, text, strlen(text), NULL) == 0);
}

static void make_base(void)
{
	_cleanup_(freep) char *daily = NULL, *hourly = NULL;

	snprintf(base, sizeof(base), "/tmp/strobe-tree-XXXXXX");
	CHECK(mkdtemp(base) != NULL);
	daily = xasprintf("%s/daily", base);
	hourly = xasprintf("%s/hourly", base);
	CHECK(io_make_dirs(daily, 0755, NULL) == 0 && io_make_dirs(hourly, 0755, NULL) == 0);
}

static void remove_base(void)
{
	_cleanup_(freep) char *command = xasprintf("rm -rf '%s'", base);

	CHECK(system(command) == 0);
}

static void list(struct buf *out)
{
	struct err err = { 0 };
	struct tree t;

	CHECK_INT(tree_read(base, &t, &err), 0);
	for (size_t i = 0; i < t.count; i++)
		buf_printf(out, "%s/%s %d, ", tree_period(&t, &t.files[i]), t.files[i].name, (int)t.files[i].bytes);
	buf_printf(out, "%d others", (int)t.others);
	tree_done(&t);
}

TEST(a_tree_is_listed_by_period_and_name_and_links_are_not_followed)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	_cleanup_(freep) char *link = NULL, *dir_link = NULL;

	buf_init(&b);
	make_base();
	put("hourly/2026-11-20_07.all.log", "a;b 1\n");
	put("daily/2026-11-20.index.log.gz", "xx");
	put("daily/2026-11-20.all.log", "");
	put("daily/2026-11-20.index.log", "a 1\n");
	put("daily/2026-11-20.index.log.b.log", "a 1\n");
	put("daily/README", "");
	put("metrics", "");
	link = xasprintf("%s/daily/2026-11-21.all.log", base);
	dir_link = xasprintf("%s/weekly", base);
	CHECK(symlink("/etc/passwd", link) == 0 && symlink("/tmp", dir_link) == 0);
	list(&b);
	CHECK_STR(b.data, "daily/2026-11-20.all.log 0, daily/2026-11-20.index.log 4, daily/2026-11-20.index.log.gz 2, "
			  "daily/2026-11-20.index.log.b.log 4, hourly/2026-11-20_07.all.log 6, 4 others");
	remove_base();
}

TEST(a_log_and_its_compressed_forms_are_adjacent)
{
	struct tree t;
	size_t first;

	make_base();
	put("daily/2026-11-20.a.log", "a 1\n");
	put("daily/2026-11-20.a.log.gz", "a 1\n");
	put("daily/2026-11-20.b.log.zst", "a 1\n");
	put("hourly/2026-11-20.b.log", "a 1\n");
	CHECK_INT(tree_read(base, &t, NULL), 0);
	CHECK_INT(t.count, 4);
	CHECK_INT(tree_logs_at(&t, 0), 2);
	CHECK_INT(tree_logs_at(&t, 2), 1);
	CHECK_INT(tree_logs_at(&t, 3), 1);
	CHECK_INT(tree_logs_at(&t, 4), 0);
	CHECK_INT(tree_find(&t, "daily", (struct str){ "2026-11-20.a", 12 }, &first), 2);
	CHECK_INT(first, 0);
	CHECK_INT(tree_find(&t, "daily", (struct str){ "2026-11-20.b", 12 }, &first), 1);
	CHECK_INT(first, 2);
	CHECK_INT(tree_find(&t, "hourly", (struct str){ "2026-11-20.b", 12 }, &first), 1);
	CHECK_INT(first, 3);
	CHECK_INT(tree_find(&t, "hourly", (struct str){ "2026-11-20.a", 12 }, &first), 0);
	CHECK_INT(tree_find(&t, "weekly", (struct str){ "2026-11-20.b", 12 }, &first), 0);
	tree_done(&t);
	remove_base();
}

TEST(a_missing_tree_is_an_error)
{
	struct err err = { 0 };
	struct tree t;

	CHECK_INT(tree_read("/tmp/strobe-is-not-here", &t, &err), -ENOENT);
	CHECK_STR(err.text, "cannot list '/tmp/strobe-is-not-here': No such file or directory");
	tree_done(&t);
}

TEST(removed_files_and_links_in_their_place_are_not_opened)
{
	_cleanup_(freep) char *path = NULL;
	struct tree t;

	make_base();
	put("daily/2026-11-20.a.log", "a 1\n");
	CHECK_INT(tree_read(base, &t, NULL), 0);
	path = tree_path(&t, &t.files[0]);
	CHECK(unlink(path) == 0);
	CHECK_INT(tree_open(&t, &t.files[0], NULL), -ENOENT);
	CHECK(symlink("/etc/passwd", path) == 0);
	CHECK_INT(tree_open(&t, &t.files[0], NULL), -ELOOP);
	tree_done(&t);
	remove_base();
}

static void pictures_base_is(const char *logs, const char *wanted)
{
	_cleanup_(freep) char *got = tree_pictures_base(logs);

	if (wanted)
		CHECK_STR(got, wanted);
	else
		CHECK(!got);
}

TEST(pictures_are_stored_beside_logs)
{
	pictures_base_is("/srv/arclamp/logs", "/srv/arclamp/svgs");
	pictures_base_is("/srv/arclamp/logs/", "/srv/arclamp/svgs/");
	pictures_base_is("logs", "svgs");
	pictures_base_is("/srv/logs/php", "/srv/svgs/php");
	pictures_base_is("/srv/mylogs", NULL);
	pictures_base_is("/", NULL);
	pictures_base_is("", NULL);
}

TEST_MAIN()

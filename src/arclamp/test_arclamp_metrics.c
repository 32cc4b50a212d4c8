/* test_arclamp_metrics.c: the arclamp_* series and the index of a temporary tree. */
#include "arclamp_metrics.h"

#include "clock.h"
#include "io.h"
#include "mem.h"
#include "test.h"
#include "tree_index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

static char base[64];
static char *logs, *svgs;

static void put(const char *name, size_t bytes, time_t mtime)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", base, name), *text = xcalloc(bytes + 1, 1);
	struct timespec t[2] = { { mtime, 500000000 }, { mtime, 500000000 } };

	CHECK(io_write_file(path, text, bytes, NULL) == 0 && utimensat(AT_FDCWD, path, t, 0) == 0);
}

static void make(void)
{
	static const char *const dirs[] = { "logs/daily", "logs/odd \"name", "svgs/daily" };

	snprintf(base, sizeof(base), "/tmp/strobe-metrics-XXXXXX");
	CHECK(mkdtemp(base) != NULL);
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		_cleanup_(freep) char *path = xasprintf("%s/%s", base, dirs[i]);

		CHECK(io_make_dirs(path, 0755, NULL) == 0);
	}
	logs = xasprintf("%s/logs", base);
	svgs = xasprintf("%s/svgs", base);
}

static void done(void)
{
	_cleanup_(freep) char *command = xasprintf("rm -rf '%s'", base);

	CHECK(system(command) == 0);
	free(logs);
	free(svgs);
}

/* Returns all lines except comments. */
static const char *metrics(const char *of_svgs)
{
	static struct buf b, samples;

	if (!b.data) {
		buf_init(&b);
		buf_init(&samples);
	}
	buf_reset(&b);
	buf_reset(&samples);
	CHECK_INT(arclamp_metrics_put(logs, of_svgs, 9 * NS_PER_SECOND, &b, NULL), 0);
	for (char *line = strtok(b.data, "\n"); line; line = strtok(NULL, "\n"))
		if (*line != '#')
			buf_printf(&samples, "%s\n", line);
	return samples.data;
}

TEST(series_have_the_names_and_labels_of_arc_lamp)
{
	make();
	put("logs/daily/2026-11-20.excimer.all.log", 10, 100);
	put("logs/daily/2026-11-21.excimer.all.log", 20, 200);
	put("logs/daily/2026-11-18.excimer.all.log.gz", 5, 50);
	put("logs/daily/2026-11-19.excimer.all.log.zst", 5, 60);
	put("logs/daily/2026-11-20.excimer-wall.all.log", 1, 70);
	put("logs/daily/2026-11-20.index.log", 1, 80);
	put("logs/daily/2026-11-20.excimer.all.log.gz.tmp", 3, 42);
	put("logs/odd \"name/2026-11-20.ex\ncimer.a\"b.log", 1, 90);
	put("svgs/daily/2026-11-20.excimer.all.svgz", 100, 300);
	put("svgs/daily/2026-11-20.excimer.all.fn-Edit.reversed.svgz", 20, 400);
	put("svgs/daily/2026-11-21.excimer.all.svgz", 21, 500);
	CHECK_STR(metrics(svgs),
		  "arclamp_oldest_log_seconds{period=\"daily\",profiler=\"\",entry=\"index\",compressed=\"no\"} 80.500000000\n"
		  "arclamp_oldest_log_seconds{period=\"daily\",profiler=\"excimer\",entry=\"all\",compressed=\"no\"} 100.500000000\n"
		  "arclamp_oldest_log_seconds{period=\"daily\",profiler=\"excimer\",entry=\"all\",compressed=\"yes\"} 50.500000000\n"
		  "arclamp_oldest_log_seconds{period=\"daily\",profiler=\"excimer-wall\",entry=\"all\",compressed=\"no\"} 70.500000000\n"
		  "arclamp_oldest_log_seconds{period=\"odd__name\",profiler=\"ex_cimer\",entry=\"a_b\",compressed=\"no\"} 90.500000000\n"
		  "arclamp_newest_log_seconds{period=\"daily\",profiler=\"\",entry=\"index\",compressed=\"no\"} 80.500000000\n"
		  "arclamp_newest_log_seconds{period=\"daily\",profiler=\"excimer\",entry=\"all\",compressed=\"no\"} 200.500000000\n"
		  "arclamp_newest_log_seconds{period=\"daily\",profiler=\"excimer\",entry=\"all\",compressed=\"yes\"} 60.500000000\n"
		  "arclamp_newest_log_seconds{period=\"daily\",profiler=\"excimer-wall\",entry=\"all\",compressed=\"no\"} 70.500000000\n"
		  "arclamp_newest_log_seconds{period=\"odd__name\",profiler=\"ex_cimer\",entry=\"a_b\",compressed=\"no\"} 90.500000000\n"
		  "arclamp_oldest_temporary_file_seconds 42.500000000\n"
		  "arclamp_oldest_svg_seconds{period=\"daily\",profiler=\"excimer\",entry=\"all\"} 300.500000000\n"
		  "arclamp_newest_svg_seconds{period=\"daily\",profiler=\"excimer\",entry=\"all\"} 300.500000000\n"
		  "arclamp_truncated_svg_files_total{period=\"daily\",profiler=\"\",entry=\"index\"} 0\n"
		  "arclamp_truncated_svg_files_total{period=\"daily\",profiler=\"excimer\",entry=\"all\"} 1\n"
		  "arclamp_truncated_svg_files_total{period=\"daily\",profiler=\"excimer-wall\",entry=\"all\"} 0\n"
		  "arclamp_truncated_svg_files_total{period=\"odd__name\",profiler=\"ex_cimer\",entry=\"a_b\"} 0\n"
		  "arclamp_log_bytes_total{period=\"daily\"} 45\n"
		  "arclamp_log_bytes_total{period=\"odd__name\"} 1\n"
		  "arclamp_svg_bytes_total{period=\"daily\"} 141\n");
	done();
}

TEST(without_temporary_files_their_time_is_now_and_pictures_are_optional)
{
	make();
	CHECK_STR(metrics("/tmp/strobe-is-not-here"),
		  "arclamp_oldest_temporary_file_seconds 9.000000000\n"
		  "arclamp_log_bytes_total{period=\"daily\"} 0\narclamp_log_bytes_total{period=\"odd__name\"} 0\n");
	done();
}

TEST(the_index_has_an_object_for_each_log_and_picture)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	struct tree of_logs, of_svgs;

	buf_init(&b);
	make();
	put("logs/daily/2026-11-20.excimer.all.log.gz", 10, 100);
	put("logs/daily/2026-11-20.excimer.all.log.gz.tmp", 10, 100);
	put("logs/odd \"name/2026-11-20.a.log", 10, 100);
	put("svgs/daily/2026-11-20.excimer.all.fn-Edit.reversed.svgz", 30, 86400);
	CHECK_INT(tree_read(logs, &of_logs, NULL), 0);
	CHECK_INT(tree_read(svgs, &of_svgs, NULL), 0);
	CHECK_INT(tree_index_put(&of_logs, &of_svgs, NULL, 0, &b, NULL), 0);
	CHECK_STR(b.data,
		  "[{\"name\":\"2026-11-20.excimer.all.log.gz\",\"bytes\":10,\"last_modified\":\"1970-01-01T00:01:40Z\","
		  "\"path\":\"logs/daily/2026-11-20.excimer.all.log.gz\",\"mtime\":100,\"kind\":\"log\",\"compressed\":\"gzip\","
		  "\"period\":\"daily\",\"time\":\"2026-11-20\",\"tag\":\"excimer.all\",\"profiler\":\"excimer\",\"entry\":\"all\"}\n"
		  ",{\"name\":\"2026-11-20.a.log\",\"bytes\":10,\"last_modified\":\"1970-01-01T00:01:40Z\","
		  "\"path\":\"logs/odd \\\"name/2026-11-20.a.log\",\"mtime\":100,\"kind\":\"log\",\"compressed\":null,"
		  "\"period\":\"odd \\\"name\",\"time\":\"2026-11-20\",\"tag\":\"a\",\"profiler\":null,\"entry\":\"a\"}\n"
		  ",{\"name\":\"2026-11-20.excimer.all.fn-Edit.reversed.svgz\",\"bytes\":30,"
		  "\"last_modified\":\"1970-01-02T00:00:00Z\",\"path\":\"svgs/daily/2026-11-20.excimer.all.fn-Edit.reversed.svgz\","
		  "\"mtime\":86400,\"kind\":\"svg\",\"function\":\"Edit\",\"reversed\":true,\"period\":\"daily\","
		  "\"time\":\"2026-11-20\",\"tag\":\"excimer.all\",\"profiler\":\"excimer\",\"entry\":\"all\"}\n"
		  "]\n");
	tree_done(&of_logs);
	tree_done(&of_svgs);
	done();
}

TEST_MAIN()

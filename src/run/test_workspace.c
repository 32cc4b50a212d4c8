/* test_workspace.c: tests the files that PHP will read, and that they are removed. */

#include "workspace.h"

#include "io.h"
#include "test.h"

#include <sys/stat.h>

static const struct workspace_settings settings = { "/opt/ext/strobe.so", "cpu", 0.001 };

TEST(the_directory_is_private_and_removed_afterwards)
{
	struct workspace w;
	char path[200];
	struct stat st;

	CHECK(workspace_init(&w, &settings, NULL) == 0);
	snprintf(path, sizeof(path), "%s", w.directory);
	CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0700);
	CHECK(strlen(w.socket) < 108);
	workspace_done(&w);
	CHECK(stat(path, &st) < 0);
	workspace_done(&w);
}

TEST(the_ini_file_contains_the_settings_of_sampling)
{
	struct workspace w;
	struct buf b;
	char expected[400];

	CHECK(workspace_init(&w, &settings, NULL) == 0);
	buf_init(&b);
	CHECK(io_read_file(w.ini, &b, 10000, NULL) == 0);
	snprintf(expected, sizeof(expected),
		 "extension='/opt/ext/strobe.so'\nstrobe.mode=sample\nstrobe.clock=cpu\nstrobe.period=0.001000000\n"
		 "strobe.request_rate=1\nstrobe.trace_rate=0\nstrobe.flush=0.1\nstrobe.lines=1\nstrobe.flush_waiting=0.2\nstrobe.socket='%s'\n", w.socket);
	CHECK_STR(b.data, expected);
	buf_done(&b);
	workspace_done(&w);
}

TEST(tracing_covers_every_request_and_disables_sampling)
{
	struct workspace_settings s = settings;
	struct workspace w;
	struct buf b;
	char expected[400];

	s.trace = true;
	CHECK(workspace_init(&w, &s, NULL) == 0);
	buf_init(&b);
	CHECK(io_read_file(w.ini, &b, 10000, NULL) == 0);
	snprintf(expected, sizeof(expected),
		 "extension='/opt/ext/strobe.so'\nstrobe.mode=off\nstrobe.instrument=1\nstrobe.trace_rate=1\n"
		 "strobe.trace_flush=0.25\nstrobe.flush_waiting=0.2\nstrobe.socket='%s'\n", w.socket);
	CHECK_STR(b.data, expected);
	buf_done(&b);
	workspace_done(&w);
}

TEST(a_flame_chart_adds_one_setting)
{
	struct workspace_settings s = settings;
	struct workspace w;
	struct buf b;

	s.trace = s.flame_chart = true;
	CHECK(workspace_init(&w, &s, NULL) == 0);
	buf_init(&b);
	CHECK(io_read_file(w.ini, &b, 10000, NULL) == 0);
	CHECK(strstr(b.data, "strobe.trace_flame_chart=1\n") != NULL);
	buf_done(&b);
	workspace_done(&w);
}

TEST(an_extension_already_loaded_by_php_is_not_loaded_again)
{
	struct workspace_settings s = settings;
	struct workspace w;
	struct buf b;

	s.extension = NULL;
	CHECK(workspace_init(&w, &s, NULL) == 0);
	buf_init(&b);
	CHECK(io_read_file(w.ini, &b, 10000, NULL) == 0);
	CHECK(!strncmp(b.data, "strobe.mode=sample\n", 19));
	buf_done(&b);
	workspace_done(&w);
}

static void check_scan_dir(const char *before, const char *prefix)
{
	struct workspace w;
	char expected[300];

	if (before)
		setenv("PHP_INI_SCAN_DIR", before, 1);
	else
		unsetenv("PHP_INI_SCAN_DIR");
	CHECK(workspace_init(&w, &settings, NULL) == 0);
	snprintf(expected, sizeof(expected), "%s%s", prefix, w.directory);
	CHECK_STR(w.scan_dir, expected);
	workspace_done(&w);
}

TEST(existing_scan_directories_are_kept)
{
	check_scan_dir(NULL, ":");
	check_scan_dir("", "");
	check_scan_dir("/a:/b", "/a:/b:");
	unsetenv("PHP_INI_SCAN_DIR");
}

TEST(a_temporary_directory_too_long_for_a_socket_is_skipped)
{
	char dir[300] = "/tmp/strobe-test-XXXXXX";
	struct workspace w;

	CHECK(mkdtemp(dir) != NULL);
	memset(dir + strlen(dir), 0, 1);
	setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
	setenv("TMPDIR", "/tmp/0123456789012345678901234567890123456789012345678901234567890123456789012345678", 1);
	CHECK(workspace_init(&w, &settings, NULL) == 0);
	CHECK(!strncmp(w.directory, "/tmp/strobe-run-", 16));
	workspace_done(&w);
	setenv("TMPDIR", dir, 1);
	CHECK(workspace_init(&w, &settings, NULL) == 0);
	CHECK(!strncmp(w.directory, dir, strlen(dir)));
	workspace_done(&w);
	rmdir(dir);
}

TEST(a_quote_in_the_path_of_the_extension_is_rejected)
{
	struct workspace_settings s = { "/o'hara/strobe.so", "wall", 0.01 };
	struct workspace w;
	struct err err;

	CHECK_INT(workspace_init(&w, &s, &err), -EINVAL);
	CHECK(w.directory == NULL);
}

TEST_MAIN()

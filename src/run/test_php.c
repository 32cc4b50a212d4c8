/* test_php.c: tests the search for a command's PHP, and for the extension that fits it. */

#include "extension_file.h"
#include "php.h"

#include "capture_output.h"
#include "io.h"
#include "mem.h"
#include "test.h"

#include <sys/stat.h>

/* A directory with programs that respond like PHPs, the only one in PATH. */
static char directory[100];

static void make_directory(void)
{
	snprintf(directory, sizeof(directory), "/tmp/strobe-test-XXXXXX");
	CHECK(mkdtemp(directory) != NULL);
	setenv("PATH", directory, 1);
}

static void remove_directory(void)
{
	const char *const argv[] = { "/bin/rm", "-r", directory, NULL };
	struct buf b;

	buf_init(&b);
	CHECK_INT(capture_output(argv, 10 * NS_PER_SECOND, &b, NULL), 0);
	buf_done(&b);
}

static const char *put_file(const char *name, const void *bytes, size_t n, mode_t mode)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	CHECK(io_write_file(path, bytes, n, NULL) == 0);
	CHECK(chmod(path, mode) == 0);
	return path;
}

static const char *put_program(const char *name, const char *text)
{
	return put_file(name, text, strlen(text), 0755);
}

#define FAKE "#!/bin/sh\nprintf 'Warning: something\\n\\nstrobe-probe:8.3.7\\t8.3\\tAPI20230831,NTS\\t/x/ext\\t%s\\n'\n"

TEST(a_command_named_php_is_taken_as_php)
{
	struct err err;
	char *path;

	make_directory();
	CHECK(php_find("/opt/php8.3", &path, NULL) == 0);
	CHECK_STR(path, "/opt/php8.3");
	free(path);
	CHECK_INT(php_find("/opt/phpunit", &path, &err), -ENOENT);
	CHECK(strstr(err.text, "found no PHP: '/opt/phpunit' is not PHP") != NULL);
	remove_directory();
}

static void check_found(const char *program, const char *name)
{
	char expected[300];
	char *path = NULL;

	CHECK(php_find(program, &path, NULL) == 0);
	snprintf(expected, sizeof(expected), "%s/%s", directory, name);
	CHECK_STR(path, expected);
	free(path);
}

TEST(the_php_of_a_script_is_that_of_its_first_line_or_of_path)
{
	make_directory();
	put_program("php", "#!/bin/sh\n");
	put_program("php8.3", "#!/bin/sh\n");
	check_found(put_program("artisan", "#!/usr/bin/env php8.3\n<?php"), "php8.3");
	check_found(put_program("console", "#!/usr/bin/env -S X=1 php8.3 -d a=b\n<?php"), "php8.3");
	check_found(put_program("tool", "#!/bin/sh\nphp8.3 x.php"), "php");
	check_found("/usr/sbin/php-fpm8.3", "php8.3");
	check_found("/usr/sbin/php-fpm7.4", "php");
	remove_directory();
}

TEST(programs_are_found_as_by_a_shell)
{
	char *path = NULL;

	make_directory();
	CHECK_INT(php_find_program("php", &path), -ENOENT);
	put_file("php", "x", 1, 0644);
	if (access("/", W_OK))		/* root needs an x bit, too, but others cannot read it */
		CHECK_INT(php_find_program("php", &path), -EACCES);
	put_program("php", "x");
	CHECK_INT(php_find_program("php", &path), 0);
	free(path);
	CHECK_INT(php_find_program("./php", &path), -ENOENT);
	CHECK_INT(php_find_program("", &path), -ENOENT);
	remove_directory();
}

TEST(php_is_identified_after_any_other_output)
{
	struct php p;

	make_directory();
	CHECK(php_probe(put_program("php", FAKE), &p, NULL) == 0);
	CHECK_STR(p.version, "8.3.7");
	CHECK_STR(p.minor, "8.3");
	CHECK_STR(p.build, "API20230831,NTS");
	CHECK_STR(p.extension_dir, "/x/ext");
	CHECK(!p.has_strobe);
	php_done(&p);
	remove_directory();
}

TEST(a_program_other_than_php_is_reported)
{
	struct err err;
	struct php p;

	make_directory();
	CHECK_INT(php_probe(put_program("php", "#!/bin/sh\necho usage: php is my name\n"), &p, &err), -ENOEXEC);
	CHECK(strstr(err.text, "does not respond like PHP: usage: php is my name") != NULL);
	remove_directory();
}

/* Writes bytes like those in a linked strobe.so: the string of the Zend extension is nearby, and must be ignored. */
static void put_extension(const char *name, const char *build)
{
	char bytes[200] = "\177ELF....API420220829,NTS";
	size_t at = 100;

	memcpy(bytes + at, build, strlen(build) + 1);
	put_file(name, bytes, sizeof(bytes), 0644);
}

TEST(the_extension_must_be_built_for_exactly_this_php)
{
	struct php p = { "/usr/bin/php8.3", "8.3.7", "8.3", "API20230831,NTS", directory, false };
	char wanted[200], expected[600];
	struct err err;
	char *path = NULL;

	make_directory();
	snprintf(wanted, sizeof(wanted), "%s/strobe.so", directory);
	CHECK_INT(extension_file_find(&p, wanted, &path, &err), -ENOENT);

	put_extension("strobe.so", "API20220829,NTS");
	CHECK_INT(extension_file_find(&p, wanted, &path, &err), -ENOEXEC);
	snprintf(expected, sizeof(expected), "no extension fits PHP 8.3.7 (/usr/bin/php8.3), which needs "
		 "API20230831,NTS: %s is for API20220829,NTS. Build it with `make PHP_CONFIG=", wanted);
	CHECK(!strncmp(err.text, expected, strlen(expected)));

	put_extension("strobe.so", "API20230831,TS");
	CHECK_INT(extension_file_find(&p, wanted, &path, &err), -ENOEXEC);
	put_extension("strobe.so", "API20230831,NTS,debug");
	CHECK_INT(extension_file_find(&p, wanted, &path, &err), -ENOEXEC);
	put_file("strobe.so", "just text, API20230831,NTS", 27, 0644);
	CHECK_INT(extension_file_find(&p, wanted, &path, &err), -ENOEXEC);
	CHECK(strstr(err.text, "strobe.so is no PHP extension") != NULL);

	put_extension("strobe.so", "API20230831,NTS");
	CHECK_INT(extension_file_find(&p, wanted, &path, &err), 0);
	CHECK_STR(path, wanted);
	free(path);
	path = NULL;
	CHECK_INT(extension_file_find(&p, NULL, &path, &err), 0);	/* PHP's extension directory */
	CHECK_STR(path, wanted);
	free(path);
	remove_directory();
}

TEST(options_are_interpreted_only_if_the_command_is_php)
{
	char *a[] = { "php", "-n", "x.php", NULL }, *b[] = { "php", "x.php", "-n", NULL };
	char *c[] = { "php", "-d", "-n", "x.php", NULL }, *d[] = { "artisan", "-n", NULL };
	char *e[] = { "php8.2", "-d", "a=b", "-n", "x.php", NULL };

	CHECK(php_ignores_settings(3, a));
	CHECK(!php_ignores_settings(3, b));
	CHECK(!php_ignores_settings(4, c));
	CHECK(!php_ignores_settings(2, d));
	CHECK(php_ignores_settings(5, e));
}

TEST(output_is_captured_and_a_hanging_program_is_killed)
{
	const char *const both[] = { "/bin/sh", "-c", "echo a; echo b >&2; exit 7", NULL };
	const char *const hangs[] = { "/bin/sh", "-c", "exec /bin/sleep 100", NULL };
	struct err err;
	struct buf b;

	buf_init(&b);
	CHECK_INT(capture_output(both, 30 * NS_PER_SECOND, &b, &err), 7);
	CHECK_STR(b.data, "a\nb\n");
	CHECK_INT(capture_output(hangs, NS_PER_SECOND / 5, &b, &err), -ETIMEDOUT);
	buf_done(&b);
}

TEST_MAIN()

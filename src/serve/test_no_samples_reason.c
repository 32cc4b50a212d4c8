/* test_no_samples_reason.c: each missing prerequisite has its sentence. */
#include "test.h"
#include "no_samples_reason.h"

static void check(const struct php_group *groups, size_t count, const char *socket_path, const char *expected)
{
	struct buf out;

	buf_init(&out);
	no_samples_reason_of(groups, count, socket_path, &out);
	CHECK_STR(out.data, expected);
	buf_done(&out);
}

TEST(the_first_missing_precondition_is_named)
{
	struct php_group g[] = {
		{ .user = "root", .name = "php", .processes = 1, .may_send = true, .loaded = LOADED_NO },
		{ .user = "www-data", .name = "php-fpm, pool www", .processes = 4, .blocked_at = "/run/s", .owner_group = "strobe",
		  .loaded = LOADED_UNKNOWN },
	};

	check(g, 2, NULL, "this daemon does not listen on a socket for PHP; --from unix:/run/strobe/strobe.sock adds one");
	check(g, 0, "/run/s", "no PHP runs on this machine now; load the extension in php.ini with extension=strobe.so and "
	      "strobe.mode=sample, or try 'strobe run -- php script.php'");
	check(g, 2, "/run/s", "php-fpm, pool www of the user www-data may not write to /run/s; add it to the group strobe "
	      "(usermod -aG strobe www-data) and restart that PHP");
	g[1] = (struct php_group){ .user = "www-data", .name = "php-fpm, pool www", .blocked_at = "/run", .loaded = LOADED_YES };
	check(g, 2, "/run/s", "php-fpm, pool www of the user www-data may not enter /run; give it the right and restart that PHP");
	g[1].may_send = true;
	check(g, 2, "/run/s", "php-fpm, pool www of the user www-data has the extension and may send, but has not: it has served no request "
			      "since, or strobe.mode is off there (see phpinfo())");
	g[1].loaded = LOADED_UNKNOWN;
	check(g, 2, "/run/s", "php-fpm, pool www of the user www-data may send: load the extension in its php.ini with extension=strobe.so "
	      "and strobe.mode=sample, and restart it");
	check(g, 1, "/run/s", "php of the user root has not loaded the extension: put extension=strobe.so and strobe.mode=sample into its "
	      "php.ini, and restart it");
}

TEST_MAIN()

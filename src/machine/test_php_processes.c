/* test_php_processes.c: groups of processes from a /proc that the test writes, and a socket whose rights it sets. */
#include "php_processes.h"

#include "io.h"
#include "mem.h"
#include "test.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static void put(const char *directory, const char *file, const void *bytes, size_t n)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", directory, file);

	CHECK_INT(io_write_file(path, bytes, n, NULL), 0);
}

static void process(const char *proc, int pid, const char *comm, const char *title, unsigned uid, const char *groups, const char *maps)
{
	_cleanup_(freep) char *directory = xasprintf("%s/%d", proc, pid), *line = xasprintf("%s\n", comm);
	_cleanup_(freep) char *status = xasprintf("Name:\t%s\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\nFDSize:\t64\nGroups:\t%s\n", comm,
						  uid, uid, uid, uid, uid, uid, uid, uid, groups);

	CHECK_INT(mkdir(directory, 0755), 0);
	put(directory, "comm", line, strlen(line));
	put(directory, "cmdline", title, strlen(title) + 1);
	put(directory, "status", status, strlen(status));
	if (maps)
		put(directory, "maps", maps, strlen(maps));
}

TEST(users_of_pools_that_may_not_write_to_the_socket_are_found)
{
	char directory[] = "/tmp/strobe-processes-XXXXXX", *proc, *way, *socket;
	struct php_group *g;
	size_t n;

	CHECK(mkdtemp(directory) != NULL);
	proc = xasprintf("%s/proc", directory);
	way = xasprintf("%s/run", directory);
	socket = xasprintf("%s/s", way);
	CHECK_INT(chmod(directory, 0755), 0);
	CHECK_INT(mkdir(proc, 0755), 0);
	CHECK_INT(mkdir(way, 0755), 0);
	put(way, "s", "", 0);
	CHECK_INT(chmod(socket, 0660), 0);
	process(proc, 10, "php-fpm8.2", "php-fpm: master process (/etc/php-fpm.conf)", 0, "", NULL);
	process(proc, 11, "php-fpm8.2", "php-fpm: pool www", 60001, "60001", NULL);
	process(proc, 12, "php-fpm8.2", "php-fpm: pool www", 60001, "60001", "/usr/lib/php/strobe.so\n");
	process(proc, 13, "php-fpm8.2", "php-fpm: pool api", 60002, "60001 60003", NULL);
	process(proc, 14, "bash", "bash", 60001, "", NULL);
	process(proc, 15, "apache2", "/usr/sbin/apache2", 60001, "", "/usr/lib/libphp.so\n");
	process(proc, 16, "php", "php", 0, "0", "/usr/lib/php/json.so\n");

	n = php_processes_find(proc, socket, &g);
	CHECK_INT(n, 3);
	for (size_t i = 0; i < n; i++) {
		bool www = strcmp(g[i].name, "php-fpm, pool www") == 0, api = strcmp(g[i].name, "php-fpm, pool api") == 0;

		CHECK(www || api || strcmp(g[i].name, "php") == 0);
		CHECK_INT(g[i].processes, www ? 2 : 1);
		CHECK_INT(g[i].may_send, !www && !api);
		CHECK_STR(g[i].blocked_at, www || api ? socket : "");
		CHECK_INT(g[i].loaded, www ? LOADED_YES : api ? LOADED_UNKNOWN : LOADED_NO);
	}
	free(g);

	/* By a group, and by nobody where the directory is closed. */
	CHECK(geteuid() != 0 || chown(socket, 0, 60003) == 0);
	n = php_processes_find(proc, socket, &g);
	for (size_t i = 0; i < n && geteuid() == 0; i++)
		if (strcmp(g[i].name, "php-fpm, pool api") == 0)
			CHECK_INT(g[i].may_send, true);
	free(g);
	CHECK_INT(chmod(way, 0700), 0);
	n = php_processes_find(proc, socket, &g);
	for (size_t i = 0; i < n; i++)
		if (strcmp(g[i].name, "php-fpm, pool api") == 0)
			CHECK_STR(g[i].blocked_at, way);
	free(g);
	CHECK_INT(chmod(way, 0755), 0);
	CHECK_INT(unlink(socket), 0);
	n = php_processes_find(proc, socket, &g);
	CHECK_INT(n, 3);
	for (size_t i = 0; i < n; i++)
		CHECK(!g[i].may_send && strcmp(g[i].blocked_at, socket) == 0);
	free(g);
	CHECK_INT(php_processes_find("/nonexistent", socket, &g), 0);
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(proc);
	free(way);
	free(socket);
}

TEST(what_to_do_is_said_in_one_sentence)
{
	struct php_group g = { .user = "www-data", .blocked_at = "/run/s", .owner_group = "strobe" };
	struct buf b;

	buf_init(&b);
	php_group_put_barrier(&g, "/run/s", &b);
	CHECK_STR(b.data, " may not write to /run/s; add it to the group strobe (usermod -aG strobe www-data) and restart that PHP");
	buf_reset(&b);
	php_group_put_barrier(&(struct php_group){ .blocked_at = "/run" }, "/run/s", &b);
	CHECK_STR(b.data, " may not enter /run; give it the right and restart that PHP");
	buf_done(&b);
}

TEST_MAIN()

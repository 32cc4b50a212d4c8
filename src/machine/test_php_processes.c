/* test_php_processes.c: groups of processes from a /proc that the test writes, and a socket whose rights it sets. */
#include "php_processes.h"

#include "io.h"
#include "mem.h"
#include "test.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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

static void listen_at(const char *path)
{
	_cleanup_(fd_closep) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	CHECK_INT(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

static void process(const char *proc, int pid, const char *comm, const char *title, unsigned uid, const char *groups, const char *maps)
{
	_cleanup_(freep) char *directory = xasprintf("%s/%d", proc, pid), *line = xasprintf("%s\n", comm);
	_cleanup_(freep) char *status = xasprintf("Name:\t%s\nPPid:\t10\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\nFDSize:\t64\nGroups:\t%s\n", comm,
						  uid, uid, uid, uid, uid, uid, uid, uid, groups);

	CHECK_INT(mkdir(directory, 0755), 0);
	put(directory, "comm", line, strlen(line));
	put(directory, "cmdline", title, strlen(title) + 1);
	put(directory, "status", status, strlen(status));
	if (maps)
		put(directory, "maps", maps, strlen(maps));
}

TEST(users_of_pools_without_write_access_to_the_socket_are_found)
{
	char directory[] = "/tmp/strobe-processes-XXXXXX", *proc, *way, *path;
	struct php_group *g;
	size_t n;

	CHECK(mkdtemp(directory) != NULL);
	proc = xasprintf("%s/proc", directory);
	way = xasprintf("%s/run", directory);
	path = xasprintf("%s/s", way);
	CHECK_INT(chmod(directory, 0755), 0);
	CHECK_INT(mkdir(proc, 0755), 0);
	CHECK_INT(mkdir(way, 0755), 0);
	listen_at(path);
	CHECK_INT(chmod(path, 0660), 0);
	process(proc, 10, "php-fpm8.2", "php-fpm: master process (/etc/php-fpm.conf)", 0, "", NULL);
	process(proc, 11, "php-fpm8.2", "php-fpm: pool www", 60001, "60001", NULL);
	process(proc, 12, "php-fpm8.2", "php-fpm: pool www", 60001, "60001", "/usr/lib/php/strobe.so\n");
	process(proc, 13, "php-fpm8.2", "php-fpm: pool api", 60002, "60001 60003", NULL);
	process(proc, 14, "bash", "bash", 60001, "", NULL);
	process(proc, 15, "apache2", "/usr/sbin/apache2", 60001, "", "/usr/lib/libphp.so\n");
	process(proc, 17, "apache2", "/usr/sbin/apache2", 60002, "", "/usr/lib/mod_ssl.so\n");
	process(proc, 18, "php-wrapper", "php-wrapper", 60002, "", NULL);
	process(proc, 16, "php", "php", 0, "0", "/usr/lib/php/json.so\n");

	n = php_processes_find(proc, path, &g);
	CHECK_INT(n, 4);
	for (size_t i = 0; i < n; i++) {
		bool www = strcmp(g[i].name, "php-fpm, pool www") == 0, api = strcmp(g[i].name, "php-fpm, pool api") == 0;
		bool apache = strcmp(g[i].name, "apache2") == 0;	/* it has libphp */

		CHECK(www || api || apache || strcmp(g[i].name, "php") == 0);
		CHECK_INT(g[i].processes, www ? 2 : 1);
		CHECK_INT(g[i].may_send, !www && !api && !apache);
		CHECK_STR(g[i].blocked_at, www || api || apache ? path : "");
		CHECK_INT(g[i].loaded, www ? LOADED_YES : api ? LOADED_UNKNOWN : LOADED_NO);
	}
	free(g);

	/* Allowed by group, and closed to everybody at the directory. */
	CHECK(geteuid() != 0 || chown(path, 0, 60003) == 0);
	n = php_processes_find(proc, path, &g);
	for (size_t i = 0; i < n && geteuid() == 0; i++)
		if (strcmp(g[i].name, "php-fpm, pool api") == 0)
			CHECK_INT(g[i].may_send, true);
	free(g);
	CHECK_INT(chmod(way, 0700), 0);
	n = php_processes_find(proc, path, &g);
	for (size_t i = 0; i < n; i++)
		if (strcmp(g[i].name, "php-fpm, pool api") == 0)
			CHECK_STR(g[i].blocked_at, way);
	free(g);
	CHECK_INT(chmod(way, 0755), 0);
	CHECK_INT(unlink(path), 0);
	n = php_processes_find(proc, path, &g);
	CHECK_INT(n, 4);
	for (size_t i = 0; i < n; i++)
		CHECK(!g[i].may_send && strcmp(g[i].blocked_at, path) == 0);
	free(g);
	CHECK_INT(php_processes_find("/nonexistent", path, &g), 0);
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(proc);
	free(way);
	free(path);
}

/* Pools with pm = ondemand have processes only while they serve requests. */
TEST(pools_without_a_process_are_found_in_the_configuration)
{
	static const char pools[] = "[global]\n[www]\nuser = 60001\ngroup = 60001\n[idle]\nuser = 60002\ngroup = 60003\npm = ondemand\n"
				    "[nobody-knows]\nuser = no-such-user-of-strobe\n[caged]\nuser = 60004\nchroot = /nonexistent\n";
	char directory[] = "/tmp/strobe-processes-XXXXXX", *proc, *master, *root, *path;
	struct php_group *g;
	size_t n;

	CHECK(mkdtemp(directory) != NULL);
	proc = xasprintf("%s/proc", directory);
	path = xasprintf("%s/s", directory);
	master = xasprintf("php-fpm: master process (%s/fpm.conf)", directory);
	root = xasprintf("%s/10/root", proc);
	CHECK_INT(chmod(directory, 0755), 0);
	CHECK_INT(mkdir(proc, 0755), 0);
	put(directory, "fpm.conf", pools, sizeof(pools) - 1);
	listen_at(path);
	CHECK_INT(chmod(path, 0660), 0);
	process(proc, 10, "php-fpm8.2", master, 0, "", "/usr/lib/php/strobe.so\n");
	CHECK_INT(symlink("/", root), 0);
	process(proc, 11, "php-fpm8.2", "php-fpm: pool www", 60001, "60001", NULL);

	n = php_processes_find(proc, path, &g);
	CHECK_INT(n, 3);
	CHECK_STR(g[0].name, "php-fpm, pool www");
	CHECK_INT(g[0].processes, 1);
	CHECK_STR(g[1].name, "php-fpm, pool idle");
	CHECK_STR(g[1].user, "60002");
	CHECK_INT(g[1].processes, 0);
	CHECK_INT(g[1].loaded, LOADED_YES);
	CHECK(!g[1].may_send);
	CHECK_STR(g[1].blocked_at, path);
	CHECK_STR(g[2].name, "php-fpm, pool caged");
	CHECK_STR(g[2].other_root, "/nonexistent");
	free(g);

	CHECK(geteuid() != 0 || chown(path, 0, 60003) == 0);
	n = php_processes_find(proc, path, &g);
	CHECK(n == 3 && (geteuid() != 0 || g[1].may_send));
	free(g);
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(proc);
	free(path);
	free(master);
	free(root);
}

TEST(the_remedy_is_one_sentence)
{
	struct php_group g = { .user = "www-data", .blocked_at = "/run/s", .owner_group = "strobe" };
	struct buf b;

	buf_init(&b);
	php_group_put_barrier(&g, "/run/s", &b);
	CHECK_STR(b.data, " may not write to /run/s; add it to the group strobe (usermod -aG strobe www-data) and restart that PHP");
	buf_reset(&b);
	php_group_put_barrier(&(struct php_group){ .blocked_at = "/run" }, "/run/s", &b);
	CHECK_STR(b.data, " may not enter /run; give it the right and restart that PHP");
	buf_reset(&b);
	g.contained = true;
	php_group_put_barrier(&g, "/run/s", &b);
	CHECK_STR(b.data, " may not write to /run/s; run the daemon with a group of that PHP");
	buf_done(&b);
}

TEST_MAIN()

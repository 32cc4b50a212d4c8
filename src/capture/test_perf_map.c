/* test_perf_map.c: tests perf maps, including malformed ones. */

#include "perf_map.h"
#include "test.h"

#include "cleanup.h"
#include "mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static struct perf_map parsed(const char *text)
{
	struct perf_map m;

	perf_map_parse(&m, text, strlen(text));
	return m;
}

TEST(addresses_are_resolved_to_the_names_in_the_map)
{
	_cleanup_(perf_map_done) struct perf_map m = parsed("2000 10 b::c d\n1000 20 a\n0x3000 8 with 0x\n");

	CHECK_INT(m.malformed, 0);
	CHECK_STR(perf_map_find(&m, 0x1000), "a");
	CHECK_STR(perf_map_find(&m, 0x101f), "a");
	CHECK(!perf_map_find(&m, 0x1020));
	CHECK(!perf_map_find(&m, 0xfff));
	CHECK_STR(perf_map_find(&m, 0x2008), "b::c d");
	CHECK_STR(perf_map_find(&m, 0x3000), "with 0x");
}

TEST(regenerated_code_has_its_newest_name)
{
	_cleanup_(perf_map_done) struct perf_map m = parsed("1000 10 old\n2000 10 x\n1000 20 new\n");

	CHECK_STR(perf_map_find(&m, 0x1018), "new");
	CHECK_INT(m.count, 2);
}

TEST(malformed_lines_are_counted_and_skipped)
{
	_cleanup_(perf_map_done) struct perf_map m =
		parsed("\n1000\n1000 10\n1000 10 \nxyz 10 a\n1000 0 empty\nffffffffffffffff 10 beyond\n11111111111111111 1 long\n1000 1 a");

	CHECK_INT(m.malformed, 7);
	CHECK_STR(perf_map_find(&m, 0x1000), "a");
}

TEST(a_long_name_is_truncated)
{
	_cleanup_(freep) char *text = xmalloc(3000);
	_cleanup_(perf_map_done) struct perf_map m = { 0 };

	memset(text, 'n', 3000);
	memcpy(text, "10 1 ", 5);
	perf_map_parse(&m, text, 3000);
	CHECK_INT(strlen(perf_map_find(&m, 0x10)), PERF_MAP_NAME);
}

/* The file of process 7 below a directory that acts as its root. */
struct place {
	char path[64], map[128];
	int root;
};

static void make(struct place *p)
{
	strcpy(p->path, "/tmp/strobe-perf-map-XXXXXX");
	CHECK(mkdtemp(p->path) != NULL);
	snprintf(p->map, sizeof(p->map), "%s/tmp", p->path);
	CHECK_INT(mkdir(p->map, 0755), 0);
	snprintf(p->map, sizeof(p->map), "%s/tmp/perf-7.map", p->path);
	p->root = open(p->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void put(const struct place *p, const char *text)
{
	_cleanup_(file_closep) FILE *f = fopen(p->map, "w");

	fputs(text, f);
}

static void remove_all(struct place *p)
{
	char tmp[80];

	close(p->root);
	unlink(p->map);
	snprintf(tmp, sizeof(tmp), "%s/tmp", p->path);
	rmdir(tmp);
	rmdir(p->path);
}

TEST(the_file_is_found_in_the_root_of_its_process)
{
	const struct process_identity who = { .inner_pid = 7, .uid = getuid() };
	_cleanup_(perf_map_done) struct perf_map m = { 0 };
	struct place p;

	make(&p);
	CHECK_INT(perf_map_read(&m, p.root, &who), -ENOENT);
	put(&p, "1000 10 a\n");
	CHECK_INT(perf_map_read(&m, p.root, &who), 0);
	CHECK_STR(perf_map_find(&m, 0x1000), "a");
	remove_all(&p);
}

TEST(links_out_of_the_root_are_not_followed_and_a_pipe_does_not_block)
{
	const struct process_identity who = { .inner_pid = 7, .uid = getuid() };
	struct perf_map m = { 0 };
	struct place p;

	make(&p);
	CHECK_INT(symlink("/etc/passwd", p.map), 0);
	CHECK_INT(perf_map_read(&m, p.root, &who), -ENOENT);
	unlink(p.map);
	CHECK_INT(mkfifo(p.map, 0600), 0);
	CHECK_INT(perf_map_read(&m, p.root, &who), -EINVAL);
	remove_all(&p);
}

TEST(a_file_of_another_user_is_not_trusted)
{
	const struct process_identity who = { .inner_pid = 7, .uid = 12345 };
	struct perf_map m = { 0 };
	struct place p;

	if (getuid() != 0)
		SKIP("only root can make files of other users");
	make(&p);
	put(&p, "1000 10 a\n");
	CHECK_INT(chown(p.map, 54321, 0), 0);
	CHECK_INT(perf_map_read(&m, p.root, &who), -EPERM);
	remove_all(&p);
}

TEST_MAIN()

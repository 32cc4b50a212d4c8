/* test_private_file.c: tests that the daemon's own files are private, and that links in their place are not followed. */
#include "private_file.h"

#include "io.h"
#include "ledger.h"
#include "test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static char dir[] = "/tmp/strobe-test-private-XXXXXX", path[64], victim[64];

static void start(void)
{
	if (!*path)
		CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/token", dir);
	snprintf(victim, sizeof(victim), "%s/victim", dir);
	unlink(path);
	CHECK_INT(io_write_file(victim, "precious", 8, NULL), 0);
	CHECK_INT(chmod(victim, 0644), 0);
}

__attribute__((destructor)) static void tear_down(void)
{
	unlink(path);
	unlink(victim);
	rmdir(dir);
}

static struct stat stat_of(const char *p)
{
	struct stat st = { 0 };

	CHECK_INT(lstat(p, &st), 0);
	return st;
}

static void check_victim(void)
{
	struct buf b;

	buf_init(&b);
	CHECK_INT(io_read_file(victim, &b, 100, NULL), 0);
	CHECK_STR(b.data, "precious");
	CHECK_INT(stat_of(victim).st_mode & 0777, 0644);
	buf_done(&b);
}

TEST(a_file_is_readable_by_its_owner_only_under_any_umask)
{
	mode_t mask = umask(0);
	int fd = -1;

	start();
	CHECK_INT(private_file_open(path, O_RDWR | O_CREAT, &fd, NULL), 0);
	close(fd);
	CHECK_INT(stat_of(path).st_mode & 07777, 0600);
	CHECK_INT(chmod(path, 0666), 0);
	CHECK_INT(private_file_open(path, O_RDWR, &fd, NULL), 0);
	close(fd);
	CHECK_INT(stat_of(path).st_mode & 07777, 0600);
	CHECK_INT(chmod(path, 0666), 0);
	CHECK_INT(private_file_write(path, "x", 1, true, NULL), 0);
	CHECK_INT(stat_of(path).st_mode & 07777, 0600);
	umask(mask);
}

TEST(a_link_is_not_followed_but_replaced)
{
	struct err err = { 0 };
	struct buf b;
	int fd = -1;

	start();
	buf_init(&b);
	CHECK_INT(symlink(victim, path), 0);
	CHECK_INT(private_file_open(path, O_RDWR | O_CREAT | O_TRUNC, &fd, &err), -ELOOP);
	CHECK(strstr(err.text, "symbolic link"));
	CHECK_INT(private_file_read(path, &b, 100, &err), -ELOOP);
	CHECK_INT(b.size, 0);
	check_victim();
	CHECK_INT(private_file_write(path, "0123", 4, true, &err), 0);
	check_victim();
	CHECK(S_ISREG(stat_of(path).st_mode));
	CHECK_INT(private_file_read(path, &b, 100, &err), 0);
	CHECK_STR(b.data, "0123");
	buf_done(&b);
}

TEST(a_pipe_in_place_of_the_file_does_not_block)
{
	struct err err = { 0 };
	int fd = -1;

	start();
	CHECK_INT(mkfifo(path, 0600), 0);
	CHECK_INT(private_file_open(path, O_RDWR | O_CREAT, &fd, &err), -EINVAL);
	CHECK(strstr(err.text, "not a regular file"));
	CHECK_INT(private_file_open(path, O_RDONLY, &fd, &err), -EINVAL);
}

static void ignore(void *data, const uint8_t *body, size_t n)
{
}

TEST(a_ledger_does_not_follow_links_either)
{
	char other[80];
	struct ledger *l = NULL;
	struct err err = { 0 };
	struct buf none;
	size_t cut;

	start();
	buf_init(&none);
	CHECK_INT(symlink(victim, path), 0);
	CHECK_INT(ledger_open(path, ignore, NULL, &cut, &l, &err), -ELOOP);
	check_victim();
	unlink(path);

	/* The temporary name of a replacement. */
	snprintf(other, sizeof(other), "%s.new", path);
	CHECK_INT(symlink(victim, other), 0);
	CHECK_INT(ledger_open(path, ignore, NULL, &cut, &l, &err), 0);
	CHECK_INT(ledger_replace(l, &none, &err), 0);
	ledger_close(l);
	check_victim();
	CHECK_INT(stat_of(path).st_mode & 07777, 0600);
	CHECK(access(other, F_OK) < 0);
}

TEST_MAIN()

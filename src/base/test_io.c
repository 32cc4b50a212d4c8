/* test_io.c: tests whole files, whole writes, and the errors when they fail. */
#include "io.h"
#include "test.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char dir[] = "/tmp/strobe-test-io-XXXXXX";
static char path[200];

static const char *in_dir(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

__attribute__((constructor)) static void set_up(void)
{
	if (!mkdtemp(dir))
		perror(dir);
}

__attribute__((destructor)) static void tear_down(void)
{
	static const char *const names[] = { "file", "link", "a/b/c", "a/b", "a", "large", "new", "fifo" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		remove(in_dir(names[i]));
	rmdir(dir);
}

static unsigned mode_of(const char *p)
{
	struct stat st;

	return lstat(p, &st) == 0 ? (unsigned)st.st_mode & 07777 : 0;
}

TEST(written_files_can_be_read_and_appended_to)
{
	struct buf b;

	buf_init(&b);
	buf_puts(&b, "before ");
	CHECK_INT(io_write_file(in_dir("file"), "one\0two", 7, NULL), 0);
	CHECK_INT(io_read_file(path, &b, 7, NULL), 0);
	CHECK_INT(b.size, 14);
	CHECK(!memcmp(b.data, "before one\0two", 15));
	buf_done(&b);
}

TEST(a_file_above_the_limit_is_rejected_and_leaves_the_buffer_unchanged)
{
	struct err err;
	struct buf b;

	buf_init(&b);
	buf_puts(&b, "kept");
	io_write_file(in_dir("file"), "12345678", 8, NULL);
	CHECK_INT(io_read_file(path, &b, 7, &err), -EFBIG);
	CHECK(strstr(err.text, "larger than the limit of 7 bytes"));
	CHECK_STR(b.data, "kept");
	buf_done(&b);
}

TEST(large_files_are_read_completely)
{
	struct buf b, c;

	buf_init(&b);
	buf_init(&c);
	for (uint32_t i = 0; i < 300000; i++)
		buf_put(&b, &i, sizeof(i));
	CHECK_INT(io_write_file(in_dir("large"), b.data, b.size, NULL), 0);
	CHECK_INT(io_read_file(path, &c, SIZE_MAX, NULL), 0);
	CHECK(b.size == c.size && !memcmp(b.data, c.data, b.size));
	buf_done(&b);
	buf_done(&c);
}

TEST(errors_name_missing_files_directories_and_unwritable_paths)
{
	struct err err;
	struct buf b;

	buf_init(&b);
	CHECK_INT(io_read_file(in_dir("missing"), &b, 10, &err), -ENOENT);
	CHECK(strstr(err.text, "missing': No such file"));
	CHECK_INT(io_read_file(dir, &b, 10, &err), -EISDIR);
	CHECK_INT(io_write_file(dir, "x", 1, &err), -EISDIR);
	CHECK_INT(io_write_file(in_dir("no/such/place"), "x", 1, &err), -ENOENT);
	buf_done(&b);
}

TEST(a_replaced_file_keeps_its_mode_and_a_link_stays_a_link)
{
	char target[200];
	struct buf b;

	buf_init(&b);
	umask(022);
	remove(in_dir("new"));
	CHECK_INT(io_write_file(in_dir("new"), "1", 1, NULL), 0);
	CHECK_INT(mode_of(path), 0644);
	chmod(path, 0600);
	CHECK_INT(io_write_file(path, "2", 1, NULL), 0);
	CHECK_INT(mode_of(path), 0600);
	snprintf(target, sizeof(target), "%s", path);
	CHECK_INT(symlink(target, in_dir("link")), 0);
	CHECK_INT(io_write_file(path, "3", 1, NULL), 0);
	CHECK_INT(readlink(path, target, sizeof(target)) > 0, 1);
	CHECK_INT(io_read_file(in_dir("new"), &b, 10, NULL), 0);
	CHECK_STR(b.data, "3");
	buf_done(&b);
}

TEST(a_fifo_is_written_to_and_not_replaced)
{
	int status = -1;
	pid_t child;

	CHECK_INT(mkfifo(in_dir("fifo"), 0600), 0);
	child = fork();
	if (child == 0)
		_exit(io_write_file(path, "through", 7, NULL) < 0);
	else {
		struct buf b;

		buf_init(&b);
		CHECK_INT(io_read_file(path, &b, 10, NULL), 0);
		CHECK_STR(b.data, "through");
		buf_done(&b);
		waitpid(child, &status, 0);
		CHECK_INT(status, 0);
	}
}

TEST(writing_to_a_full_device_is_an_error)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct err err;

	if (fd < 0)
		SKIP("there is no /dev/full");
	CHECK_INT(io_write_all(fd, "x", 1, &err), -ENOSPC);
	CHECK(strstr(err.text, "No space left"));
	close(fd);
	CHECK_INT(io_write_file("/dev/full", "x", 1, &err), -ENOSPC);
	CHECK(strstr(err.text, "/dev/full"));
}

TEST(directories_are_created_with_their_parents)
{
	struct err err;
	struct stat st;

	CHECK_INT(io_make_dirs(in_dir("a/b/c"), 0700, NULL), 0);
	CHECK(stat(path, &st) == 0 && S_ISDIR(st.st_mode));
	CHECK_INT(io_make_dirs(path, 0700, NULL), 0);
	CHECK_INT(io_make_dirs(in_dir("a//b/"), 0700, NULL), 0);
	io_write_file(in_dir("file"), "x", 1, NULL);
	CHECK_INT(io_make_dirs(in_dir("file/x"), 0700, &err), -ENOTDIR);
	CHECK_INT(io_make_dirs("/", 0700, &err), 0);
}

TEST(a_secret_is_read_without_trailing_white_space)
{
	static const struct { const char *text; size_t n; const char *secret; } cases[] = {
		{ "of a file\n", 10, "of a file" }, { " key\r\n", 6, " key" }, { "key \t\n\n", 7, "key" },
		{ "", 0, NULL }, { " \n", 2, NULL }, { "a\0b", 3, NULL },
	};
	struct err err;
	struct buf b;

	buf_init(&b);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CHECK_INT(io_write_file(in_dir("file"), cases[i].text, cases[i].n, NULL), 0);
		CHECK_INT(io_read_secret(path, "token", &b, &err), cases[i].secret ? 0 : -ENOMSG);
		if (cases[i].secret)
			CHECK_STR(b.data, cases[i].secret);
		else
			CHECK(strstr(err.text, "/file' contains no token") != NULL);
	}
	CHECK_INT(io_read_secret("/nowhere", "token", &b, &err), -ENOENT);
	buf_done(&b);
}

TEST(directories_can_be_synced)
{
	struct err err = { 0 };

	CHECK_INT(io_sync_directory(dir, &err), 0);
	CHECK_INT(io_sync_directory_of(in_dir("file"), &err), 0);
	CHECK_INT(io_sync_directory_of("file", &err), 0);
	CHECK_INT(io_sync_directory_of("/file", &err), 0);
	CHECK_INT(io_sync_directory("/nowhere", &err), -ENOENT);
	CHECK(strstr(err.text, "'/nowhere'") != NULL);
}

TEST_MAIN()

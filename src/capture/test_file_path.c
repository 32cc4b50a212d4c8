/* test_file_path.c: tests the conversion of names to paths. */

#include "file_path.h"
#include "test.h"

#include <string.h>
#include <sys/socket.h>

static struct file_event e;

/* `names` is leaf first, each followed by a slash in place of the NUL. */
static const char *path(u32 flags, const char *names, const char *given)
{
	static struct buf b;
	size_t n = strlen(names);

	if (b.data)
		buf_done(&b);
	buf_init(&b);
	e.flags = flags;
	e.names_size = (u32)n;
	e.given_size = given ? (u32)strlen(given) + 1 : 0;
	for (size_t i = 0; i < n; i++)
		e.text[i] = names[i] == '/' ? 0 : names[i];
	if (given)
		memcpy(e.text + n, given, strlen(given) + 1);
	CHECK(file_path_put(&e, offsetof(struct file_event, text) + n + e.given_size, &b));
	return b.data;
}

TEST(path_components_are_stored_leaf_first)
{
	e.kind = FILE_NAMED;
	CHECK_STR(path(0, "c/bb/a/", NULL), "/a/bb/c");
	CHECK_STR(path(0, "", NULL), "/");
	CHECK_STR(path(0, "a;b\nc/tmp/", NULL), "/tmp/a;b\nc");
}

TEST(deleted_unreachable_and_truncated_paths_are_marked)
{
	e.kind = FILE_NAMED;
	CHECK_STR(path(FILE_DELETED, "x/tmp/", NULL), "/tmp/x (deleted)");
	CHECK_STR(path(FILE_UNREACHABLE, "x/srv/", NULL), "(unreachable)/srv/x");
	CHECK_STR(path(FILE_CUT, "x/y/", NULL), "[...]/y/x");
	CHECK_STR(path(FILE_UNREADABLE, "", NULL), "[unreadable name]");
}

TEST(relative_names_are_resolved_against_their_directory)
{
	e.kind = FILE_NAMED;
	CHECK_STR(path(0, "www/srv/", "img/a.png"), "/srv/www/img/a.png");
	CHECK_STR(path(0, "", "a.png"), "/a.png");
	CHECK_STR(path(0, "", "/etc//./passwd"), "/etc/passwd");
	CHECK_STR(path(0, "www/srv/", "./../x/"), "/srv/www/../x/");
	CHECK_STR(path(0, "www/srv/", "."), "/srv/www");
	CHECK_STR(path(0, "", "/"), "/");
	CHECK_STR(path(FILE_CUT, "", "img/a.png"), "[...]/img/a.png");
}

TEST(a_path_may_be_4096_bytes_long)
{
	static char names[4096], expected[4096];

	e.kind = FILE_NAMED;
	for (size_t i = 0; i < 4095; i += 5) {
		memcpy(names + i, "abcd/", 5);
		memcpy(expected + i, "/abcd", 5);
	}
	names[4095] = expected[4095] = 0;
	CHECK_STR(path(0, names, NULL), expected);
}

TEST(files_without_a_path_are_named_by_kind)
{
	e.kind = FILE_SOCKET;
	e.family = AF_UNIX;
	CHECK_STR(path(0, "", NULL), "[socket unix]");
	e.family = AF_INET6;
	CHECK_STR(path(0, "", NULL), "[socket ipv6]");
	e.family = 77;
	CHECK_STR(path(0, "", NULL), "[socket]");
	e.kind = FILE_PIPE;
	CHECK_STR(path(0, "", NULL), "[pipe]");
	CHECK_STR(path(0, "fifo/tmp/", NULL), "/tmp/fifo");
	e.kind = FILE_ANONYMOUS;
	CHECK_STR(path(0, "", "[eventpoll]"), "[anonymous eventpoll]");
	CHECK_STR(path(0, "", "memfd:x"), "[anonymous memfd:x]");
	CHECK_STR(path(0, "", NULL), "[anonymous]");
}

TEST(malformed_events_are_skipped)
{
	struct buf b;
	size_t head = offsetof(struct file_event, text);

	buf_init(&b);
	e.kind = FILE_NAMED;
	e.flags = 0;
	e.names_size = 4;
	e.given_size = 0;
	memcpy(e.text, "abc", 4);
	CHECK(!file_path_put(&e, head + 3, &b));
	CHECK(!file_path_put(&e, head - 1, &b));
	memcpy(e.text, "abcd", 4);
	CHECK(!file_path_put(&e, head + 4, &b));
	e.names_size = UINT32_MAX;
	e.given_size = 2;
	CHECK(!file_path_put(&e, head + 4, &b));
	CHECK_INT(b.size, 0);
	buf_done(&b);
}

TEST_MAIN()

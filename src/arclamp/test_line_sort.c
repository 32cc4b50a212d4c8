/* test_line_sort.c: lines are sorted bytewise and none is lost, however little memory there is. */
#include "line_sort.h"

#include "buf.h"
#include "mem.h"
#include "test.h"

#include <fcntl.h>

static int take(void *data, const void *bytes, size_t n, struct err *err)
{
	buf_put(data, bytes, n);
	return 0;
}

static void sorted(const char *const *lines, size_t memory, struct buf *out)
{
	_cleanup_(fd_closep) int dir = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct line_sort s;
	struct err err = { 0 };

	line_sort_init(&s, memory, dir);
	for (; *lines; lines++)
		CHECK_INT(line_sort_add(&s, (struct str){ *lines, strlen(*lines) }, &err), 0);
	CHECK_INT(line_sort_write(&s, take, out, &err), 0);
	line_sort_done(&s);
}

static const char *const lines[] = { "b;c 1", "a 1", "", "b 2", "a 1", "b;c 1", "B 1", "\xff 1", "a", "b;c 1", NULL };
static const char in_order[] = "\nB 1\na\na 1\na 1\nb 2\nb;c 1\nb;c 1\nb;c 1\n\xff 1\n";

TEST(lines_are_sorted_bytewise_and_duplicates_are_kept)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	sorted(lines, 1 << 20, &b);
	CHECK_STR(b.data, in_order);
}

TEST(sorting_through_files_gives_the_same_order)
{
	_cleanup_(buf_done) struct buf one = { 0 }, three = { 0 };

	buf_init(&one);
	buf_init(&three);
	sorted(lines, 1, &one);
	CHECK_STR(one.data, in_order);
	sorted(lines, 300, &three);
	CHECK_STR(three.data, in_order);
}

TEST(empty_input_gives_empty_output)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	const char *const none[] = { NULL };

	buf_init(&b);
	sorted(none, 1, &b);
	CHECK_INT(b.size, 0);
}

TEST(too_many_sorted_runs_are_an_error)
{
	_cleanup_(fd_closep) int dir = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct line_sort s;
	struct err err = { 0 };
	int r = 0;

	line_sort_init(&s, 1, dir);
	for (unsigned i = 0; i < LINE_SORT_RUNS_MAX; i++)
		r |= line_sort_add(&s, (struct str){ "x", 1 }, &err);
	CHECK_INT(r, 0);
	CHECK_INT(line_sort_add(&s, (struct str){ "x", 1 }, &err), -E2BIG);
	line_sort_done(&s);
}

TEST_MAIN()

/* test_line_feed.c: lines are cut out of pieces of any size. */

#include "line_feed.h"
#include "mem.h"
#include "test.h"

#include <string.h>

static struct buf seen;

static void note_line(void *data, uint64_t at, const char *line, size_t n)
{
	if (line)
		buf_printf(&seen, "%llu:%.*s\n", (unsigned long long)at, (int)n, line);
	else
		buf_printf(&seen, "%llu too long\n", (unsigned long long)at);
}

static const char *lines_of(const char *text, size_t piece, size_t max, bool end)
{
	struct line_feed f;

	buf_done(&seen);
	buf_init(&seen);
	line_feed_init(&f, max, note_line, NULL);
	for (size_t at = 0, n = strlen(text); at < n; at += piece)
		line_feed_put(&f, text + at, n - at < piece ? n - at : piece);
	if (end)
		line_feed_end(&f);
	line_feed_done(&f);
	return seen.data;
}

TEST(lines_are_the_same_in_chunks_of_any_size)
{
	for (size_t piece = 1; piece < 20; piece++) {
		CHECK_STR(lines_of("one 1\n\nthree 3\nlast", piece, 100, true), "0:one 1\n6:\n7:three 3\n15:last\n");
		CHECK_STR(lines_of("one 1\nlast", piece, 100, false), "0:one 1\n");
	}
}

TEST(a_line_above_the_limit_is_reported_once_and_the_next_one_is_read)
{
	for (size_t piece = 1; piece < 30; piece++)
		CHECK_STR(lines_of("a 1\nabcdefghijklmno 1\nb 2\n", piece, 8, true), "0:a 1\n4 too long\n22:b 2\n");
}

TEST_MAIN()

/* fuzz_line_feed.c: bytes in pieces of any size give the same lines as all at once, with the same places. */

#include "line_feed.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note(void *data, uint64_t at, const char *line, size_t n)
{
	buf_printf(data, "%llu ", (unsigned long long)at);
	if (line)
		buf_put(data, line, n);
	else
		buf_puts(data, "too long");
	buf_putc(data, '\n');
}

static void feed(const uint8_t *bytes, size_t n, size_t piece, size_t max, struct buf *out)
{
	struct line_feed f;

	buf_init(out);
	line_feed_init(&f, max, note, out);
	for (size_t at = 0; at < n; at += piece)
		line_feed_put(&f, (const char *)bytes + at, n - at < piece ? n - at : piece);
	line_feed_end(&f);
	line_feed_done(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole, pieces;

	if (size < 2)
		return 0;
	feed(data + 2, size - 2, size, data[1] + 1u, &whole);
	feed(data + 2, size - 2, data[0] + 1u, data[1] + 1u, &pieces);
	if (whole.size != pieces.size || memcmp(whole.data, pieces.data, whole.size))
		abort();
	buf_done(&whole);
	buf_done(&pieces);
	return 0;
}

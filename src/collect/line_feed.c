/* line_feed.c: only a line that is cut by the end of a piece is copied. */

#include "line_feed.h"

#include <assert.h>
#include <string.h>

void line_feed_init(struct line_feed *f, size_t max, void (*got)(void *, uint64_t, const char *, size_t), void *data)
{
	*f = (struct line_feed){ .max = max, .got = got, .data = data };
	buf_init(&f->partial);
}

void line_feed_done(struct line_feed *f)
{
	buf_done(&f->partial);
}

static void take(struct line_feed *f, const char *line, size_t n)
{
	if (f->skipping)
		return;
	assert(f->partial.size <= f->max);
	if (f->partial.size + n > f->max) {
		f->got(f->data, f->line_at, NULL, f->partial.size + n);
	} else if (f->partial.size) {
		buf_put(&f->partial, line, n);
		f->got(f->data, f->line_at, f->partial.data, f->partial.size);
	} else {
		f->got(f->data, f->line_at, line, n);
	}
}

static void begin(struct line_feed *f)
{
	buf_reset(&f->partial);
	f->skipping = false;
	f->line_at = f->end;
}

/* Keeps the start of a line whose end has not arrived. */
static void keep(struct line_feed *f, const char *bytes, size_t n)
{
	if (!f->skipping && f->partial.size + n > f->max) {
		f->got(f->data, f->line_at, NULL, f->partial.size + n);
		f->skipping = true;
		buf_reset(&f->partial);
	}
	if (!f->skipping)
		buf_put(&f->partial, bytes, n);
	f->end += n;
	assert(f->skipping || f->line_at + f->partial.size == f->end);
}

void line_feed_put(struct line_feed *f, const char *bytes, size_t n)
{
	const char *newline;

	while (n && (newline = memchr(bytes, '\n', n))) {
		size_t size = (size_t)(newline - bytes);

		take(f, bytes, size);
		f->end += size + 1;
		begin(f);
		bytes += size + 1;
		n -= size + 1;
	}
	if (n)
		keep(f, bytes, n);
}

void line_feed_end(struct line_feed *f)
{
	if (f->partial.size)
		take(f, "", 0);
	begin(f);
}

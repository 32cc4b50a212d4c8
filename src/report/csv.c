/* csv.c: comma-separated values. */

#include "csv.h"

#include "amount.h"
#include "mem.h"
#include "text.h"

#include <string.h>

static void next(struct csv *c)
{
	if (c->started)
		buf_putc(c->out, ',');
	c->started = true;
}

/* Quotes the text from `start` on, doubling quotes in it. */
static void quote(struct buf *b, size_t start)
{
	size_t n = b->size - start;
	char *copy = xstrndup(b->data + start, n);

	b->size = start;
	buf_putc(b, '"');
	for (size_t i = 0; i < n; i++) {
		if (copy[i] == '"')
			buf_putc(b, '"');
		buf_putc(b, copy[i]);
	}
	buf_putc(b, '"');
	free(copy);
}

void csv_text(struct csv *c, struct str s)
{
	size_t start;

	next(c);
	start = c->out->size;
	if (s.n && memchr("=+-@\t\r", s.p[0], 6))
		buf_putc(c->out, '\'');
	text_put_plain(c->out, s);
	if (memchr(c->out->data + start, ',', c->out->size - start) ||
	    memchr(c->out->data + start, '"', c->out->size - start))
		quote(c->out, start);
}

void csv_words(struct csv *c, const char *text)
{
	csv_text(c, (struct str){ text, strlen(text) });
}

void csv_i64(struct csv *c, int64_t v)
{
	next(c);
	buf_put_i64(c->out, v);
}

void csv_millionths(struct csv *c, int64_t v)
{
	next(c);
	amount_put_millionths(c->out, v);
}

void csv_share(struct csv *c, int64_t part, int64_t whole)
{
	next(c);
	amount_put_percent(c->out, part, whole);
}

void csv_fixed(struct csv *c, double v, int decimals)
{
	next(c);
	buf_put_fixed(c->out, v, decimals);
}

void csv_end(struct csv *c)
{
	buf_puts(c->out, "\r\n");
	c->started = false;
}

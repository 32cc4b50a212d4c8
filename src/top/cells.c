/* cells.c: computes the width of characters, by the C library's tables. */

#include "cells.h"

#include "text.h"

#include <string.h>
#include <wchar.h>

/* In a locale without Unicode, only ASCII can be shown. */
static bool has_unicode(void)
{
	return wcwidth(0x2026) == 1;
}

/* Terminals disagree about the width of characters next to joiners, selectors and tags. */
static bool is_joiner(uint32_t c)
{
	return (c >= 0x200b && c <= 0x200f) || (c >= 0x2060 && c <= 0x206f) || (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff ||
	       c == 0xad || (c >= 0xe0000 && c <= 0xe0fff);
}

struct cell {
	const char *p;			/* its bytes, `n` of them */
	unsigned n, columns;
};

static bool next_cell(const char **at, const char *end, struct cell *ret)
{
	uint32_t c;
	unsigned n;
	int width;

	do {
		if (*at >= end)
			return false;
		n = text_decode(*at, end, &c);
		*ret = (struct cell){ *at, n ? n : 1, 1 };
		*at += ret->n;
	} while (n && is_joiner(c));
	width = n ? wcwidth((wchar_t)c) : -1;
	if (width >= 0) {
		ret->columns = (unsigned)width;
		return true;
	}
	ret->p = has_unicode() ? "\xef\xbf\xbd" : "?";
	ret->n = (unsigned)strlen(ret->p);
	return true;
}

static void make_plain(struct str s, struct buf *ret)
{
	buf_init(ret);
	text_put_plain(ret, s);
}

static size_t width_of(const struct buf *plain)
{
	const char *at = plain->data, *end = at + plain->size;
	struct cell c;
	size_t width = 0;

	while (next_cell(&at, end, &c))
		width += c.columns;
	return width;
}

size_t cells_width(struct str s)
{
	_cleanup_(buf_done) struct buf plain = { 0 };

	make_plain(s, &plain);
	return width_of(&plain);
}

static size_t put_up_to(struct buf *out, const char *at, const char *end, size_t width)
{
	struct cell c;
	size_t used = 0;

	while (next_cell(&at, end, &c) && used + c.columns <= width) {
		buf_put(out, c.p, c.n);
		used += c.columns;
	}
	return used;
}

/* Returns the start of the longest suffix that takes at most `width` columns. */
static const char *last_part(const char *at, const char *end, size_t whole, size_t width)
{
	struct cell c;

	while (whole > width && next_cell(&at, end, &c))
		whole -= c.columns;
	return at;
}

size_t cells_put(struct buf *out, struct str s, size_t width, bool end)
{
	_cleanup_(buf_done) struct buf plain = { 0 };
	const char *dots = has_unicode() ? "…" : "~", *stop;
	size_t whole, used;

	make_plain(s, &plain);
	stop = plain.data + plain.size;
	whole = width_of(&plain);
	if (whole <= width)
		return put_up_to(out, plain.data, stop, width);
	if (!width)
		return 0;
	if (end)
		buf_puts(out, dots);
	used = put_up_to(out, end ? last_part(plain.data, stop, whole, width - 1) : plain.data, stop, width - 1);
	if (!end)
		buf_puts(out, dots);
	return used + 1;
}

void cells_fill(struct buf *out, size_t spaces)
{
	while (spaces--)
		buf_putc(out, ' ');
}

void cells_put_right(struct buf *out, const char *text, size_t width)
{
	size_t n = cells_width((struct str){ text, strlen(text) });

	cells_fill(out, n < width ? width - n : 0);
	buf_puts(out, text);
}

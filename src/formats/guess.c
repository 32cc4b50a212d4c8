/* guess.c: names the actual kind of an unreadable file, since a wrong file is more common than a broken one. */
#include "guess.h"
#include "cleanup.h"
#include "folded_line.h"
#include "text.h"
#include <stdbool.h>
#include <string.h>

static const struct {
	const char *start;
	size_t n;
	const char *what;
} starts[] = {
#define START(bytes, what) { bytes, sizeof(bytes) - 1, what }
	START("\x89PNG", "it looks like a PNG image"),
	START("\xff\xd8\xff", "it looks like a JPEG image"),
	START("GIF8", "it looks like a GIF image"),
	START("%PDF", "it looks like a PDF document"),
	START("\177ELF", "it looks like a program or a library"),
	START("PK\3\4", "it looks like a ZIP archive; give the file that is in it"),
	START("BZh", "it looks compressed by bzip2; decompress it first"),
	START("\xfd" "7zXZ", "it looks compressed by xz; decompress it first"),
	START("SQLite format 3", "it looks like an SQLite database"),
	START("PERFILE2", "it looks like a perf.data file; 'perf script' makes text of it"),
	START("<?php", "it looks like PHP source"),
	START("<!DOCTYPE html", "it looks like HTML"),
	START("<html", "it looks like HTML"),
	START("<svg", "it looks like an SVG picture, which is made from a profile"),
	START("<", "it looks like XML"),
	START("{", "it looks like JSON"),
	START("[", "it looks like JSON"),
	START("STRF", "it looks like the announcement of a message, without the message"),
#undef START
};

/* Judges by the first bytes only. */
static bool is_text(const char *bytes, size_t n)
{
	for (size_t i = 0; i < n && i < 4096; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b)
			return false;
	}
	return true;
}

/* Appends the first line that does not end with a count. */
static void put_odd_line(const char *bytes, size_t n, struct buf *out)
{
	const char *end = bytes + n, *newline;
	unsigned number = 1;

	for (const char *p = bytes; p < end; p = newline + 1, number++) {
		struct folded_line l;
		struct str line;

		newline = memchr(p, '\n', (size_t)(end - p));
		newline = newline ? newline : end;
		if (folded_line_parse(p, (size_t)(newline - p), false, &l) != FOLDED_NO_COUNT)
			continue;
		line = (struct str){ p, (size_t)(newline - p) };
		while (line.n && p[line.n - 1] == '\r')
			line.n--;
		n = text_cut(line, 60);
		buf_printf(out, ", such as line %u: '%.*s%s'", number, (int)n, p, n < line.n ? "…" : "");
		return;
	}
}

void guess_content(const char *bytes, size_t n, struct buf *out)
{
	const char *start = bytes, *end = bytes + n;

	/* Skips a byte order mark and empty space at the start. */
	if (n >= 3 && !memcmp(start, "\xef\xbb\xbf", 3))
		start += 3;
	while (start < end && (*start == ' ' || *start == '\t' || *start == '\r' || *start == '\n'))
		start++;
	n = (size_t)(end - start);
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (n >= starts[i].n && !memcmp(start, starts[i].start, starts[i].n)) {
			buf_puts(out, starts[i].what);
			return;
		}
	if (n == 0) {
		buf_puts(out, "it contains only white space");
	} else if (is_text(start, n) && memmem(start, n, "COST CENTRE", 11)) {
		buf_puts(out, "it looks like a report of GHC's profiler, which has shares of functions and no values");
	} else if (is_text(start, n)) {
		buf_puts(out, "it is text, but its lines do not end with a count as folded stacks do");
		put_odd_line(bytes, (size_t)(end - bytes), out);
	} else {
		buf_puts(out, "it is binary data of an unknown kind");
	}
}

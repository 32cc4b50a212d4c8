/* guess.c: people give the wrong file more often than a broken one, and the right name for it tells them so. */
#include "guess.h"
#include "cleanup.h"
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

/* As far as the first bytes show. */
static bool is_text(const char *bytes, size_t n)
{
	for (size_t i = 0; i < n && i < 4096; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b)
			return false;
	}
	return true;
}

const char *guess_content(const char *bytes, size_t n)
{
	/* A byte order mark and empty space before the start say nothing. */
	if (n >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) {
		bytes += 3;
		n -= 3;
	}
	while (n && (*bytes == ' ' || *bytes == '\t' || *bytes == '\r' || *bytes == '\n')) {
		bytes++;
		n--;
	}
	if (n == 0)
		return "there is nothing but empty space in it";
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (n >= starts[i].n && !memcmp(bytes, starts[i].start, starts[i].n))
			return starts[i].what;
	if (is_text(bytes, n))
		return "it is text, but its lines do not end with a count as folded stacks do";
	return "it is binary data of a kind that I have not seen";
}

/* text.h: makes names of any bytes safe for the place where they are shown.
 *
 * Frame names come from PHP source and may contain any byte. Each function here takes any bytes and appends text
 * that is valid in its target: invalid UTF-8, NUL and other control characters, and characters that XML forbids
 * (surrogates, U+FFFE, U+FFFF) become U+FFFD. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "buf.h"
#include "intern.h"

#include <stdbool.h>
#include <string.h>

/* Decodes one code point of 1 to 4 bytes at `p`; returns its length, or 0 with U+FFFD for an invalid byte. */
unsigned text_decode(const char *p, const char *end, uint32_t *ret_code_point);

/* Check whether a number is a Unicode code point, and encode it as UTF-8. */
static inline bool text_is_code_point(uint64_t c)
{
	return c < 0xd800 || (c > 0xdfff && c <= 0x10ffff);
}

void text_put_code_point(struct buf *b, uint32_t c);

/* Comparisons with C strings. */
static inline bool text_is(struct str s, const char *text)
{
	return s.n == strlen(text) && !memcmp(s.p, text, s.n);
}

static inline bool text_has(struct str s, const char *part)
{
	return memmem(s.p, s.n, part, strlen(part)) != NULL;
}

static inline bool text_starts(struct str s, const char *part)
{
	return s.n >= strlen(part) && !memcmp(s.p, part, strlen(part));
}

static inline bool text_ends(struct str s, const char *part)
{
	size_t n = strlen(part);

	return s.n >= n && !memcmp(s.p + s.n - n, part, n);
}

/* For a file's path; returns false if nothing precedes `ending`. */
static inline bool text_path_ends(const char *path, const char *ending)
{
	size_t n = strlen(path);

	return n > strlen(ending) && text_ends((struct str){ path, n }, ending);
}

/* Tells whether `part` occurs in `text`, ignoring case in all alphabets: é is in CAFÉ. Both end with a NUL. */
bool text_has_in_any_case(const char *text, const char *part);

bool text_is_ascii(const char *text);

size_t text_columns(struct str s);			/* code points; invalid bytes count as one */
size_t text_cut(struct str s, size_t code_points);	/* size of the first `code_points` code points */

void text_put_utf8(struct buf *b, struct str s);	/* replaces invalid UTF-8 with U+FFFD */
void text_put_plain(struct buf *b, struct str s);	/* for terminals: escape sequences are replaced */
void text_put_xml(struct buf *b, struct str s);		/* for text and attribute values of XML and HTML */
void text_put_json(struct buf *b, struct str s);	/* the content of a JSON string, without the quotes */
void text_put_url(struct buf *b, struct str s);		/* percent-encoded query component, bytes kept */

/* Orders by bytes; a prefix comes first. */
static inline int text_compare(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n ? memcmp(a.p, b.p, n) : 0;

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

/* Returns the value of a hexadecimal digit, -1 for other characters. */
int text_hex_digit(char c);

/* Percent-decodes a string of `n` bytes in place and terminates it with a NUL. Returns -EINVAL if a % is not followed
 * by two hexadecimal digits; -EILSEQ if it contains a NUL, even encoded, which would silently truncate the text. */
int text_unescape_url(char *text, size_t n, size_t *ret_n);

/* Puts one frame of a folded line: bytes are kept except ; newline CR NUL, which become _, since they would change
 * the stack. */
void text_put_folded(struct buf *b, struct str s);

#endif

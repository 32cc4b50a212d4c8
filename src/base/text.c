/* text.c: turns any bytes into text that is valid for its target. */
#include "text.h"
#include <errno.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"	/* U+FFFD */

unsigned text_decode(const char *text, const char *end, uint32_t *ret_code_point)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t left = (size_t)(end - text);
	uint32_t c = left ? p[0] : 0x80, low;
	unsigned n;

	if (c < 0x80) {
		*ret_code_point = c;
		return 1;
	}
	*ret_code_point = 0xfffd;
	/* The lowest code point that needs this many bytes: for lower ones the form is overlong. */
	if (c >= 0xc2 && c <= 0xdf) {
		n = 2, low = 0x80, c &= 0x1f;
	} else if (c >= 0xe0 && c <= 0xef) {
		n = 3, low = 0x800, c &= 0x0f;
	} else if (c >= 0xf0 && c <= 0xf4) {
		n = 4, low = 0x10000, c &= 0x07;
	} else {
		return 0;
	}
	if (left < n)
		return 0;
	for (unsigned i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < low || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret_code_point = c;
	return n;
}

/* Returns the number of bytes to the next code point; an invalid byte is one step. */
static size_t step(const char *p, const char *end)
{
	uint32_t c;
	unsigned n = text_decode(p, end, &c);

	return n ? n : 1;
}

size_t text_columns(struct str s)
{
	const char *end = s.p + s.n;
	size_t columns = 0;

	for (const char *p = s.p; p < end; p += step(p, end))
		columns++;
	return columns;
}

size_t text_cut(struct str s, size_t code_points)
{
	const char *p = s.p, *end = s.p + s.n;

	while (code_points-- && p < end)
		p += step(p, end);
	return (size_t)(p - s.p);
}

/* Recognizes characters that no target may show: C0 and C1 controls, and those forbidden in XML 1.0. Tab and newline
 * are up to the caller. */
static bool is_unfit(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xfffe || c == 0xffff;
}

/* Recognizes Unicode's bidirectional controls, with which a name could make a terminal or page show another one. */
static bool is_bidi_control(uint32_t c)
{
	return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* Returns the replacement of a code point; NULL if it stays unchanged. `scratch` has room for 16 bytes. */
typedef const char *(*escape_fn)(uint32_t c, char *scratch);

/* Copies runs of unchanged bytes, nearly all, at once. `special` marks the ASCII bytes that need a check. */
static void put_escaped(struct buf *b, struct str s, const bool special[128], escape_fn escape)
{
	const char *p = s.p, *end = s.p + s.n, *run = p;

	while (p < end) {
		unsigned char byte = (unsigned char)*p;
		const char *instead;
		char scratch[16];
		uint32_t c;
		unsigned n;

		if (byte < 0x80 && !special[byte]) {
			p++;
			continue;
		}
		n = text_decode(p, end, &c);
		instead = n == 0 || (is_unfit(c) && c != '\t' && c != '\n') ? REPLACEMENT : escape(c, scratch);
		if (instead) {
			buf_put(b, run, (size_t)(p - run));
			buf_puts(b, instead);
			run = p + (n ? n : 1);
		}
		p += n ? n : 1;
	}
	buf_put(b, run, (size_t)(p - run));
}

#define CONTROLS [0 ... 31] = true, [127] = true

static const char *escape_plain(uint32_t c, char *scratch)
{
	(void)scratch;
	if (c == '\t' || c == '\n')
		return " ";
	return is_bidi_control(c) ? REPLACEMENT : NULL;
}

void text_put_utf8(struct buf *b, struct str s)
{
	const char *end = s.p + s.n;

	for (const char *p = s.p; p < end;) {
		uint32_t c;
		unsigned n = text_decode(p, end, &c);

		if (n)
			buf_put(b, p, n);
		else
			buf_puts(b, "\xef\xbf\xbd");
		p += n ? n : 1;
	}
}

void text_put_plain(struct buf *b, struct str s)
{
	static const bool special[128] = { CONTROLS };

	put_escaped(b, s, special, escape_plain);
}

static const char *escape_xml(uint32_t c, char *scratch)
{
	(void)scratch;
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	case '\t':		/* would become spaces in an attribute value */
		return "&#9;";
	case '\n':
		return "&#10;";
	default:
		return NULL;
	}
}

void text_put_xml(struct buf *b, struct str s)
{
	static const bool special[128] = {
		CONTROLS, ['&'] = true, ['<'] = true, ['>'] = true, ['"'] = true, ['\''] = true,
	};

	put_escaped(b, s, special, escape_xml);
}

static const char *escape_json(uint32_t c, char *scratch)
{
	switch (c) {
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	case '\t':
		return "\\t";
	case '\n':
		return "\\n";
	case '<':
	case '>':
	case '&':
	case 0x2028:
	case 0x2029:
		snprintf(scratch, 16, "\\u%04x", c & 0xffff);
		return scratch;
	default:
		return NULL;
	}
}

void text_put_json(struct buf *b, struct str s)
{
	static const bool special[128] = {
		CONTROLS, ['&'] = true, ['<'] = true, ['>'] = true, ['"'] = true, ['\\'] = true,
	};

	put_escaped(b, s, special, escape_json);
}

void text_put_url(struct buf *b, struct str s)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i], lower = c | 0x20;

		if ((lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
		    c == '~') {
			buf_putc(b, (char)c);
		} else {
			char coded[3] = { '%', hex[c >> 4], hex[c & 15] };

			buf_put(b, coded, sizeof(coded));
		}
	}
}

int text_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int text_unescape_url(char *text, size_t n, size_t *ret_n)
{
	size_t to = 0;

	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if (c == '%') {
			int high = i + 2 < n ? text_hex_digit(text[i + 1]) : -1;
			int low = i + 2 < n ? text_hex_digit(text[i + 2]) : -1;

			if (high < 0 || low < 0)
				return -EINVAL;
			c = (char)(high << 4 | low);
			i += 2;
		}
		if (!c)
			return -EILSEQ;
		text[to++] = c;
	}
	text[to] = '\0';
	*ret_n = to;
	return 0;
}

void text_put_folded(struct buf *b, struct str s)
{
	const char *end = s.p + s.n, *run = s.p;

	for (const char *p = s.p; p < end; p++)
		if (*p == ';' || *p == '\n' || *p == '\r' || *p == 0) {
			buf_put(b, run, (size_t)(p - run));
			buf_putc(b, '_');
			run = p + 1;
		}
	if (s.n)
		buf_put(b, run, (size_t)(end - run));
}

void text_put_code_point(struct buf *b, uint32_t c)
{
	static const unsigned char first[] = { 0, 0xc0, 0xe0, 0xf0 };
	unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	buf_putc(b, (char)(first[more] | c >> 6 * more));
	while (more--)
		buf_putc(b, (char)(0x80 | (c >> 6 * more & 0x3f)));
}

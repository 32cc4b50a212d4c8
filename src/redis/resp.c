/* resp.c: parses commands as they arrive, piece by piece, and writes replies. */
#include "resp.h"

#include "mem.h"
#include "text.h"

#include <stdarg.h>
#include <string.h>

#define NUMBER_MAX	32u		/* bytes of a count or length, including its line end */
#define ERROR_MAX	512u

void resp_init(struct resp_parser *p)
{
	*p = (struct resp_parser){ .argument_max = RESP_ARGUMENT_MAX, .arguments_max = RESP_ARGUMENTS_MAX };
	buf_init(&p->line);
}

void resp_done(struct resp_parser *p)
{
	free(p->arguments);
	free(p->parts);
	buf_done(&p->line);
	p->arguments = NULL;
	p->parts = NULL;
	p->count = p->part_count = p->part_capacity = p->capacity = 0;
}

static int bad(struct resp_parser *p, const char *format, ...) _printf_(2, 3);
static int bad(struct resp_parser *p, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(p->error, sizeof(p->error), format, arguments);
	va_end(arguments);
	return -EBADMSG;
}

/* --- Commands of one line --- */

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Parses an escape in double quotes; returns where to continue. */
static const char *unescape(struct buf *out, const char *at, const char *end)
{
	static const char names[] = "nrtba", values[] = "\n\r\t\b\a";
	const char *name;

	if (*at == 'x' && end - at >= 3 && text_hex_digit(at[1]) >= 0 && text_hex_digit(at[2]) >= 0) {
		buf_putc(out, (char)(text_hex_digit(at[1]) << 4 | text_hex_digit(at[2])));
		return at + 3;
	}
	name = *at ? strchr(names, *at) : NULL;
	buf_putc(out, name ? values[name - names] : *at);
	return at + 1;
}

/* Reads a quoted string, from after the opening quote; returns the position after the closing quote, or NULL if that
 * is missing. */
static const char *take_quoted(struct buf *out, char quote, const char *at, const char *end)
{
	while (at < end && *at != quote) {
		if (*at == '\\' && quote == '"' && at + 1 < end)
			at = unescape(out, at + 1, end);
		else if (*at == '\\' && at + 1 < end && at[1] == '\'')
			buf_putc(out, '\''), at += 2;
		else
			buf_putc(out, *at++);
	}
	if (at == end || (at + 1 < end && !is_space(at[1])))
		return NULL;
	return at + 1;
}

static void add_part(struct resp_parser *p, size_t at, size_t n)
{
	GROW(&p->parts, &p->part_capacity, p->part_count + 1);
	p->parts[p->part_count++] = (struct resp_part){ at, n };
}

static int split_line(struct resp_parser *p, const char *at, const char *end)
{
	buf_reset(&p->line);
	for (;;) {
		size_t start = p->line.size;

		while (at < end && is_space(*at))
			at++;
		if (at == end)
			return 0;
		if (p->part_count == p->arguments_max)
			return bad(p, "too many arguments");
		while (at && at < end && !is_space(*at)) {
			if (*at == '"' || *at == '\'')
				at = take_quoted(&p->line, *at, at + 1, end);
			else
				buf_putc(&p->line, *at++);
		}
		if (!at)
			return bad(p, "unbalanced quotes in request");
		add_part(p, start, p->line.size - start);
	}
}

static ssize_t next_line(struct resp_parser *p, const char *data, size_t n)
{
	const char *end = memchr(data + p->scanned, '\n', n - p->scanned);
	int r;

	if ((end ? (size_t)(end - data) : n) > RESP_LINE_MAX)
		return bad(p, "too big inline request");
	p->scanned = n;
	if (!end)
		return 0;
	r = split_line(p, data, end);
	return r < 0 ? r : end - data + 1;
}

/* --- Commands as arrays --- */

/* Reads a number and its line end at `at`. Returns the number of bytes, 0 if they are incomplete, -1 if it is not a
 * number. */
static int take_number(const char *at, const char *end, int64_t *ret)
{
	const char *p = at, *limit = end - at > NUMBER_MAX ? at + NUMBER_MAX : end;
	bool negative = p < limit && *p == '-';
	int64_t v = 0;

	p += negative;
	while (p < limit && *p >= '0' && *p <= '9') {
		if (v > INT64_MAX / 10 - 1)
			return -1;
		v = v * 10 + (*p++ - '0');
	}
	if (p == at + negative && p < limit)
		return -1;
	if (limit - p < 2)
		return p < limit && *p != '\r' ? -1 : limit - at == NUMBER_MAX ? -1 : 0;
	if (p[0] != '\r' || p[1] != '\n')
		return -1;
	*ret = negative ? -v : v;
	return (int)(p + 2 - at);
}

/* Reads the number of arguments. Returns 1 when it is complete, otherwise the same as resp_next. */
static int take_count(struct resp_parser *p, const char *data, size_t n)
{
	int64_t count;
	int r = take_number(data + 1, data + n, &count);

	if (r == 0)
		return 0;
	if (r < 0 || (count > 0 && (uint64_t)count > p->arguments_max))
		return bad(p, p->arguments_max == RESP_STRANGER_ARGUMENTS_MAX ? "unauthenticated multibulk length" :
										"invalid multibulk length");
	p->at = 1 + (size_t)r;
	p->wanted = count > 0 ? (size_t)count : 0;
	return 1;
}

/* Reads one argument, with the same results. */
static int take_argument(struct resp_parser *p, const char *data, size_t n)
{
	int64_t length;
	size_t start;
	int r;

	if (p->at == n)
		return 0;
	if (data[p->at] != '$')
		return bad(p, "expected '$', got '%c'", data[p->at] >= ' ' && data[p->at] < 127 ? data[p->at] : '?');
	r = take_number(data + p->at + 1, data + n, &length);
	if (r == 0)
		return 0;
	if (r < 0 || length < 0 || (uint64_t)length > p->argument_max)
		return bad(p, p->argument_max == RESP_STRANGER_ARGUMENT_MAX ? "unauthenticated bulk length" :
									      "invalid bulk length");
	start = p->at + 1 + (size_t)r;
	/* Known now, so the caller can make room for all of it at once. */
	p->scanned = start + (size_t)length + 2;
	if (n < p->scanned)
		return 0;
	if (data[p->scanned - 2] != '\r' || data[p->scanned - 1] != '\n')
		return bad(p, "no line end after an argument");
	add_part(p, start, (size_t)length);
	p->at = p->scanned;
	return 1;
}

static ssize_t next_array(struct resp_parser *p, const char *data, size_t n)
{
	int r = 1;

	if (!p->at)
		r = take_count(p, data, n);
	while (r > 0 && p->part_count < p->wanted)
		r = take_argument(p, data, n);
	return r <= 0 ? r : (ssize_t)p->at;
}

/* The command is complete: points its arguments to the current location of the data. */
static void point(struct resp_parser *p, const char *bytes)
{
	GROW(&p->arguments, &p->capacity, p->part_count + 1);
	for (size_t i = 0; i < p->part_count; i++)
		p->arguments[i] = (struct str){ bytes + p->parts[i].at, p->parts[i].n };
	p->count = p->part_count;
	p->at = p->scanned = p->wanted = p->part_count = 0;
}

ssize_t resp_next(struct resp_parser *p, const char *data, size_t n)
{
	bool is_array = n && data[0] == '*';
	ssize_t used;

	p->count = 0;
	if (!n)
		return 0;
	used = is_array ? next_array(p, data, n) : next_line(p, data, n);
	if (used > 0)
		point(p, is_array ? data : p->line.data);
	return used;
}

size_t resp_need(const struct resp_parser *p)
{
	return p->scanned;
}

/* --- Answers --- */

void resp_put_status(struct buf *b, const char *text)
{
	buf_putc(b, '+');
	buf_puts(b, text);
	buf_put(b, "\r\n", 2);
}

void resp_put_error(struct buf *b, const char *format, ...)
{
	char text[ERROR_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (char *p = text; *p; p++)
		if (*p == '\r' || *p == '\n')
			*p = ' ';
	buf_putc(b, '-');
	buf_puts(b, text);
	buf_put(b, "\r\n", 2);
}

static void put_number(struct buf *b, char kind, int64_t v)
{
	buf_putc(b, kind);
	buf_put_i64(b, v);
	buf_put(b, "\r\n", 2);
}

void resp_put_integer(struct buf *b, int64_t v)
{
	put_number(b, ':', v);
}

void resp_put_bulk(struct buf *b, const void *bytes, size_t n)
{
	put_number(b, '$', (int64_t)n);
	buf_put(b, bytes, n);
	buf_put(b, "\r\n", 2);
}

void resp_put_text(struct buf *b, const char *text)
{
	resp_put_bulk(b, text, strlen(text));
}

void resp_put_null(struct buf *b, int version)
{
	buf_puts(b, version == 3 ? "_\r\n" : "$-1\r\n");
}

void resp_put_array(struct buf *b, size_t count)
{
	put_number(b, '*', (int64_t)count);
}

void resp_put_map(struct buf *b, size_t pairs, int version)
{
	put_number(b, version == 3 ? '%' : '*', (int64_t)(version == 3 ? pairs : 2 * pairs));
}

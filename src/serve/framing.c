/* framing.c: one state per byte, in the order of the list in framing.h. */
#include "framing.h"

#include <assert.h>
#include <string.h>

#define LENGTH_DIGITS	18u	/* digits of a length; 15 of a chunk's size */
#define CHUNK_DIGITS	15u

enum state {
	BEFORE,			/* the first line; empty lines may come before it */
	BEFORE_LF,
	METHOD, TARGET_BEGIN, TARGET, VERSION, LINE_CR,
	NAME_BEGIN, NAME, VALUE_BEGIN, VALUE, VALUE_END, VALUE_CR, END_CR,
	BODY,
	SIZE_BEGIN, SIZE, EXTENSION, SIZE_CR, CHUNK, CHUNK_END, CHUNK_CR,
};

static const char version[] = "HTTP/1.";
static const char coding[] = "chunked";

void framing_init(struct framing *f)
{
	*f = (struct framing){ .state = BEFORE };
}

static int refuse(struct framing *f, const char *problem)
{
	f->problem = problem;
	return -1;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_token(char c)
{
	return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

/* --- The first line --- */

static int take_method(struct framing *f, char c)
{
	if (c == ' ')
		f->state = TARGET_BEGIN;
	else if (!is_token(c))
		return refuse(f, "the method contains an invalid byte");
	return 0;
}

static int take_target(struct framing *f, char c)
{
	if (is_control(c) || (c == ' ' && f->state == TARGET_BEGIN))
		return refuse(f, "the first line is not a method, an address and HTTP/1.1");
	if (c != ' ' && f->target++ == FRAMING_TARGET_MAX) {
		f->is_long = true;
		return refuse(f, "the address is too long");
	}
	f->state = c == ' ' ? VERSION : TARGET;
	f->at = 0;
	return 0;
}

static int take_version(struct framing *f, char c)
{
	const uint8_t n = sizeof(version) - 1;

	if (f->at < n && c == version[f->at]) {
		f->at++;
	} else if (f->at == n && (c == '0' || c == '1')) {
		f->version = (uint8_t)(c - '0');
		f->at++;
	} else if (f->at == n + 1 && c == '\r') {
		f->state = LINE_CR;
	} else if (f->at == n + 1 && c == '\n') {
		f->state = NAME_BEGIN;
	} else {
		/* Found in the preface of HTTP/2, "PRI * HTTP/2.0". */
		f->is_http2 = f->at == n - 2 && c == '2';
		return refuse(f, f->is_http2 ? "HTTP/2 is not supported, only HTTP/1.1" :
			      "the first line does not end with HTTP/1.0 or HTTP/1.1");
	}
	return 0;
}

/* --- Headers --- */

static bool is_length(const struct framing *f)
{
	return strcmp(f->name, "content-length") == 0;
}

static bool is_coding(const struct framing *f)
{
	return strcmp(f->name, "transfer-encoding") == 0;
}

static int begin_value(struct framing *f)
{
	f->name[f->at < sizeof(f->name) ? f->at : 0] = '\0';
	f->at = 0;
	f->state = VALUE_BEGIN;
	if (!is_length(f) && !is_coding(f))
		return 0;
	if (f->in_trailer)
		return refuse(f, "a length follows the body");
	if (f->has_length || f->has_coding)
		return refuse(f, "there is more than one of Content-Length and Transfer-Encoding");
	f->has_length = is_length(f);
	f->has_coding = is_coding(f);
	if (f->has_coding && !f->version)
		return refuse(f, "Transfer-Encoding is not in HTTP/1.0");
	return 0;
}

static int take_name(struct framing *f, char c)
{
	if (c == ':')
		return begin_value(f);
	if (!is_token(c))
		return refuse(f, "a header's name is not a token followed by a colon");
	if (f->at < sizeof(f->name))
		f->name[f->at++] = lower(c);
	return 0;
}

/* Begins the body, or the next request. */
static void end_headers(struct framing *f)
{
	if (f->in_trailer || (!f->has_coding && !f->left)) {
		framing_init(f);
		return;
	}
	f->state = f->has_coding ? SIZE_BEGIN : BODY;
}

static int begin_line(struct framing *f, char c)
{
	if (c == '\r') {
		f->state = END_CR;
		return 0;
	}
	if (c == '\n') {
		end_headers(f);
		return 0;
	}
	f->state = NAME;
	f->at = 0;
	return c == ':' ? refuse(f, "a header has no name") : take_name(f, c);
}

static int end_value(struct framing *f)
{
	if (is_length(f) && !f->digits)
		return refuse(f, "Content-Length is not a number");
	if (is_coding(f) && f->at != sizeof(coding) - 1)
		return refuse(f, "Transfer-Encoding is not chunked");
	f->state = NAME_BEGIN;
	return 0;
}

static int take_length(struct framing *f, char c)
{
	if (!is_digit(c) || f->digits == LENGTH_DIGITS)
		return refuse(f, "Content-Length is not a number");
	f->left = f->left * 10 + (uint64_t)(c - '0');
	f->digits++;
	return 0;
}

static int take_coding(struct framing *f, char c)
{
	if (f->at >= sizeof(coding) - 1 || lower(c) != coding[f->at])
		return refuse(f, "Transfer-Encoding is not chunked");
	f->at++;
	return 0;
}

/* White space around a length is not part of it, and digits after that would be a second length. */
static int take_value(struct framing *f, char c)
{
	bool is_blank = c == ' ' || c == '\t';

	if (c == '\r') {
		f->state = VALUE_CR;
		return 0;
	}
	if (c == '\n')
		return end_value(f);
	if (is_control(c) && c != '\t')
		return refuse(f, "a header's value contains a control byte");
	if (!is_length(f) && !is_coding(f))
		return 0;
	if (is_blank) {
		f->state = f->state == VALUE_BEGIN ? VALUE_BEGIN : VALUE_END;
		return 0;
	}
	if (f->state == VALUE_END)
		return refuse(f, "a length has two values");
	f->state = VALUE;
	return is_length(f) ? take_length(f, c) : take_coding(f, c);
}

/* --- Chunks --- */

static int hex_of(char c)
{
	return is_digit(c) ? c - '0' : lower(c) >= 'a' && lower(c) <= 'f' ? lower(c) - 'a' + 10 : -1;
}

static int begin_chunk(struct framing *f)
{
	f->in_trailer = !f->left;
	f->state = f->left ? CHUNK : NAME_BEGIN;
	return 0;
}

static int take_size(struct framing *f, char c)
{
	int digit = f->state == EXTENSION ? -1 : hex_of(c);

	if (digit >= 0 && f->digits < CHUNK_DIGITS) {
		f->left = f->left * 16 + (uint64_t)digit;
		f->digits++;
		f->state = SIZE;
		return 0;
	}
	if (f->state != SIZE_BEGIN && c == '\r') {
		f->state = SIZE_CR;
		return 0;
	}
	if (f->state == SIZE_BEGIN || digit >= 0 || (f->state == SIZE && c != ';') || (is_control(c) && c != '\t'))
		return refuse(f, "the size of a chunk is not a hexadecimal number");
	f->state = EXTENSION;
	return 0;
}

static void next_chunk(struct framing *f)
{
	f->state = SIZE_BEGIN;
	f->left = 0;
	f->digits = 0;
}

/* --- Top level --- */

static int take_line_feed(struct framing *f, char c)
{
	if (c != '\n')
		return refuse(f, "a CR is not followed by LF");
	switch (f->state) {
	case BEFORE_LF:
		f->state = BEFORE;
		break;
	case LINE_CR:
		f->state = NAME_BEGIN;
		break;
	case VALUE_CR:
		return end_value(f);
	case END_CR:
		end_headers(f);
		break;
	case SIZE_CR:
		return begin_chunk(f);
	case CHUNK_CR:
		next_chunk(f);
		break;
	}
	return 0;
}

static int take_byte(struct framing *f, char c)
{
	switch (f->state) {
	case BEFORE:
		if (c == '\r' || c == '\n') {
			f->state = c == '\r' ? BEFORE_LF : BEFORE;
			return 0;
		}
		f->state = METHOD;
		return c == ' ' ? refuse(f, "the first line begins with a space") : take_method(f, c);
	case METHOD:
		return take_method(f, c);
	case TARGET_BEGIN:
	case TARGET:
		return take_target(f, c);
	case VERSION:
		return take_version(f, c);
	case NAME_BEGIN:
		return begin_line(f, c);
	case NAME:
		return take_name(f, c);
	case VALUE_BEGIN:
	case VALUE:
	case VALUE_END:
		return take_value(f, c);
	case SIZE_BEGIN:
	case SIZE:
	case EXTENSION:
		return take_size(f, c);
	case CHUNK_END:
		if (c != '\r')
			return refuse(f, "a chunk is longer than its size");
		f->state = CHUNK_CR;
		return 0;
	default:
		return take_line_feed(f, c);
	}
}

/* Returns the number of bytes that belong to the body. */
static size_t take_body(struct framing *f, size_t n)
{
	size_t part = f->left < n ? (size_t)f->left : n;

	f->left -= part;
	if (f->left)
		return part;
	if (f->state == CHUNK)
		f->state = CHUNK_END;
	else
		framing_init(f);
	return part;
}

size_t framing_take(struct framing *f, const char *bytes, size_t n)
{
	size_t begin = 0, i = 0;	/* start of the current request, if it is in these bytes */

	while (i < n && !f->problem) {
		if (f->state == BEFORE)
			begin = i;
		if (f->state == BODY || f->state == CHUNK) {
			assert(f->left);
			i += take_body(f, n - i);
		} else if (take_byte(f, bytes[i]) == 0) {
			i++;
		}
	}
	return f->problem ? begin : n;
}

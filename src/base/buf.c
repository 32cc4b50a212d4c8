/* buf.c: the byte buffer in which all output is built. */
#include "buf.h"
#include "mem.h"
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Empty buffers point to this: readable as "", never written to. */
static char nothing[1];

void buf_init(struct buf *b)
{
	*b = (struct buf){ .data = nothing, .limit = BUF_LIMIT };
}

void buf_done(struct buf *b)
{
	if (!b)
		return;
	if (b->capacity)
		free(b->data);
	*b = (struct buf){ .data = nothing, .limit = b->limit };
}

void buf_reset(struct buf *b)
{
	if (b->drain)
		b->drain->restart(b->drain);
	b->size = 0;
	b->overflow = false;
	if (b->capacity)
		b->data[0] = 0;
}

char *buf_take(struct buf *b, size_t *ret_size)
{
	char *data = b->capacity ? b->data : xstrdup("");

	if (ret_size)
		*ret_size = b->size;
	*b = (struct buf){ .data = nothing, .limit = b->limit };
	return data;
}

static bool drain(struct buf *b)
{
	if (!b->drain->take(b->drain, b->data, b->size))
		return false;
	b->size = 0;
	b->data[0] = 0;
	return true;
}

/* Makes room for `n` bytes and a NUL after them. After the first bytes that were dropped, all later ones are dropped,
 * too: a text with a gap would look complete. */
static bool make_room(struct buf *b, size_t n)
{
	size_t need, capacity;

	if (b->overflow || n > b->limit || b->size > b->limit - n) {
		b->overflow = true;
		return false;
	}
	need = b->size + n + 1;
	if (need <= b->capacity)
		return true;
	if (b->drain && b->size >= BUF_DRAIN) {
		if (!drain(b)) {
			b->overflow = true;
			return false;
		}
		need = n + 1;
		if (need <= b->capacity)
			return true;
	}
	capacity = b->capacity + b->capacity / 2;
	if (capacity < need)
		capacity = need < 64 ? 64 : need;
	b->data = xrealloc(b->capacity ? b->data : NULL, capacity);
	b->capacity = capacity;
	/* buf_reserve may not be followed by a write, so the text must end here. */
	b->data[b->size] = 0;
	return true;
}

char *buf_reserve(struct buf *b, size_t n)
{
	return make_room(b, n) ? b->data + b->size : NULL;
}

void buf_wrote(struct buf *b, size_t n)
{
	assert(b->size + n < b->capacity);
	b->size += n;
	b->data[b->size] = 0;
}

void buf_put(struct buf *b, const void *bytes, size_t n)
{
	if (!n || !make_room(b, n))
		return;
	memcpy(b->data + b->size, bytes, n);
	b->size += n;
	b->data[b->size] = 0;
}

void buf_puts(struct buf *b, const char *text)
{
	buf_put(b, text, strlen(text));
}

void buf_putc(struct buf *b, char c)
{
	if (b->size + 1 >= b->capacity || b->size >= b->limit || b->overflow)
		if (!make_room(b, 1))
			return;
	b->data[b->size++] = c;
	b->data[b->size] = 0;
}

void buf_printf(struct buf *b, const char *format, ...)
{
	size_t room;
	va_list ap;
	int n;

	if (!make_room(b, 0))
		return;
	room = b->capacity - b->size;
	va_start(ap, format);
	n = vsnprintf(b->data + b->size, room, format, ap);
	va_end(ap);
	if (n < 0 || !make_room(b, (size_t)n)) {
		b->data[b->size] = 0;
		return;
	}
	if ((size_t)n >= room) {
		va_start(ap, format);
		vsnprintf(b->data + b->size, (size_t)n + 1, format, ap);
		va_end(ap);
	}
	b->size += (size_t)n;
}

/* --- Numbers --- */

#define DIGITS_MAX 20		/* digits of the largest 64-bit number */

/* Writes the digits to the end of `out[DIGITS_MAX]`; returns where they begin. */
static char *digits(uint64_t v, char *out)
{
	static const char pairs[201] =
		"00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
		"49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
		"9899";
	char *p = out + DIGITS_MAX;

	while (v >= 100) {
		p -= 2;
		memcpy(p, pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		p -= 2;
		memcpy(p, pairs + v * 2, 2);
	} else {
		*--p = (char)('0' + v);
	}
	return p;
}

static uint64_t magnitude(int64_t v)
{
	return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

void buf_put_u64(struct buf *b, uint64_t v)
{
	char text[DIGITS_MAX], *p = digits(v, text);

	buf_put(b, p, (size_t)(text + DIGITS_MAX - p));
}

void buf_put_i64(struct buf *b, int64_t v)
{
	char text[1 + DIGITS_MAX], *p = digits(magnitude(v), text + 1);

	if (v < 0)
		*--p = '-';
	buf_put(b, p, (size_t)(text + sizeof(text) - p));
}

void buf_put_grouped(struct buf *b, int64_t v)
{
	char plain[DIGITS_MAX], *p = digits(magnitude(v), plain), text[2 + DIGITS_MAX + DIGITS_MAX / 3];
	size_t left = (size_t)(plain + DIGITS_MAX - p), n = 0;

	if (v < 0)
		text[n++] = '-';
	while (left) {
		text[n++] = *p++;
		if (--left && left % 3 == 0)
			text[n++] = ',';
	}
	buf_put(b, text, n);
}

#define DECIMALS_MAX 9

/* v × 10^decimals in fixed-point has a rounding error; if the result is so close to the middle between two numbers
 * that the error could matter, printf is used. */
void buf_put_fixed(struct buf *b, double v, int decimals)
{
	static const double powers[DECIMALS_MAX + 1] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9 };
	char text[2 * DIGITS_MAX], *end = text + 2 * DIGITS_MAX, *p;
	double scaled, whole, rest;

	assert(decimals >= 0);
	if (decimals > DECIMALS_MAX || !(fabs(v) < 9007199254740992.0 / powers[decimals])) {
		buf_printf(b, "%.*f", decimals, v);
		return;
	}
	scaled = fabs(v) * powers[decimals];
	whole = floor(scaled);
	rest = scaled - whole;
	/* The multiplication is off by at most half an ulp of `scaled`; `rest` is exact. */
	if (fabs(rest - 0.5) <= scaled * 0x1p-52) {
		buf_printf(b, "%.*f", decimals, v);
		return;
	}
	p = digits((uint64_t)whole + (rest > 0.5), end - DIGITS_MAX);
	while (end - p <= decimals)
		*--p = '0';
	if (decimals) {
		memmove(p - 1, p, (size_t)(end - p - decimals));
		p--;
		end[-decimals - 1] = '.';
	}
	if (signbit(v))
		*--p = '-';
	buf_put(b, p, (size_t)(end - p));
}

void buf_put_varint(struct buf *b, uint64_t v)
{
	char bytes[10];
	size_t n = 0;

	if (v < 0x80) {
		buf_putc(b, (char)v);
		return;
	}
	for (; v >= 0x80; v >>= 7)
		bytes[n++] = (char)(v | 0x80);
	bytes[n++] = (char)v;
	buf_put(b, bytes, n);
}

/* secret.c: compares and searches. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "secret.h"

#include <stdlib.h>
#include <string.h>

/* A text is decoded until nothing changes, at most this many times: proxies and redirects encode repeatedly. */
#define LEVELS 8

void secret_set(struct secret *s, const char *p, size_t n)
{
	memset(s, 0, sizeof(*s));
	s->refused = n > 0 && (n < SECRET_MIN || n > SECRET_MAX);
	if (n == 0 || s->refused)
		return;
	memcpy(s->bytes, p, n);
	s->size = n;
}

static bool equals(const struct secret *s, const char *p, size_t n)
{
	unsigned char padded[SECRET_MAX] = { 0 };
	volatile unsigned char different = (n != s->size);

	memcpy(padded, p, n < SECRET_MAX ? n : SECRET_MAX);
	for (size_t i = 0; i < SECRET_MAX; i++)
		different |= padded[i] ^ s->bytes[i];
	return !different;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t url_decode(char *out, const char *p, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '%' && i + 2 < n && hex_digit(p[i + 1]) >= 0 && hex_digit(p[i + 2]) >= 0) {
			out[size++] = (char)(hex_digit(p[i + 1]) * 16 + hex_digit(p[i + 2]));
			i += 2;
		} else {
			out[size++] = p[i] == '+' ? ' ' : p[i];
		}
	}
	return size;
}

bool secret_equals(const struct secret *s, const char *p, size_t n)
{
	char decoded[3 * SECRET_MAX];
	bool found;

	if (s->size == 0 || n > sizeof(decoded))
		return false;
	found = equals(s, p, n);
	found |= equals(s, decoded, url_decode(decoded, p, n));
	return found;
}

static void plus_to_blank(char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] == '+')
			p[i] = ' ';
}

bool secret_is_in(const struct secret *s, const char *p, size_t n)
{
	char wanted[SECRET_MAX];
	char *text;
	bool found = false;

	if (s->size == 0 || n < s->size)
		return false;
	text = malloc(n);
	if (!text)
		return true;	/* if in doubt, it is safer to say yes */
	memcpy(text, p, n);
	memcpy(wanted, s->bytes, s->size);
	/* A plus may be literal or mean a space, so both count as spaces, on both sides. */
	plus_to_blank(wanted, s->size);
	for (int i = 0; i < LEVELS && !found; i++) {
		size_t before = n;
		char *plain = text;

		plus_to_blank(plain, n);
		found = memmem(plain, n, wanted, s->size) != NULL;
		n = url_decode(text, text, n);
		if (n == before)
			break;
	}
	free(text);
	return found;
}

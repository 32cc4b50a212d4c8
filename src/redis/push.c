/* push.c: parses published messages: arrays of version 2 of the protocol, and pushes of version 3. */
#include "push.h"

#include <stdbool.h>
#include <string.h>

#define DIGITS_MAX	9		/* digits of a length: less than a gigabyte */

struct cursor {
	const char *p, *end;
};

static bool skip(struct cursor *c, const char *text, size_t n)
{
	if ((size_t)(c->end - c->p) < n || memcmp(c->p, text, n))
		return false;
	c->p += n;
	return true;
}
#define SKIP(c, text) skip(c, text, sizeof(text) - 1)

/* Parses "$5\r\nhello\r\n". */
static bool take(struct cursor *c, struct str *ret)
{
	size_t size = 0, digits = 0;
	bool zero;

	if (!SKIP(c, "$"))
		return false;
	zero = c->p < c->end && *c->p == '0';
	for (; c->p < c->end && *c->p >= '0' && *c->p <= '9' && digits < DIGITS_MAX; c->p++, digits++)
		size = size * 10 + (size_t)(*c->p - '0');
	if (!digits || (zero && digits > 1) || !SKIP(c, "\r\n") || (size_t)(c->end - c->p) < size + 2 ||
	    memcmp(c->p + size, "\r\n", 2) != 0)
		return false;
	*ret = (struct str){ c->p, size };
	c->p += size + 2;
	return true;
}

size_t push_parse(const char *bytes, size_t n, struct str *channel, struct str *text)
{
	struct cursor c = { bytes, bytes + n };
	struct str pattern;
	bool is_one;

	if (SKIP(&c, "*3\r\n$7\r\nmessage\r\n"))
		is_one = true;
	else
		is_one = SKIP(&c, "*4\r\n$8\r\npmessage\r\n") && take(&c, &pattern);
	return is_one && take(&c, channel) && take(&c, text) ? (size_t)(c.p - bytes) : 0;
}

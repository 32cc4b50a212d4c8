/* secrets.c: finds passwords in URLs and parameters of a text. */
#include "secrets.h"

#include "buf.h"
#include "mem.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define HIDDEN	"***"

/* Returns the next byte of a name, which may be percent-encoded. */
static const char *next_byte(const char *p, char *ret)
{
	static const char digits[] = "0123456789abcdef";
	const char *high, *low;

	*ret = *p;
	if (*p != '%' || !p[1] || !p[2])
		return p + 1;
	high = strchr(digits, tolower((unsigned char)p[1]));
	low = strchr(digits, tolower((unsigned char)p[2]));
	if (!high || !low)
		return p + 1;
	*ret = (char)((high - digits) << 4 | (low - digits));
	return p + 3;
}

/* Returns the text after "password=" or a similar name; NULL if `p` does not begin with one. */
static const char *secret_value(const char *p)
{
	static const char *const names[] = { "password", "passwd", "secret", "token" };
	char name[16];
	size_t n = 0;

	while (*p && *p != '=' && !isspace((unsigned char)*p) && n < sizeof(name) - 1)
		p = next_byte(p, &name[n++]);
	name[n] = '\0';
	for (size_t i = 0; *p == '=' && i < ARRAY_SIZE(names); i++)
		if (strcasecmp(name, names[i]) == 0)
			return p + 1;
	return NULL;
}

/* The closing quote after a URL is not part of it. */
static size_t value_length(const char *value)
{
	size_t n = strcspn(value, "& \t\n");

	while (n && strchr("':,;.)\"", value[n - 1]))
		n--;
	return n;
}

/* Tells whether `out` ends with a URL scheme in which a name alone is a user. In others, such as Redis, it may be a
 * password. */
static bool names_user(const struct buf *out)
{
	static const char *const schemes[] = { "clickhouse://", "otlp://", "pyroscope://" };

	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		size_t n = strlen(schemes[i]);

		if (out->size >= n && !memcmp(out->data + out->size - n, schemes[i], n))
			return true;
	}
	return false;
}

/* Puts "ann:***" for the text before the @, and returns its position; NULL if there is no password. */
static const char *hide_user(const char *p, struct buf *out)
{
	const char *at = memrchr(p, '@', strcspn(p, "? \t\n")), *colon;

	if (!at)
		return NULL;
	colon = memchr(p, ':', (size_t)(at - p));
	if (!colon && names_user(out))
		return NULL;
	buf_put(out, p, colon ? (size_t)(colon + 1 - p) : 0);
	buf_puts(out, HIDDEN);
	return at;
}

static bool put_hidden(const char *p, struct buf *out)
{
	const char *next;
	bool found = false;

	while (*p) {
		if (strncmp(p, "://", 3) == 0) {
			buf_puts(out, "://");
			p += 3;
			next = hide_user(p, out);
			found = found || next;
			p = next ? next : p;
		} else if ((*p == '?' || *p == '&') && (next = secret_value(p + 1)) && value_length(next)) {
			buf_put(out, p, (size_t)(next - p));
			buf_puts(out, HIDDEN);
			p = next + value_length(next);
			found = true;
		} else {
			buf_putc(out, *p++);
		}
	}
	return found;
}

bool secrets_redact(char *text, size_t size)
{
	_cleanup_(buf_done) struct buf out = { 0 };
	size_t n;

	if (!strstr(text, "://") && !strpbrk(text, "?&"))
		return false;
	buf_init(&out);
	if (!put_hidden(text, &out))
		return false;
	n = out.size < size ? out.size : size - 1;
	memcpy(text, out.data, n);
	memset(text + n, 0, size - n);
	return true;
}

char *secrets_shown(const char *text)
{
	size_t room = strlen(text) + 64;		/* *** may be longer than the password */
	char *copy = xmalloc(room);

	snprintf(copy, room, "%s", text);
	secrets_redact(copy, room);
	return copy;
}

/* xml_check.c: reads once from left to right; keeps open elements as positions of their names. */

#include "xml_check.h"

#include "text.h"

#include <stdlib.h>
#include <string.h>

#define OPEN_MAX	64
#define ATTRIBUTES_MAX	32

struct xml {
	const char *at, *end;
	struct str open[OPEN_MAX];
	size_t depth;
	bool root_seen;
};

static bool has(const struct xml *x, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(x->end - x->at) >= n && !memcmp(x->at, text, n);
}

static bool skip(struct xml *x, const char *text)
{
	bool found = has(x, text);

	if (found)
		x->at += strlen(text);
	return found;
}

static bool skip_past(struct xml *x, const char *text)
{
	const char *found = memmem(x->at, (size_t)(x->end - x->at), text, strlen(text));

	if (found)
		x->at = found + strlen(text);
	return found;
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == ':' ||
	       c == '_';
}

static struct str name(struct xml *x)
{
	const char *from = x->at;

	while (x->at < x->end && is_name(*x->at))
		x->at++;
	return (struct str){ from, (size_t)(x->at - from) };
}

static bool same(struct str a, struct str b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

/* Parses &#65; or &#x41;, for a code point that XML allows. */
static bool character_reference(struct xml *x)
{
	const char *digits = x->at + 2;
	bool hex;
	char *end;
	unsigned long c;

	if (x->end - x->at < 4 || x->at[1] != '#')
		return false;
	hex = *digits == 'x';
	digits += hex;
	if (!strchr(hex ? "0123456789abcdefABCDEF" : "0123456789", *digits) || !*digits)
		return false;
	c = strtoul(digits, &end, hex ? 16 : 10);
	if (end >= x->end || *end != ';' || (c < 0x20 && c != 9 && c != 10 && c != 13) || (c >= 0xd800 && c < 0xe000) ||
	    c == 0xfffe || c == 0xffff || c > 0x10ffff)
		return false;
	x->at = end + 1;
	return true;
}

static bool entity(struct xml *x)
{
	static const char *const known[] = {
		"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (skip(x, known[i]))
			return true;
	return character_reference(x);
}

static void skip_space(struct xml *x)
{
	while (x->at < x->end && (*x->at == ' ' || *x->at == '\n'))
		x->at++;
}

static const char *attribute(struct xml *x, struct str *seen, size_t *count)
{
	struct str key = name(x);

	if (!key.n || *count == ATTRIBUTES_MAX)
		return "no attribute's name";
	for (size_t i = 0; i < *count; i++)
		if (same(seen[i], key))
			return "an attribute twice";
	seen[(*count)++] = key;
	if (!skip(x, "=\""))
		return "an attribute without a quoted value";
	while (x->at < x->end && *x->at != '"') {
		if (*x->at == '<')
			return "< in an attribute";
		if (*x->at == '&' && !entity(x))
			return "an unknown entity";
		else if (*x->at != '"' && *x->at != '&')
			x->at++;
	}
	return skip(x, "\"") ? NULL : "an attribute that does not end";
}

static const char *start_tag(struct xml *x)
{
	struct str seen[ATTRIBUTES_MAX], tag = name(x);
	size_t count = 0;
	const char *wrong;

	if (!tag.n)
		return "< that is no tag";
	if (x->depth == 0 && x->root_seen)
		return "a second root";
	x->root_seen = true;
	for (;;) {
		skip_space(x);
		if (skip(x, "/>"))
			return NULL;
		if (skip(x, ">"))
			break;
		if ((wrong = attribute(x, seen, &count)))
			return wrong;
	}
	if (x->depth == OPEN_MAX)
		return "elements too deep";
	x->open[x->depth++] = tag;
	return NULL;
}

static const char *end_tag(struct xml *x)
{
	struct str tag = name(x);

	if (!skip(x, ">") || x->depth == 0 || !same(x->open[--x->depth], tag))
		return "an end tag that closes nothing";
	return NULL;
}

static const char *piece(struct xml *x)
{
	if (skip(x, "<![CDATA["))
		return x->depth && skip_past(x, "]]>") ? NULL : "CDATA that does not end";
	if (skip(x, "</"))
		return end_tag(x);
	if (skip(x, "<"))
		return start_tag(x);
	if (*x->at == '&')
		return x->depth && entity(x) ? NULL : "an unknown entity";
	if (has(x, "]]>"))
		return "]]> in text";
	if (!x->depth && *x->at != '\n')
		return "text outside of the root";
	x->at++;
	return NULL;
}

static const char *check_characters(const char *bytes, size_t n, size_t *ret_at)
{
	for (const char *p = bytes, *end = bytes + n; p < end;) {
		uint32_t c;
		unsigned length = text_decode(p, end, &c);

		*ret_at = (size_t)(p - bytes);
		if (!length)
			return "no UTF-8";
		if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0xfffe || c == 0xffff)
			return "a character that XML forbids";
		p += length;
	}
	return NULL;
}

const char *xml_check(const char *bytes, size_t n, size_t *ret_at)
{
	struct xml x = { .at = bytes, .end = bytes + n };
	const char *wrong = check_characters(bytes, n, ret_at);

	if (wrong)
		return wrong;
	if (skip(&x, "<?xml") && !skip_past(&x, "?>"))
		return "an <?xml line that does not end";
	while (x.at < x.end && !wrong)
		wrong = piece(&x);
	*ret_at = (size_t)(x.at - bytes);
	if (!wrong && (x.depth || !x.root_seen))
		wrong = "elements that stay open";
	return wrong;
}

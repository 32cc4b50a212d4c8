/* nameattr.c: parses the file of --nameattr into text that is ready to be written. */

#include "nameattr.h"

#include "mem.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

struct nameattr {
	struct intern names;
	struct nameattr_frame *frames;		/* by name */
	size_t capacity;
	struct arena memory;
};

/* --- Markup --- */

/* Returns the length of the entity at `p`, 0 if there is none: one of XML's five, or a number. */
static size_t entity_length(const char *p, const char *end)
{
	static const char *const known[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&apos;" };
	unsigned long code = 0;
	bool hex;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if ((size_t)(end - p) >= strlen(known[i]) && !memcmp(p, known[i], strlen(known[i])))
			return strlen(known[i]);
	if (end - p < 4 || p[1] != '#')
		return 0;
	hex = p[2] == 'x';
	for (i = 2 + hex; p + i < end && p[i] != ';' && code < 0x110000; i++) {
		const char *digits = "0123456789abcdef", *d = memchr(digits, p[i] | (p[i] >= 'A' ? 0x20 : 0),
								     hex ? 16 : 10);

		if (!d)
			return 0;
		code = code * (hex ? 16 : 10) + (unsigned long)(d - digits);
	}
	/* Rejects characters that XML does not allow even as numbers. */
	if (p + i >= end || p[i] != ';' || code < 0x20 || (code >= 0xd800 && code < 0xe000) || code >= 0x110000 ||
	    code == 0xfffe || code == 0xffff)
		return 0;
	return i + 1;
}

void nameattr_put_markup(struct buf *out, struct str text, bool quotes)
{
	const char *end = text.p + text.n, *run = text.p;

	for (const char *p = run; p < end;) {
		size_t n = *p == '&' ? entity_length(p, end) : quotes && (*p == '"' || *p == '\'');

		if (n) {
			text_put_xml(out, (struct str){ run, (size_t)(p - run) });
			buf_put(out, p, n);
			run = p + n;
		}
		p += n ? n : 1;
	}
	text_put_xml(out, (struct str){ run, (size_t)(end - run) });
}

/* --- Attributes --- */

static bool is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_part(char c)
{
	return is_name_start(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

/* Returns the length of a name: letters, and one prefix that the picture declares. */
static size_t name_length(const char *p, const char *end)
{
	static const char prefix[] = "xlink:";
	size_t from = (size_t)(end - p) > strlen(prefix) && !memcmp(p, prefix, strlen(prefix)) ? strlen(prefix) : 0;
	size_t n = from;

	if (p + n == end || !is_name_start(p[n]))
		return 0;
	while (p + n < end && is_name_part(p[n]))
		n++;
	if (n == 5 && !memcmp(p, "xmlns", 5))
		return 0;
	return n;
}

/* Tells whether an attribute already occurs in ' a="b" c="d"': XML allows each only once. */
static bool has_attribute(const struct buf *b, struct str name)
{
	_cleanup_(freep) char *wanted = xasprintf(" %.*s=\"", (int)name.n, name.p);

	return strstr(b->data, wanted) != NULL;
}

static void put_attribute(struct buf *out, struct str name, struct str value)
{
	if (has_attribute(out, name))
		return;
	buf_putc(out, ' ');
	buf_put(out, name.p, name.n);
	buf_puts(out, "=\"");
	nameattr_put_markup(out, value, false);
	buf_putc(out, '"');
}

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\r' || *p == '\n' || *p == '\t'))
		p++;
	return p;
}

/* Puts name="value" name='value' … Returns false for anything else. */
static bool put_attributes(struct buf *out, struct str text)
{
	const char *p = text.p, *end = text.p + text.n;

	for (;;) {
		struct str name;
		const char *quote, *stop;

		p = skip_space(p, end);
		if (p == end)
			return true;
		name = (struct str){ p, name_length(p, end) };
		p = skip_space(p + name.n, end);
		if (!name.n || p == end || *p != '=')
			return false;
		quote = skip_space(p + 1, end);
		if (quote == end || (*quote != '"' && *quote != '\''))
			return false;
		stop = memchr(quote + 1, *quote, (size_t)(end - quote - 1));
		if (!stop)
			return false;
		put_attribute(out, name, (struct str){ quote + 1, (size_t)(stop - quote - 1) });
		p = stop + 1;
	}
}

/* --- Lines --- */

enum key { KEY_ID, KEY_CLASS, KEY_TITLE, KEY_HREF, KEY_TARGET, KEY_G_EXTRA, KEY_A_EXTRA, KEYS };

static const char *const keys[KEYS] = { "id", "class", "title", "href", "target", "g_extra", "a_extra" };

static const char nothing[] = "";		/* a missing key */

static struct str word(const char *text)
{
	return (struct str){ text, strlen(text) };
}

/* Tells whether a string is true in Perl. */
static bool is_set(struct str s)
{
	return s.n > 1 || (s.n == 1 && *s.p != '0');
}

static char *take(struct nameattr *a, struct buf *b)
{
	char *copy = arena_copy(&a->memory, b->data, b->size);

	buf_reset(b);
	return copy;
}

static int bad_extra(struct err *err, uint64_t line, enum key key)
{
	return err_set(err, -EINVAL, "line %llu: %s is not a list of attributes such as data-team=\"blue\"",
		       (unsigned long long)line, keys[key]);
}

static int put_link(const struct str values[KEYS], struct buf *b, uint64_t line, struct err *err)
{
	struct str target = values[KEY_TARGET];

	if (!is_set(values[KEY_HREF]))
		return 0;
	put_attribute(b, word("xlink:href"), values[KEY_HREF]);
	put_attribute(b, word("target"), is_set(target) ? target : word("_top"));
	if (values[KEY_A_EXTRA].n && !put_attributes(b, values[KEY_A_EXTRA]))
		return bad_extra(err, line, KEY_A_EXTRA);
	return 0;
}

static int add_frame(struct nameattr *a, struct str name, const struct str values[KEYS], uint64_t line, struct err *err)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	struct nameattr_frame f = { 0 };
	uint32_t id;
	int e;

	buf_init(&b);
	for (enum key k = KEY_ID; k <= KEY_CLASS; k++)
		if (values[k].p != nothing)
			put_attribute(&b, word(keys[k]), values[k]);
	if (values[KEY_G_EXTRA].n && !put_attributes(&b, values[KEY_G_EXTRA]))
		return bad_extra(err, line, KEY_G_EXTRA);
	f.group = take(a, &b);
	if ((e = put_link(values, &b, line, err)) < 0)
		return e;
	f.link = take(a, &b);
	if (is_set(values[KEY_TITLE]))
		nameattr_put_markup(&b, values[KEY_TITLE], true);
	f.title = take(a, &b);
	f.href = (struct str){ arena_copy(&a->memory, values[KEY_HREF].p, values[KEY_HREF].n), values[KEY_HREF].n };
	f.target = (struct str){ arena_copy(&a->memory, values[KEY_TARGET].p, values[KEY_TARGET].n),
				 values[KEY_TARGET].n };
	id = intern_add(&a->names, name.p, name.n);
	GROW(&a->frames, &a->capacity, (size_t)id + 1);
	a->frames[id] = f;
	return 0;
}

/* Returns the text up to the next tab, and skips that. */
static struct str next_field(struct str *rest)
{
	const char *tab = memchr(rest->p, '\t', rest->n);
	struct str field = { rest->p, tab ? (size_t)(tab - rest->p) : rest->n };

	*rest = tab ? (struct str){ tab + 1, rest->n - field.n - 1 } : (struct str){ rest->p + rest->n, 0 };
	return field;
}

static int read_line(struct nameattr *a, struct str line, uint64_t number, struct err *err)
{
	struct str values[KEYS], rest = line, name = next_field(&rest);

	if (name.n == line.n)
		return err_set(err, -EINVAL, "line %llu has no tab: it must be a function's name, a tab and "
			       "attributes such as href=https://example.org", (unsigned long long)number);
	for (enum key k = 0; k < KEYS; k++)
		values[k] = (struct str){ nothing, 0 };
	while (rest.n) {
		struct str field = next_field(&rest);
		const char *equals = memchr(field.p, '=', field.n);

		if (!equals && field.n)
			return err_set(err, -EINVAL, "line %llu: '%.*s' is not an attribute such as class=slow",
				       (unsigned long long)number, field.n < 60 ? (int)field.n : 60, field.p);
		for (enum key k = KEY_ID; equals && k < KEYS; k++)
			if ((size_t)(equals - field.p) == strlen(keys[k]) && !memcmp(field.p, keys[k], strlen(keys[k])))
				values[k] = (struct str){ equals + 1, field.n - (size_t)(equals + 1 - field.p) };
	}
	return add_frame(a, name, values, number, err);
}

int nameattr_read(const char *bytes, size_t n, struct nameattr **ret, struct err *err)
{
	struct nameattr *a = xcalloc(1, sizeof(*a));
	const char *end = bytes + n;
	uint64_t number = 0;
	int e = 0;

	intern_init(&a->names);
	arena_init(&a->memory);
	while (bytes < end && e == 0) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));

		e = read_line(a, (struct str){ bytes, (size_t)((newline ? newline : end) - bytes) }, ++number, err);
		bytes = newline ? newline + 1 : end;
	}
	if (e < 0)
		nameattr_free(a);
	else
		*ret = a;
	return e;
}

struct nameattr *nameattr_free(struct nameattr *a)
{
	if (!a)
		return NULL;
	intern_done(&a->names);
	arena_done(&a->memory);
	free(a->frames);
	free(a);
	return NULL;
}

const struct nameattr_frame *nameattr_find(const struct nameattr *a, struct str name)
{
	uint32_t id = a ? intern_find(&a->names, name.p, name.n) : UINT32_MAX;

	return id == UINT32_MAX ? NULL : &a->frames[id];
}

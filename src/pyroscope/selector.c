/* selector.c: parses selectors into matchers. */
#include "selector.h"

#include "buf.h"
#include "pattern.h"
#include "text.h"

#include <ctype.h>
#include <string.h>

struct reader {
	const char *text, *p;
	struct selector *s;
	struct err *err;
};

void selector_init(struct selector *s)
{
	memset(s, 0, sizeof(*s));
	arena_init(&s->bytes);
}

void selector_done(struct selector *s)
{
	for (size_t i = 0; i < s->count; i++)
		pattern_free(s->items[i].pattern);
	arena_done(&s->bytes);
	s->count = 0;
}

static int refuse(struct reader *r, const char *wanted)
{
	return err_set(r->err, -EINVAL, "the selector '%.200s' needs %s at character %zu", r->text, wanted,
		       (size_t)(r->p - r->text) + 1);
}

static void skip_blanks(struct reader *r)
{
	r->p += strspn(r->p, " \t\r\n");
}

/* --- Texts in quotes --- */

static int number_of(struct reader *r, unsigned digits, unsigned base, uint32_t *ret)
{
	*ret = 0;
	for (unsigned i = 0; i < digits; i++) {
		int digit = text_hex_digit(*r->p);

		if (digit < 0 || (unsigned)digit >= base)
			return refuse(r, "a digit of an escape");
		*ret = *ret * base + (uint32_t)digit;
		r->p++;
	}
	return 0;
}

static int take_code_point(struct reader *r, unsigned digits, struct buf *out)
{
	uint32_t c;
	int e = number_of(r, digits, 16, &c);

	if (e < 0)
		return e;
	if (!c || !text_is_code_point(c))
		return refuse(r, "a valid code point");
	text_put_code_point(out, c);
	return 0;
}

static int take_byte(struct reader *r, unsigned digits, unsigned base, struct buf *out)
{
	uint32_t c;
	int e = number_of(r, digits, base, &c);

	if (e < 0)
		return e;
	if (!c || c > 255)
		return refuse(r, "a byte that is not 0");
	buf_putc(out, (char)c);
	return 0;
}

static int take_escape(struct reader *r, struct buf *out)
{
	static const char letters[] = "abfnrtv\\\"'", bytes[] = "\a\b\f\n\r\t\v\\\"'";
	const char *at = *r->p ? strchr(letters, *r->p) : NULL;

	if (at) {
		buf_putc(out, bytes[at - letters]);
		r->p++;
		return 0;
	}
	if (*r->p >= '0' && *r->p <= '7')
		return take_byte(r, 3, 8, out);
	switch (*r->p++) {
	case 'x':
		return take_byte(r, 2, 16, out);
	case 'u':
		return take_code_point(r, 4, out);
	case 'U':
		return take_code_point(r, 8, out);
	}
	r->p--;
	return refuse(r, "an escape of Go (a backslash in a pattern is written \\\\)");
}

static int take_text(struct reader *r, const char **ret)
{
	_cleanup_(buf_done) struct buf out = { 0 };
	char quote = *r->p;
	int e = 0;

	if (!quote || !strchr("\"'`", quote))
		return refuse(r, "a quoted string");
	r->p++;
	buf_init(&out);
	while (e >= 0 && *r->p && *r->p != quote) {
		if (*r->p != '\\' || quote == '`') {
			buf_putc(&out, *r->p++);
		} else {
			r->p++;
			e = take_escape(r, &out);
		}
	}
	if (e < 0)
		return e;
	if (!*r->p)
		return refuse(r, "a closing quote");
	r->p++;
	*ret = arena_copy(&r->s->bytes, out.data, out.size);
	return 0;
}

/* --- Matchers --- */

static size_t name_size(const char *p, bool with_colon)
{
	size_t n = 0;

	while (isalpha((unsigned char)p[n]) || p[n] == '_' || (with_colon && p[n] == ':') || (n && isdigit((unsigned char)p[n])))
		n++;
	return n;
}

static int add(struct reader *r, struct matcher m, bool is_pattern)
{
	int e = 0;

	if (r->s->count == SELECTOR_MATCHERS)
		return err_set(r->err, -EINVAL, "a selector may have %u matchers", SELECTOR_MATCHERS);
	if (is_pattern)
		e = pattern_new(m.value, &m.pattern, r->err);
	if (e >= 0)
		r->s->items[r->s->count++] = m;
	return e;
}

static int take_matcher(struct reader *r)
{
	struct matcher m = { 0 };
	size_t n = name_size(r->p, false);
	bool quoted = !n, is_pattern;
	int e = 0;

	if (n)
		m.label = arena_copy(&r->s->bytes, r->p, n);
	else
		e = take_text(r, &m.label);
	if (e < 0)
		return e;
	r->p += n;
	skip_blanks(r);
	if (quoted && (*r->p == ',' || *r->p == '}'))
		return add(r, (struct matcher){ .label = "__name__", .value = m.label }, false);
	if (*r->p != '=' && !(*r->p == '!' && (r->p[1] == '=' || r->p[1] == '~')))
		return refuse(r, "=, !=, =~ or !~");
	m.negated = *r->p == '!';
	is_pattern = r->p[1] == '~';
	r->p += 1 + (m.negated || is_pattern);
	skip_blanks(r);
	e = take_text(r, &m.value);
	return e < 0 ? e : add(r, m, is_pattern);
}

static int take_matchers(struct reader *r)
{
	int e = 0;

	r->p++;
	skip_blanks(r);
	while (e >= 0 && *r->p != '}') {
		e = take_matcher(r);
		skip_blanks(r);
		if (e >= 0 && *r->p != ',' && *r->p != '}')
			return refuse(r, "a comma or }");
		if (e >= 0 && *r->p == ',') {
			r->p++;
			skip_blanks(r);
		}
	}
	r->p += e >= 0;
	return e;
}

int selector_add(struct selector *s, const char *text, struct err *err)
{
	struct reader r = { text, text, s, err };
	size_t n;
	int e = 0;

	skip_blanks(&r);
	n = name_size(r.p, true);
	if (n) {
		e = add(&r, (struct matcher){ .label = "__name__", .value = arena_copy(&s->bytes, r.p, n) }, false);
		r.p += n;
		skip_blanks(&r);
	}
	if (e >= 0 && *r.p == '{')
		e = take_matchers(&r);
	skip_blanks(&r);
	return e >= 0 && *r.p ? refuse(&r, "its end") : e;
}

/* --- Matching --- */

bool matcher_holds(const struct matcher *m, const char *value)
{
	bool is = m->pattern ? pattern_matches(m->pattern, value) : !strcmp(m->value, value);

	return is != m->negated;
}

bool selector_has(const struct selector *s, const char *label)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->items[i].label, label))
			return true;
	return false;
}

bool selector_takes(const struct selector *s, const char *label, const char *value)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->items[i].label, label) && !matcher_holds(&s->items[i], value))
			return false;
	return true;
}

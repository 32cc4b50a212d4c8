/* code_name.c: extracts paths and lines from names. */

#include "code_name.h"

#include "text.h"

#include <ctype.h>
#include <string.h>

#define EVAL " : eval()'d code"

/* Prefixes of a path within a name. xhprof keeps only the last two parts of paths, so a path after these may begin
 * without a slash. */
static const char *const marks[] = { "compile ", "run_init::", "load::", "eval::", "{closure}::" };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t digits(struct str s, size_t at)
{
	size_t n = 0;

	while (at + n < s.n && is_digit(s.p[at + n]))
		n++;
	return n;
}

bool code_name_is_closure(struct str name)
{
	return text_has(name, "{closure");
}

/* Returns the size of a line number at `at`, 0 if there is none: "(41)" before the end of a closure or eval, ":41"
 * before the end of a closure, ":41$0" in an anonymous class, "/3-5" or "/3" after a closure. */
static size_t line_at(struct str s, size_t at, bool closure, size_t *ret_number)
{
	size_t n = strchr("(:/", s.p[at]) && s.p[at] ? digits(s, at + 1) : 0, end = at + 1 + n;
	struct str rest;

	*ret_number = at + 1;
	if (!n)
		return 0;
	rest = (struct str){ s.p + end, s.n - end };
	if (s.p[at] == '(')
		return text_starts(rest, ")}") || text_starts(rest, ")#") || text_starts(rest, ")" EVAL) ? n + 2 : 0;
	if (s.p[at] == ':' && text_starts(rest, "$")) {
		while (end + 1 < s.n && isxdigit((unsigned char)s.p[end + 1]))
			end++;
		return end + 1 - at;
	}
	if (s.p[at] == ':')
		return text_starts(rest, "}") || text_starts(rest, "#") ? n + 1 : 0;
	if (s.p[at] != '/' || !closure)
		return 0;
	if (rest.n > 1 && rest.p[0] == '-')
		n += 1 + digits(s, end + 1);
	return at + 1 + n == s.n ? n + 1 : 0;
}

/* Skips the scheme of a stream, as in "phar:///srv/shop.phar/cart.php", which belongs to the name rather than the
 * path. */
static size_t behind_scheme(struct str name, size_t at)
{
	size_t i = at;

	while (i < name.n && (isalnum((unsigned char)name.p[i]) || strchr("+-.", name.p[i])) && name.p[i])
		i++;
	return i > at && text_starts((struct str){ name.p + i, name.n - i }, "://") ? i + 3 : at;
}

/* Returns the start of the absolute path at `at`, SIZE_MAX if there is none. */
static size_t absolute_path(struct str name, size_t at)
{
	size_t begin = at < name.n ? behind_scheme(name, at) : at;

	return begin < name.n && name.p[begin] == '/' ? begin : SIZE_MAX;
}

static size_t path_of_closure(struct str name)
{
	static const char mark[] = "{closure:";
	const size_t n = strlen(mark);
	size_t begin = SIZE_MAX;

	for (const char *at = name.p, *end = name.p + name.n;
	     begin == SIZE_MAX && (at = memmem(at, (size_t)(end - at), mark, n)); at += n)
		begin = absolute_path(name, (size_t)(at - name.p) + n);
	return begin;
}

static size_t path_begin(struct str name)
{
	size_t begin = absolute_path(name, 0);
	const char *at;

	if (begin != SIZE_MAX)
		return begin;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (text_starts(name, marks[i]))
			return behind_scheme(name, strlen(marks[i]));
	begin = path_of_closure(name);
	if (begin != SIZE_MAX)
		return begin;
	/* One byte precedes the path: a NUL unless a format could not store it. */
	at = memmem(name.p, name.n, "@anonymous", 10);
	return at ? absolute_path(name, (size_t)(at - name.p) + 11) : SIZE_MAX;
}

struct str code_name_path(struct str name)
{
	size_t begin = path_begin(name), end, number;
	bool closure = code_name_is_closure(name);

	if (begin == SIZE_MAX)
		return (struct str){ name.p, 0 };
	for (end = begin; end < name.n && !line_at(name, end, closure, &number); end++)
		;
	return (struct str){ name.p + begin, end - begin };
}

void code_name_put(struct buf *b, struct str name, struct str path, uint32_t *ret_line)
{
	struct str own = code_name_path(name);
	bool closure = code_name_is_closure(name);
	size_t number, n;

	*ret_line = 0;
	for (size_t i = 0; i < name.n;) {
		if (own.n && name.p + i == own.p) {
			buf_put(b, path.p, path.n);
			i += own.n;
			continue;
		}
		n = line_at(name, i, closure, &number);
		if (!n) {
			buf_putc(b, name.p[i++]);
			continue;
		}
		/* A line has at most ten digits. */
		for (*ret_line = 0; number < name.n && is_digit(name.p[number]); number++)
			*ret_line = *ret_line * 10 + (uint32_t)(name.p[number] - '0');
		i += n;
	}
}

static size_t hash_at(struct str s, size_t at)
{
	size_t n = 0, numbers = 0;

	for (; at + n < s.n && isxdigit((unsigned char)s.p[at + n]) && !isupper((unsigned char)s.p[at + n]); n++)
		numbers += is_digit(s.p[at + n]);
	return n >= 8 && numbers ? n : 0;
}

bool code_name_put_generated(struct buf *b, struct str name)
{
	bool any = false;

	for (size_t i = 0, n; i < name.n; i += n ? n : 1) {
		/* Must not continue a word. */
		n = i && isalnum((unsigned char)name.p[i - 1]) ? 0 : hash_at(name, i);
		buf_putc(b, n ? '*' : name.p[i]);
		any |= n > 0;
	}
	return any;
}

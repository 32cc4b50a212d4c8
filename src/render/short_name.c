/* short_name.c: shortens names by their namespace, folder and class, in this order. */
#include "short_name.h"

#include "text.h"

#include <string.h>

static struct str behind_last(struct str s, char c)
{
	const char *at = s.n ? memrchr(s.p, c, s.n) : NULL;

	return at ? (struct str){ at + 1, (size_t)(s.p + s.n - at) - 1 } : s;
}

/* Removes everything up to the last "::", unless the name begins with it. */
static struct str without_class(struct str s)
{
	for (size_t i = s.n < 2 ? 0 : s.n - 2; i > 0; i--)
		if (s.p[i] == ':' && s.p[i + 1] == ':')
			return (struct str){ s.p + i + 2, s.n - i - 2 };
	return (struct str){ NULL, 0 };
}

/* `at` is the position of "{closure:" in the name. */
static bool put_closure(struct str name, const char *at, unsigned number, struct buf *out)
{
	static const size_t n = sizeof("{closure:") - 1;
	struct str scope = { name.p, (size_t)(at - name.p) }, place = { at + n, name.n - scope.n - n };

	if (number > 3)
		return false;
	if (number == 3) {
		buf_puts(out, "closure");
		return true;
	}
	place.n -= place.n > 0;		/* the brace */
	scope = behind_last(scope, '\\');
	place = behind_last(place, '/');
	if (number == 1)
		buf_put(out, scope.p, scope.n);
	buf_puts(out, "{closure ");
	buf_put(out, place.p, place.n);
	buf_putc(out, '}');
	return true;
}

bool short_name_put(struct str name, unsigned number, struct buf *out)
{
	const char *closure = name.n ? memmem(name.p, name.n, "{closure:", 9) : NULL;
	struct str s = name;

	if (number > 0 && closure)
		return put_closure(name, closure, number, out);
	if (number > 0)
		s = behind_last(name, text_starts(name, "/") ? '/' : '\\');
	if (number > 1)
		s = number > 2 || text_starts(name, "/") ? (struct str){ NULL, 0 } : without_class(s);
	if (!s.p)
		return false;
	buf_put(out, s.p, s.n);
	return true;
}

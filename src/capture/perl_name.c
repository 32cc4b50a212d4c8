/* perl_name.c: names of Perl's frames. */

#include "perl_name.h"

#include "stack_registry.h"
#include "text.h"

#include <string.h>

struct str perl_file_name(const struct function_event *e)
{
	struct str file = { e->file, strnlen(e->file, FILE_SIZE) };

	return text_starts(file, "(eval ") ? (struct str){ "(eval)", 6 } : file;
}

static bool is_utf8(struct str s)
{
	uint32_t c;

	for (size_t i = 0, n; i < s.n; i += n)
		if (!(n = text_decode(s.p + i, s.p + s.n, &c)))
			return false;
	return true;
}

/* Perl stores names without characters above U+00FF in Latin-1, even those from a source in UTF-8. */
static void put_name(const char *name, struct buf *out)
{
	struct str s = { name, strnlen(name, NAME_SIZE) };

	if (is_utf8(s)) {
		buf_put(out, s.p, s.n);
		return;
	}
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c >= 0x80)
			buf_putc(out, (char)(0xc0 | c >> 6));
		buf_putc(out, c < 0x80 ? (char)c : (char)(0x80 | (c & 0x3f)));
	}
}

static void put_sub(const struct function_event *e, struct buf *out)
{
	struct str name = { e->name, strnlen(e->name, NAME_SIZE) }, file = perl_file_name(e);

	if (*e->scope) {
		put_name(e->scope, out);
		buf_puts(out, "::");
	}
	put_name(e->name, out);
	if (!text_is(name, "__ANON__") || !file.n)
		return;
	buf_printf(out, "[%.*s", (int)file.n, file.p);
	if (e->line_start)		/* code inside a regular expression has no statement */
		buf_printf(out, ":%u", e->line_start);
	buf_putc(out, ']');
}

void perl_put_name(const struct function_event *e, struct buf *out)
{
	struct str file = perl_file_name(e);

	if (e->unreadable) {
		buf_puts(out, STACK_REGISTRY_UNKNOWN_PERL);
		return;
	}
	switch (e->kind) {
	case PERL_SUB:
		put_sub(e, out);
		break;
	case PERL_FORMAT:
		put_sub(e, out);
		buf_puts(out, " (format)");
		break;
	case PERL_EVAL:
		buf_puts(out, "(eval)");
		break;
	case PERL_REQUIRE:
		buf_printf(out, "require %.*s", (int)NAME_SIZE, e->name);
		break;
	case PERL_FILE:
		buf_put(out, file.p, file.n);
		break;
	}
}

/* php_ini.c: parses the lines of an ini file. */
#include "php_ini.h"

#include "buf.h"
#include "mem.h"

#include <string.h>
#include <strings.h>

struct reader {
	const char *p, *end;
	unsigned line;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct reader *r)
{
	while (r->p < r->end && is_blank(*r->p))
		r->p++;
}

static void skip_line(struct reader *r)
{
	const char *stop = memchr(r->p, '\n', (size_t)(r->end - r->p));

	r->p = stop ? stop + 1 : r->end;
	r->line++;
}

/* Reads up to one of `stops` or the end of the line, and trims blanks. */
static char *take_until(struct reader *r, const char *stops)
{
	const char *start, *stop;

	skip_blanks(r);
	start = r->p;
	while (r->p < r->end && *r->p != '\n' && !(*r->p && strchr(stops, *r->p)))
		r->p++;
	for (stop = r->p; stop > start && is_blank(stop[-1]); stop--)
		;
	return xstrndup(start, (size_t)(stop - start));
}

/* In double quotes a backslash escapes a quote; quoted text may span lines. */
static char *take_quoted(struct reader *r, char quote)
{
	struct buf b;

	buf_init(&b);
	for (r->p++; r->p < r->end && *r->p != quote; r->p++) {
		if (*r->p == '\n')
			r->line++;
		if (quote == '"' && *r->p == '\\' && r->p + 1 < r->end && (r->p[1] == '"' || r->p[1] == '\\'))
			r->p++;
		buf_putc(&b, *r->p);
	}
	r->p += r->p < r->end;
	return buf_take(&b, NULL);
}

static char *as_word(char *value)
{
	static const char *const on[] = { "on", "yes", "true", NULL }, *const off[] = { "off", "no", "false", "none", "null", NULL };

	for (size_t i = 0; on[i]; i++)
		if (!strcasecmp(value, on[i]))
			strcpy(value, "1");
	for (size_t i = 0; off[i]; i++)
		if (!strcasecmp(value, off[i]))
			*value = '\0';
	return value;
}

static char *take_value(struct reader *r)
{
	skip_blanks(r);
	if (r->p < r->end && (*r->p == '"' || *r->p == '\''))
		return take_quoted(r, *r->p);
	return as_word(take_until(r, ";"));
}

static void read_setting(struct reader *r, const char *section, void (*each)(const struct php_ini_line *l, void *data), void *data)
{
	_cleanup_(freep) char *name = take_until(r, "=[;"), *key = NULL, *value = NULL;
	struct php_ini_line l = { .section = section, .name = name, .key = "", .line = r->line };

	if (r->p < r->end && *r->p == '[') {
		r->p++;
		l.key = key = take_until(r, "]");
		r->p += r->p < r->end && *r->p == ']';
		skip_blanks(r);
	}
	if (r->p < r->end && *r->p == '=' && *name) {
		r->p++;
		l.value = value = take_value(r);
		each(&l, data);
	}
	skip_line(r);
}

void php_ini_parse(const char *bytes, size_t n, void (*each)(const struct php_ini_line *l, void *data), void *data)
{
	struct reader r = { .p = bytes, .end = bytes + n, .line = 1 };
	_cleanup_(freep) char *section = xstrdup("");

	while (r.p < r.end) {
		skip_blanks(&r);
		if (r.p >= r.end)
			break;
		if (*r.p == '[') {
			r.p++;
			free(section);
			section = take_until(&r, "]");
			skip_line(&r);
		} else if (*r.p == ';' || *r.p == '\n') {
			skip_line(&r);
		} else {
			read_setting(&r, section, each, data);
		}
	}
}

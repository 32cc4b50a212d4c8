/* log_name.c: splits strftime formats into parts, and matches names against them. */
#include "log_name.h"

#include "buf.h"
#include "mem.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#define FLAGS "-_0^#"

enum part_kind { LITERAL, DIGIT, DIGIT_OR_SPACE, LETTER };

/* The output of each conversion in the C locale. */
static const struct conversion {
	char name;
	enum part_kind kind;
	unsigned char min, max;
} conversions[] = {
	{ 'Y', DIGIT, 4, 4 }, { 'C', DIGIT, 2, 2 }, { 'y', DIGIT, 2, 2 }, { 'G', DIGIT, 4, 4 }, { 'g', DIGIT, 2, 2 },
	{ 'm', DIGIT, 2, 2 }, { 'd', DIGIT, 2, 2 }, { 'j', DIGIT, 3, 3 }, { 'u', DIGIT, 1, 1 }, { 'w', DIGIT, 1, 1 },
	{ 'U', DIGIT, 2, 2 }, { 'V', DIGIT, 2, 2 }, { 'W', DIGIT, 2, 2 },
	{ 'H', DIGIT, 2, 2 }, { 'I', DIGIT, 2, 2 }, { 'M', DIGIT, 2, 2 }, { 'S', DIGIT, 2, 2 },
	{ 'e', DIGIT_OR_SPACE, 2, 2 }, { 'k', DIGIT_OR_SPACE, 2, 2 }, { 'l', DIGIT_OR_SPACE, 2, 2 },
	{ 'a', LETTER, 3, 3 }, { 'A', LETTER, 6, 9 }, { 'b', LETTER, 3, 3 }, { 'B', LETTER, 3, 9 },
	{ 'p', LETTER, 2, 2 }, { 'P', LETTER, 2, 2 },
};

/* Composite directives. Python has no zone for utcnow(), and writes nothing for it. */
static const struct { char name; const char *expansion; } composites[] = {
	{ 'F', "%Y-%m-%d" }, { 'T', "%H:%M:%S" }, { 'X', "%H:%M:%S" }, { 'R', "%H:%M" }, { 'r', "%I:%M:%S %p" },
	{ 'c', "%a %b %e %H:%M:%S %Y" }, { 'h', "%b" }, { 'D', "%m/%d/%y" }, { 'x', "%m/%d/%y" },
	{ 'n', "\n" }, { 't', "\t" }, { 'z', "" }, { 'Z', "" },
};

/* --- The format --- */

static int add_part(struct log_name *n, struct log_name_part part, struct err *err)
{
	unsigned bytes = part.max;

	for (unsigned i = 0; i < n->count; i++)
		bytes += n->parts[i].max;
	if (bytes > LOG_TIME_MAX)
		return err_set(err, -EINVAL, "its names are longer than %u bytes; shorten it", LOG_TIME_MAX);
	n->parts[n->count++] = part;
	return 0;
}

static int add_literal(struct log_name *n, struct buf *plain, char c, struct err *err)
{
	if (c == '/')
		return err_set(err, -EINVAL, "its names contain '/', but a log is one file in the directory of "
					     "its period; use - or _ instead");
	if ((unsigned char)c < ' ' || c == 127)
		return err_set(err, -EINVAL, "its names contain a control character; remove it");
	if (c == '.' && !n->count)
		return err_set(err, -EINVAL, "its names begin with '.', which hides the files; begin with the year");
	buf_puts(plain, c == '%' ? "%%" : (char[]){ c, 0 });
	return add_part(n, (struct log_name_part){ LITERAL, (unsigned char)c, 1, 1 }, err);
}

static int add_conversion(struct log_name *n, struct buf *plain, const char *flags, size_t flag_count, char name,
			  struct err *err)
{
	struct log_name_part part = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(conversions); i++)
		if (conversions[i].name == name)
			part = (struct log_name_part){ (unsigned char)conversions[i].kind, 0, conversions[i].min,
				conversions[i].max };
	if (!part.max)
		return err_set(err, -EINVAL, "unknown conversion %%%.*s%c; use conversions such as %%Y, %%m, %%d, %%H",
			       (int)flag_count, flags, name);
	if (part.kind != LETTER && memchr(flags, '-', flag_count))
		part.min = 1;
	if (part.kind != LETTER && memchr(flags, '_', flag_count))
		part.kind = DIGIT_OR_SPACE;
	buf_putc(plain, '%');
	buf_put(plain, flags, flag_count);
	buf_putc(plain, name);
	return add_part(n, part, err);
}

static const char *composite(char name)
{
	for (size_t i = 0; i < ARRAY_SIZE(composites); i++)
		if (composites[i].name == name)
			return composites[i].expansion;
	return NULL;
}

static int add_format(struct log_name *n, struct buf *plain, const char *format, struct err *err)
{
	int r = 0;

	for (const char *p = format; *p && r >= 0; p++) {
		const char *flags = p + 1, *inner;
		size_t flag_count;

		if (*p != '%') {
			r = add_literal(n, plain, *p, err);
			continue;
		}
		flag_count = strspn(flags, FLAGS);
		p = flags + flag_count;
		p += *p == 'E' || *p == 'O';		/* alternative digits and eras, absent in the C locale */
		inner = flag_count ? NULL : composite(*p);
		if (!*p)
			return err_set(err, -EINVAL, "it ends with a lone %%");
		if (*p == '%')
			r = add_literal(n, plain, '%', err);
		else if (inner)
			r = add_format(n, plain, inner, err);
		else
			r = add_conversion(n, plain, flags, flag_count, *p, err);
	}
	return r;
}

int log_name_init(struct log_name *n, const char *format, struct err *err)
{
	_cleanup_(buf_done) struct buf plain = { 0 };
	int r;

	memset(n, 0, sizeof(*n));
	buf_init(&plain);
	r = add_format(n, &plain, format, err);
	if (r >= 0 && !n->count)
		r = err_set(err, -EINVAL, "its names are empty; use conversions such as %%Y, %%m, %%d, %%H");
	n->format = buf_take(&plain, NULL);
	return r;
}

void log_name_done(struct log_name *n)
{
	free(n->format);
	n->format = NULL;
}

size_t log_name_time(const struct log_name *n, int64_t seconds, char out[LOG_TIME_MAX + 1])
{
	time_t t = (time_t)seconds;
	struct tm tm;
	size_t length;

	gmtime_r(&t, &tm);
	length = strftime(out, LOG_TIME_MAX + 1, n->format, &tm);
	assert(length);
	return length;
}

/* --- Names --- */

static bool fits(struct log_name_part part, char c)
{
	switch ((enum part_kind)part.kind) {
	case DIGIT_OR_SPACE:
		if (c == ' ')
			return true;
		/* fall through */
	case DIGIT:
		return c >= '0' && c <= '9';
	case LETTER:
		return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
	case LITERAL:
		break;
	}
	return (unsigned char)c == part.literal;
}

/* Finds where a time of this format may end in `p`: ends[i] is true if it can be the first i bytes. All alternatives
 * are followed at once, so the cost is at most the name's length for each part. */
static void find_ends(const struct log_name *n, const char *p, size_t size, bool ends[LOG_TIME_MAX + 1])
{
	bool next[LOG_TIME_MAX + 1];

	if (size > LOG_TIME_MAX)
		size = LOG_TIME_MAX;
	memset(ends, 0, LOG_TIME_MAX + 1);
	ends[0] = true;
	for (unsigned k = 0; k < n->count; k++) {
		struct log_name_part part = n->parts[k];

		memset(next, 0, sizeof(next));
		for (size_t i = 0; i < size; i++)
			for (size_t length = 1; ends[i] && i + length <= size && length <= part.max &&
			     fits(part, p[i + length - 1]); length++)
				if (length >= part.min)
					next[i + length] = true;
		memcpy(ends, next, sizeof(next));
	}
}

static bool is_tag(const char *p, size_t n)
{
	if (n == 0 || n > LOG_TAG_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!((p[i] >= 'A' && p[i] <= 'Z') || (p[i] >= 'a' && p[i] <= 'z') || (p[i] >= '0' && p[i] <= '9') ||
		      p[i] == '.' || p[i] == '_' || p[i] == '-'))
			return false;
	return true;
}

/* Returns the length of the name without its ending, 0 if it has none. */
static size_t stem(const char *file)
{
	static const char *const endings[] = { ".log", ".log.gz", ".log.zst" };
	size_t n = strlen(file), ending;

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		ending = strlen(endings[i]);
		if (n > ending && !memcmp(file + n - ending, endings[i], ending))
			return n - ending;
	}
	return 0;
}

size_t log_name_tags(const struct log_name *n, const char *file, struct str ret[LOG_NAME_TAGS])
{
	bool ends[LOG_TIME_MAX + 1];
	size_t length = stem(file), count = 0;

	if (!length || !fits(n->parts[0], *file))
		return 0;
	find_ends(n, file, length, ends);
	for (size_t i = 1; i < length && i <= LOG_TIME_MAX && count < LOG_NAME_TAGS; i++)
		if (ends[i] && file[i] == '.' && is_tag(file + i + 1, length - i - 1))
			ret[count++] = (struct str){ file + i + 1, length - i - 1 };
	return count;
}

static bool is(const char *bytes, size_t n, const char *word)
{
	return n == strlen(word) && !memcmp(bytes, word, n);
}

bool log_tag_is_fit(const char *bytes, size_t n)
{
	static const char reversed[] = ".reversed";
	const size_t ending = sizeof(reversed) - 1;

	if (!is_tag(bytes, n) || is(bytes, n, ".") || is(bytes, n, "..") || is(bytes, n, "all") ||
	    is(bytes, n, "other"))
		return false;
	return !memmem(bytes, n, ".fn-", 4) && !(n >= ending && !memcmp(bytes + n - ending, reversed, ending));
}

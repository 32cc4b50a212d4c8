/* text_case.c: case-insensitive search in text. */
#include "text.h"

#include <locale.h>
#include <pthread.h>
#include <wctype.h>

/* The program's own locale is not changed: numbers and messages depend on it. */
static locale_t unicode;

static void open_unicode(void)
{
	unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

bool text_is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			return false;
	return true;
}

/* Reads one code point in lower case, or one invalid byte, which equals no letter. */
static uint32_t next_small(const char **p, const char *end)
{
	uint32_t c;
	unsigned n = text_decode(*p, end, &c);

	if (!n)
		c = 0x110000 + (unsigned char)**p;
	*p += n ? n : 1;
	return n && unicode ? (uint32_t)towlower_l((wint_t)c, unicode) : c;
}

static bool starts_with(const char *text, const char *text_end, const char *part, const char *part_end)
{
	while (part < part_end)
		if (text == text_end || next_small(&text, text_end) != next_small(&part, part_end))
			return false;
	return true;
}

bool text_has_in_any_case(const char *text, const char *part)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const char *end, *part_end = part + strlen(part);

	if (text_is_ascii(part))
		return strcasestr(text, part) != NULL;
	pthread_once(&once, open_unicode);
	for (end = text + strlen(text); text < end; next_small(&text, end))
		if (starts_with(text, end, part, part_end))
			return true;
	return false;
}

/* err.c: error messages; one that does not fit is truncated, never lost. */
#include "err.h"
#include "buf.h"
#include "secrets.h"
#include "text.h"
#include <assert.h>
#include <stdarg.h>
#include <string.h>

/* A quoted name may be cut in the middle of a character: removes the incomplete one. */
static void drop_partial_character(char *text)
{
	size_t n = strlen(text), i = n;

	while (i > 0 && n - i < 3 && ((unsigned char)text[i - 1] & 0xc0) == 0x80)
		i--;
	if (i > 0 && (unsigned char)text[i - 1] >= 0xc0) {
		uint32_t c;

		if (text_decode(text + i - 1, text + n, &c) != n - i + 1)
			text[i - 1] = 0;
	}
}

/* Quoted text may come from anywhere: it must not control a terminal, and sentences contain no newlines and no
 * passwords. */
static void make_plain(struct err *err)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	secrets_redact(err->text, sizeof(err->text));
	text_put_plain(&b, (struct str){ err->text, strlen(err->text) });
	snprintf(err->text, sizeof(err->text), "%s", b.data);
	drop_partial_character(err->text);
}

int err_set(struct err *err, int code, const char *format, ...)
{
	va_list ap;
	int n;

	assert(code < 0);
	if (!err)
		return code;
	err->code = code;
	err->option = err->item = NULL;
	va_start(ap, format);
	n = vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	if (n < 0)
		err->text[0] = 0;
	else if ((size_t)n >= sizeof(err->text))
		drop_partial_character(err->text);
	make_plain(err);
	return code;
}

int err_prefix(struct err *err, const char *format, ...)
{
	char before[sizeof(err->text) / 2];
	size_t n;
	va_list ap;

	if (!err)
		return -EIO;
	va_start(ap, format);
	if (vsnprintf(before, sizeof(before), format, ap) < 0)
		before[0] = 0;
	va_end(ap);
	drop_partial_character(before);
	n = strlen(before);
	memmove(err->text + n + 2, err->text, sizeof(err->text) - n - 2);
	err->text[sizeof(err->text) - 1] = 0;
	memcpy(err->text, before, n);
	memcpy(err->text + n, ": ", 2);
	drop_partial_character(err->text);
	make_plain(err);
	return err->code;
}

int err_about(struct err *err, const char *option, const char *item)
{
	if (!err)
		return -EIO;
	err->option = option;
	err->item = item;
	return err->code;
}

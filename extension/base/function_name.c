/* function_name.c: writes the names of functions. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "function_name.h"

struct cursor {
	char *p;
	size_t left;
};

static void put(struct cursor *c, const char *bytes, size_t n)
{
	if (n > c->left)
		n = c->left;
	memcpy(c->p, bytes, n);
	c->p += n;
	c->left -= n;
}

static void put_number(struct cursor *c, uint32_t v)
{
	char digits[10];
	size_t n = sizeof(digits);

	do
		digits[--n] = (char)('0' + v % 10);
	while (v /= 10);
	put(c, digits + n, sizeof(digits) - n);
}

size_t text_class_length(const zend_class_entry *ce)
{
	return ce->ce_flags & ZEND_ACC_ANON_CLASS ? strlen(ZSTR_VAL(ce->name)) : ZSTR_LEN(ce->name);
}

static void put_class(struct cursor *c, const zend_class_entry *scope)
{
	if (!scope)
		return;
	put(c, ZSTR_VAL(scope->name), text_class_length(scope));
	put(c, ZEND_STRL("::"));
}

size_t text_function(const struct function_id *f, char *out, size_t size)
{
	struct cursor c = { out, size };

	if (!f->name && !f->file) {
		put(&c, ZEND_STRL("[elided]"));
	} else if (!f->name) {
		put(&c, ZSTR_VAL(f->file), ZSTR_LEN(f->file));
	} else if (f->closure && f->file) {
		put_class(&c, f->scope);
		put(&c, ZEND_STRL("{closure:"));
		put(&c, ZSTR_VAL(f->file), ZSTR_LEN(f->file));
		put(&c, ZEND_STRL("("));
		put_number(&c, f->line);
		put(&c, ZEND_STRL(")"));
		if (f->order) {
			put(&c, ZEND_STRL("#"));
			put_number(&c, f->order);
		}
		put(&c, ZEND_STRL("}"));
	} else {
		put_class(&c, f->scope);
		put(&c, ZSTR_VAL(f->name), ZSTR_LEN(f->name));
	}
	return size - c.left;
}

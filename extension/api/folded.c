/* folded.c: folded stacks. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "tree_export.h"
#include "tree_walk.h"

#include "zend_smart_str.h"

struct folded {
	zend_string **names;
	smart_str text;
};

static void add_stack(void *data, const uint32_t *functions, size_t depth, const int64_t *values)
{
	struct folded *f = data;

	if (values[0] <= 0)
		return;
	for (size_t i = 0; i < depth; i++) {
		if (i)
			smart_str_appendc(&f->text, ';');
		smart_str_append(&f->text, f->names[functions[i]]);
	}
	smart_str_appendc(&f->text, ' ');
	smart_str_append_long(&f->text, values[0]);
	smart_str_appendc(&f->text, '\n');
}

static void clean(zend_string *s)
{
	for (size_t i = 0; i < ZSTR_LEN(s); i++)
		if (memchr(";\n\r", ZSTR_VAL(s)[i], 4))
			ZSTR_VAL(s)[i] = '_';
}

zend_string *export_folded(const struct call_tree *t, int metric)
{
	struct folded f = { .names = names_new(t) };
	const struct stack_visitor v = { &metric, 1, add_stack };

	for (uint32_t i = 0; i < t->function_count; i++)
		clean(f.names[i]);
	stacks_walk(t, &v, &f);
	names_free(f.names, t);
	return smart_str_extract(&f.text);
}

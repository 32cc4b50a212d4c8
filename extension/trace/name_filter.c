/* name_filter.c: matches names against patterns. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "name_filter.h"
#include "strobe_assert.h"

#include <stdlib.h>

#define CLOSURE "{closure}"

struct pattern {
	struct pattern *next;
	size_t n;
	char bytes[];			/* in lower case */
};

struct name_filter {
	struct pattern *included, *excluded;
};

bool name_filter_add(struct name_filter **f, bool include, const char *pattern, size_t n)
{
	struct pattern *p, **list;

	if (!*f)
		*f = calloc(1, sizeof(**f));
	if (!*f)
		return false;
	if (n && *pattern == '\\') {
		pattern++;
		n--;
	}
	p = malloc(sizeof(*p) + n);
	if (!p)
		return false;
	list = include ? &(*f)->included : &(*f)->excluded;
	p->n = n;
	for (size_t i = 0; i < n; i++)
		p->bytes[i] = zend_tolower_ascii(pattern[i]);
	p->next = *list;
	*list = p;
	return true;
}

static void free_list(struct pattern *p)
{
	while (p) {
		struct pattern *next = p->next;

		free(p);
		p = next;
	}
}

void name_filter_free(struct name_filter *f)
{
	if (!f)
		return;
	free_list(f->included);
	free_list(f->excluded);
	free(f);
}

/* A name in up to three parts, which are not concatenated. */
struct name {
	const char *part[3];
	size_t n[3];
	size_t length;
};

static void append(struct name *name, const char *p, size_t n)
{
	size_t i = 0;

	while (name->n[i])
		i++;
	STROBE_ASSERT(i < sizeof(name->n) / sizeof(*name->n));
	name->part[i] = p;
	name->n[i] = n;
	name->length += n;
}

static char byte_at(const struct name *name, size_t at)
{
	size_t i = 0;

	STROBE_ASSERT(at < name->length);
	while (at >= name->n[i])
		at -= name->n[i++];
	return zend_tolower_ascii(name->part[i][at]);
}

/* On a mismatch after a star, lets the star match one more byte. */
static bool matches(const struct pattern *p, const struct name *name)
{
	size_t i = 0, k = 0, star = SIZE_MAX, left = 0;

	while (k < name->length) {
		if (i < p->n && p->bytes[i] == '*') {
			star = i++;
			left = k;
		} else if (i < p->n && p->bytes[i] == byte_at(name, k)) {
			i++;
			k++;
		} else if (star != SIZE_MAX) {
			i = star + 1;
			k = ++left;
		} else {
			return false;
		}
	}
	while (i < p->n && p->bytes[i] == '*')
		i++;
	return i == p->n;
}

static bool any_matches(const struct pattern *p, const struct name *name)
{
	for (; p; p = p->next)
		if (matches(p, name))
			return true;
	return false;
}

/* PHP calls closures "App\{closure}", and since 8.4 "{closure:App\main():12}" or "{closure:/srv/a.php:12}". */
static void append_namespace(struct name *name, const zend_string *closure)
{
	static const char begin[] = "{closure:";
	const char *p = ZSTR_VAL(closure), *end, *slash;

	if (strncmp(p, begin, sizeof(begin) - 1) == 0) {
		p += sizeof(begin) - 1;
		end = memchr(p, '(', ZSTR_LEN(closure) - (sizeof(begin) - 1));
	} else {
		end = p + ZSTR_LEN(closure);
	}
	slash = end && *p != '/' ? zend_memrchr(p, '\\', (size_t)(end - p)) : NULL;
	if (slash)
		append(name, p, (size_t)(slash + 1 - p));
}

/* Names of anonymous classes end at a NUL, followed by their location. */
static struct name name_of(const struct call_function *id)
{
	struct name name = { .length = 0 };

	if (id->kind != CALL_FUNCTION) {
		append(&name, ZSTR_VAL(id->file), ZSTR_LEN(id->file));
		return name;
	}
	if (id->class_name) {
		append(&name, ZSTR_VAL(id->class_name), strlen(ZSTR_VAL(id->class_name)));
		append(&name, "::", 2);
	} else if (id->closure) {
		append_namespace(&name, id->name);
	}
	if (id->closure)
		append(&name, CLOSURE, sizeof(CLOSURE) - 1);
	else
		append(&name, ZSTR_VAL(id->name), ZSTR_LEN(id->name));
	return name;
}

bool name_filter_shows(const struct name_filter *f, const struct call_function *id)
{
	struct name name = name_of(id);

	return (!f->included || any_matches(f->included, &name)) && !any_matches(f->excluded, &name);
}

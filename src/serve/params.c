/* params.c: parses a query string, which is untrusted: see fuzz_params.c. */

#include "params.h"

#include "strobe_wire.h"
#include "text.h"

#include <stdbool.h>
#include <string.h>

/* Decodes in place. */
static int decode(char *text, size_t n, size_t *ret_n, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] == '+')
			text[i] = ' ';
	switch (text_unescape_url(text, n, ret_n)) {
	case 0:
		return 0;
	case -EILSEQ:
		return err_set(err, -EINVAL, "the address has a NUL byte (%%00) in a parameter");
	default:
		return err_set(err, -EINVAL, "the address has a %% that is not followed by two hexadecimal digits");
	}
}

static bool is_key(const char *key, size_t n)
{
	if ((n == 6 && !memcmp(key, "keep-i", n)) || (n == 8 && !memcmp(key, "remove-i", n)))
		return true;
	if (n > 5 && !memcmp(key, "base.", 5)) {
		key += 5;
		n -= 5;
	}
	if (n > 6 && !memcmp(key, "label.", 6)) {
		key += 6;
		n -= 6;
	}
	return n <= STROBE_WIRE_LABEL_KEY && strobe_wire_is_label_key((const uint8_t *)key, n);
}

/* Paths, names of functions and files, stack filters, other URLs, and the labels in the name of a push may be as long
 * as the whole query. */
static bool may_be_long(const char *key)
{
	static const char *const keys[] = { "zoom", "function", "function_file", "query", "name" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return !strncmp(key, "keep", 4) || !strncmp(key, "remove", 6);		/* with what follows of the operator */
}

/* Adds one "key=value" of `n` bytes. */
static int add_pair(struct params *p, const char *pair, size_t n, struct err *err)
{
	const char *equals = memchr(pair, '=', n);
	size_t key_size = equals ? (size_t)(equals - pair) : n, value_size = equals ? n - key_size - 1 : 0;
	char *key = arena_copy(&p->bytes, pair, key_size);
	char *value = arena_copy(&p->bytes, equals ? equals + 1 : "", value_size);
	int r;

	if (p->count == PARAMS_MAX)
		return err_set(err, -EINVAL, "the address has more than %u parameters", PARAMS_MAX);
	if ((r = decode(key, key_size, &key_size, err)) < 0 || (r = decode(value, value_size, &value_size, err)) < 0)
		return r;
	if (!is_key(key, key_size))
		return err_set(err, -EINVAL, "the address has an invalid parameter name; use letters, digits "
					     "and _, at most %u", STROBE_WIRE_LABEL_KEY);
	if (value_size > STROBE_WIRE_LABEL_VALUE + 2 && !may_be_long(key))
		return err_set(err, -EINVAL, "the value of '%s' is longer than %u bytes", key, STROBE_WIRE_LABEL_VALUE);

	p->items[p->count++] = (struct param){ key, value };
	return 0;
}

int params_parse(struct params *p, const char *query, struct err *err)
{
	p->count = 0;
	arena_init(&p->bytes);

	if (!query)
		return 0;
	if (strlen(query) > PARAMS_QUERY_MAX)
		return err_set(err, -EINVAL, "the address is longer than %u bytes", PARAMS_QUERY_MAX);

	while (*query) {
		size_t n = strcspn(query, "&");
		int r = n ? add_pair(p, query, n, err) : 0;

		if (r < 0)
			return r;
		query += n;
		query += *query == '&';
	}
	return 0;
}

void params_done(struct params *p)
{
	arena_done(&p->bytes);
	p->count = 0;
}

const char *params_get(const struct params *p, const char *key)
{
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->items[i].key, key) == 0)
			return p->items[i].value;
	return NULL;
}

/* labels.c: sets of labels. */

#include "labels.h"

#include "mem.h"
#include "text.h"

#include <assert.h>
#include <string.h>

void labels_init(struct labels *l)
{
	*l = (struct labels){ 0 };
}

void labels_done(struct labels *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free(l->items[i].key);
		free(l->items[i].value);
	}
	free(l->items);
	labels_init(l);
}

/* Returns the index of `key`, or where to insert it. */
static size_t find(const struct labels *l, const char *key, size_t n, bool *ret_found)
{
	size_t low = 0, high = l->count;

	*ret_found = false;
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strncmp(l->items[middle].key, key, n);

		if (order == 0 && l->items[middle].key[n])
			order = 1;
		if (order == 0) {
			*ret_found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void labels_set(struct labels *l, const char *key, size_t key_size, const char *value, size_t value_size)
{
	bool found;
	size_t i = find(l, key, key_size, &found);

	assert(key_size > 0 && !memchr(key, 0, key_size));
	value_size = strnlen(value, value_size);
	if (found) {
		free(l->items[i].value);
	} else {
		GROW(&l->items, &l->capacity, l->count + 1);
		memmove(l->items + i + 1, l->items + i, (l->count - i) * sizeof(*l->items));
		l->items[i].key = xstrndup(key, key_size);
		l->count++;
	}
	l->items[i].value = xstrndup(value, value_size);
	assert((!i || strcmp(l->items[i - 1].key, l->items[i].key) < 0) &&
	       (i + 1 == l->count || strcmp(l->items[i].key, l->items[i + 1].key) < 0));
}

const char *labels_get(const struct labels *l, const char *key)
{
	bool found;
	size_t i = find(l, key, strlen(key), &found);

	return found ? l->items[i].value : NULL;
}

void labels_copy(struct labels *to, const struct labels *from)
{
	struct labels copy = { 0 };

	for (size_t i = 0; i < from->count; i++)
		labels_set(&copy, from->items[i].key, strlen(from->items[i].key), from->items[i].value,
			   strlen(from->items[i].value));
	labels_done(to);
	*to = copy;
}

void labels_keep_common(struct labels *l, const struct labels *other)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++) {
		const char *value = labels_get(other, l->items[i].key);

		if (value && strcmp(value, l->items[i].value) == 0) {
			l->items[kept++] = l->items[i];
		} else {
			free(l->items[i].key);
			free(l->items[i].value);
		}
	}
	l->count = kept;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c != 0x7f && c != '%' && c != ',' && c != '=';
}

static void put_value(struct buf *out, const char *value)
{
	static const char hex[] = "0123456789ABCDEF";

	for (;;) {
		const char *start = value;
		unsigned char c;

		while (is_plain((unsigned char)*value))
			value++;
		buf_put(out, start, (size_t)(value - start));
		c = (unsigned char)*value;
		if (!c)
			return;
		buf_putc(out, '%');
		buf_putc(out, hex[c >> 4]);
		buf_putc(out, hex[c & 15]);
		value++;
	}
}

bool label_is_of_runs(const char *key, size_t key_size)
{
	static const char *const ids[] = { "span_id", "trace_id", "profile_id" };

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		if (key_size == strlen(ids[i]) && !memcmp(key, ids[i], key_size))
			return true;
	return false;
}

void labels_put(const struct labels *l, struct buf *out)
{
	for (size_t i = 0; i < l->count; i++) {
		if (i)
			buf_putc(out, ',');
		buf_puts(out, l->items[i].key);
		buf_putc(out, '=');
		put_value(out, l->items[i].value);
	}
}

/* Appends [p, end) with %XX decoded. */
static void unescape(struct buf *out, const char *p, const char *end)
{
	while (p < end) {
		if (*p == '%' && end - p >= 3 && text_hex_digit(p[1]) >= 0 && text_hex_digit(p[2]) >= 0) {
			buf_putc(out, (char)(text_hex_digit(p[1]) << 4 | text_hex_digit(p[2])));
			p += 3;
		} else {
			buf_putc(out, *p++);
		}
	}
}

static bool is_key(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool letter = (p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z') || p[i] == '_';

		if (!letter && (i == 0 || p[i] < '0' || p[i] > '9'))
			return false;
	}
	return n > 0;
}

int labels_parse(const char *text, struct labels *ret, struct err *err)
{
	_cleanup_(labels_done) struct labels l = { 0 };

	/* People write "pool=api, deploy=7"; keys have no spaces, so leading ones are skipped. */
	for (text += strspn(text, ", "); *text; text += strspn(text, ", ")) {
		const char *end = text + strcspn(text, ",");
		const char *equals = memchr(text, '=', (size_t)(end - text));
		_cleanup_(buf_done) struct buf value = { 0 };

		if (!equals)
			return err_set(err, -EINVAL, "label '%.*s' has no '=': write key=value", (int)(end - text),
				       text);
		if (!is_key(text, (size_t)(equals - text)))
			return err_set(err, -EINVAL, "'%.*s' is not a label name: use letters, digits and _",
				       (int)(equals - text), text);
		buf_init(&value);
		unescape(&value, equals + 1, end);
		labels_set(&l, text, (size_t)(equals - text), value.data, value.size);
		text = end;
	}
	labels_done(ret);
	*ret = l;
	l = (struct labels){ 0 };
	return 0;
}

/* palette_map.c: maps names to colors, both as text: a color from a file may be any that SVG supports. */

#include "palette_map.h"

#include "mem.h"

#include <stdlib.h>
#include <string.h>

struct palette_map {
	struct intern names;
	struct str *colors;		/* by name */
	size_t capacity;
	struct arena memory;
};

struct palette_map *palette_map_new(void)
{
	struct palette_map *m = xcalloc(1, sizeof(*m));

	intern_init(&m->names);
	arena_init(&m->memory);
	return m;
}

struct palette_map *palette_map_free(struct palette_map *m)
{
	if (!m)
		return NULL;
	intern_done(&m->names);
	arena_done(&m->memory);
	free(m->colors);
	free(m);
	return NULL;
}

const struct str *palette_map_find(const struct palette_map *m, struct str name)
{
	uint32_t id = intern_find(&m->names, name.p, name.n);

	return id == UINT32_MAX ? NULL : &m->colors[id];
}

void palette_map_set(struct palette_map *m, struct str name, struct str color)
{
	uint32_t id = intern_add(&m->names, name.p, name.n);

	GROW(&m->colors, &m->capacity, (size_t)id + 1);
	m->colors[id] = (struct str){ arena_copy(&m->memory, color.p, color.n), color.n };
}

/* Recognizes "rgb(1,2,3)" and "#rrggbb": the forms that this program writes, and that people write by hand. */
static bool is_color(struct str s)
{
	if (s.n == 7 && *s.p == '#') {
		for (size_t i = 1; i < 7; i++)
			if (!memchr("0123456789abcdefABCDEF", s.p[i], 22))
				return false;
		return true;
	}
	if (s.n < 10 || memcmp(s.p, "rgb(", 4) || s.p[s.n - 1] != ')')
		return false;
	for (size_t i = 4; i < s.n - 1; i++)
		if (!memchr("0123456789, ", s.p[i], 12))
			return false;
	return true;
}

static bool divide_at_last(struct str line, struct str *ret_name, struct str *ret_color)
{
	for (size_t i = line.n; i >= 2; i--)
		if (line.p[i - 2] == '-' && line.p[i - 1] == '>') {
			*ret_name = (struct str){ line.p, i - 2 };
			*ret_color = (struct str){ line.p + i, line.n - i };
			return is_color(*ret_color);
		}
	return false;
}

static void divide_at_first(struct str line, struct str *ret_name, struct str *ret_color)
{
	const char *end = line.p + line.n, *arrow = memmem(line.p, line.n, "->", 2), *from, *second;

	*ret_name = (struct str){ line.p, arrow ? (size_t)(arrow - line.p) : line.n };
	*ret_color = (struct str){ "", 0 };
	if (!arrow)
		return;
	from = arrow + 2;
	second = memmem(from, (size_t)(end - from), "->", 2);
	*ret_color = (struct str){ from, (size_t)((second ? second : end) - from) };
}

size_t palette_map_read(struct palette_map *m, const char *bytes, size_t n, bool first)
{
	const char *end = bytes + n;
	size_t left_out = 0;

	while (bytes < end) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
		struct str line = { bytes, (size_t)((newline ? newline : end) - bytes) }, name, color;

		bytes = newline ? newline + 1 : end;
		if (first)
			divide_at_first(line, &name, &color);
		if (first || divide_at_last(line, &name, &color))
			palette_map_set(m, name, color);
		else
			left_out++;
	}
	return left_out;
}

/* --- Writing --- */

struct pair {
	struct str name, color;
};

static int by_name(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
	int order = n ? memcmp(x->name.p, y->name.p, n) : 0;

	return order ? order : (x->name.n > y->name.n) - (x->name.n < y->name.n);
}

void palette_map_write(const struct palette_map *m, struct buf *out)
{
	struct pair *pairs = xcalloc(m->names.count + 1, sizeof(*pairs));

	for (size_t i = 0; i < m->names.count; i++)
		pairs[i] = (struct pair){ intern_get(&m->names, (uint32_t)i), m->colors[i] };
	qsort(pairs, m->names.count, sizeof(*pairs), by_name);
	for (size_t i = 0; i < m->names.count; i++) {
		buf_put(out, pairs[i].name.p, pairs[i].name.n);
		buf_puts(out, "->");
		buf_put(out, pairs[i].color.p, pairs[i].color.n);
		buf_putc(out, '\n');
	}
	free(pairs);
}

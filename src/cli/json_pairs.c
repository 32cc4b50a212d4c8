/* json_pairs.c: a scanner with a stack of levels instead of recursion. */

#include "json_pairs.h"

#include "mem.h"

#include <string.h>

#define DEPTH	32

struct level {
	bool array;
	size_t path_size;	/* of the path outside */
	unsigned index;
};

struct reader {
	const char *p, *end;
	struct buf path;
	struct level levels[DEPTH];
	unsigned depth;
	struct json_pairs *pairs;
};

static void skip_space(struct reader *r)
{
	while (r->p < r->end && strchr(" \t\r\n", *r->p) && *r->p)
		r->p++;
}

static bool take(struct reader *r, char c)
{
	skip_space(r);
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static void put_code_point(struct buf *b, unsigned c)
{
	if (c < 0x80) {
		buf_putc(b, (char)c);
	} else if (c < 0x800) {
		buf_putc(b, (char)(0xc0 | c >> 6));
		buf_putc(b, (char)(0x80 | (c & 0x3f)));
	} else {
		buf_putc(b, (char)(0xe0 | c >> 12));
		buf_putc(b, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_putc(b, (char)(0x80 | (c & 0x3f)));
	}
}

static bool read_escape(struct reader *r, struct buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *found;
	char hex[5] = "";
	char *stop;

	if (r->p == r->end)
		return false;
	if (*r->p != 'u') {
		found = *r->p ? strchr(from, *r->p++) : NULL;
		if (found)
			buf_putc(out, to[found - from]);
		return found != NULL;
	}
	if (r->end - r->p < 5)
		return false;
	memcpy(hex, r->p + 1, 4);
	put_code_point(out, (unsigned)strtoul(hex, &stop, 16));
	r->p += 5;
	return *stop == '\0';
}

static bool read_string(struct reader *r, struct buf *out)
{
	if (!take(r, '"'))
		return false;
	while (r->p < r->end && *r->p != '"') {
		if (*r->p != '\\')
			buf_putc(out, *r->p++);
		else if (r->p++, !read_escape(r, out))
			return false;
	}
	return r->p++ < r->end;
}

/* A number, true, false or null; what exactly is the business of whoever asks for it. */
static bool read_word(struct reader *r, struct buf *out)
{
	size_t n = strspn(r->p, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");

	buf_put(out, r->p, n);
	r->p += n;
	return n > 0;
}

static bool read_scalar(struct reader *r)
{
	_cleanup_(buf_done) struct buf value = { 0 };
	struct json_pairs *p = r->pairs;

	buf_init(&value);
	if (!(r->p < r->end && *r->p == '"' ? read_string(r, &value) : read_word(r, &value)))
		return false;
	GROW(&p->items, &p->capacity, p->count + 1);
	p->items[p->count++] = (struct json_pair){ xstrdup(r->path.data), xstrdup(value.data) };
	return true;
}

static void cut_path(struct reader *r, size_t size)
{
	r->path.size = size;
	r->path.data[size] = '\0';
}

/* Reads the name of the next member or counts the next element, and adds it to the path. */
static bool enter_member(struct reader *r)
{
	struct level *l = &r->levels[r->depth - 1];

	cut_path(r, l->path_size);
	if (l->path_size)
		buf_putc(&r->path, '.');
	if (l->array) {
		buf_put_u64(&r->path, l->index++);
		return true;
	}
	return read_string(r, &r->path) && take(r, ':');
}

static bool open_level(struct reader *r, bool array)
{
	if (r->depth == DEPTH)
		return false;
	r->levels[r->depth++] = (struct level){ .array = array, .path_size = r->path.size };
	return true;
}

/* Reads one value, or the opening of one. Sets *ret_opened for the latter. */
static bool read_value(struct reader *r, bool *ret_opened)
{
	bool array = take(r, '[');

	*ret_opened = array || take(r, '{');
	return *ret_opened ? open_level(r, array) : read_scalar(r);
}

/* Closes as many levels as end here. Returns false if neither a comma nor an end follows. */
static bool close_levels(struct reader *r)
{
	while (r->depth) {
		if (take(r, ','))
			return true;
		if (!take(r, r->levels[r->depth - 1].array ? ']' : '}'))
			return false;
		r->depth--;
	}
	return true;
}

static bool read_all(struct reader *r)
{
	bool opened;

	if (!read_value(r, &opened))
		return false;
	while (r->depth) {
		struct level *l = &r->levels[r->depth - 1];

		if (opened && take(r, l->array ? ']' : '}')) {
			r->depth--;
			if (!close_levels(r))
				return false;
			opened = false;
			continue;
		}
		if (!enter_member(r) || !read_value(r, &opened))
			return false;
		if (!opened && !close_levels(r))
			return false;
	}
	skip_space(r);
	return r->p == r->end;
}

bool json_pairs_read(const char *text, size_t n, struct json_pairs *ret)
{
	struct reader r = { .p = text, .end = text + n, .pairs = ret };
	bool ok;

	*ret = (struct json_pairs){ 0 };
	buf_init(&r.path);
	ok = text[n] == '\0' && read_all(&r);
	buf_done(&r.path);
	return ok;
}

void json_pairs_done(struct json_pairs *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->items[i].path);
		free(p->items[i].value);
	}
	free(p->items);
	*p = (struct json_pairs){ 0 };
}

const char *json_pairs_get(const struct json_pairs *p, const char *path)
{
	for (size_t i = 0; i < p->count; i++)
		if (!strcmp(p->items[i].path, path))
			return p->items[i].value;
	return NULL;
}

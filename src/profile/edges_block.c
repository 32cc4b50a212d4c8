/* edges_block.c: edges as the bytes that edges.h draws. */
#include "edges.h"
#include "mem.h"
#include "strobe_wire.h"
#include <assert.h>
#include <string.h>

#define VERSION		1
#define FLAG_NONE	1u

/* --- Writing --- */

struct writer {
	const struct profile *profile;
	struct buf *out;
	struct intern strings;
};

static uint64_t reference(struct writer *w, const char *bytes, size_t n)
{
	return n ? intern_add(&w->strings, bytes, n) + 1 : 0;
}

static uint64_t reference_to(struct writer *w, uint32_t string)
{
	struct str s = intern_get(&w->profile->strings, string);

	return reference(w, s.p, s.n);
}

static void put_values(struct writer *w, struct buf *b, const int64_t *values)
{
	for (uint32_t c = 0; c < w->profile->column_count; c++)
		buf_put_varint(b, strobe_wire_zigzag(values[c]));
}

static void put_columns(struct writer *w, struct buf *b)
{
	buf_put_varint(b, w->profile->column_count);
	for (uint32_t c = 0; c < w->profile->column_count; c++) {
		const struct profile_column *column = &w->profile->columns[c];

		buf_put_varint(b, reference(w, column->name, strlen(column->name)));
		buf_put_varint(b, reference(w, column->unit, strlen(column->unit)));
	}
}

static void put_nodes(struct writer *w, struct buf *b, const struct edges *e)
{
	buf_put_varint(b, e->node_count - 1);
	put_values(w, b, e->nodes[EDGES_ROOT].self);
	for (uint32_t n = 1; n < e->node_count; n++) {
		const struct profile_frame *f = &w->profile->frames[e->nodes[n].frame];

		buf_put_varint(b, reference_to(w, f->name));
		buf_put_varint(b, reference_to(w, f->file));
		buf_put_varint(b, f->line);
		buf_put_varint(b, 2 * (uint64_t)e->nodes[n].level + !e->nodes[n].once);
		put_values(w, b, e->nodes[n].self);
	}
}

static void put_pairs(struct writer *w, struct buf *b, const struct edges *e)
{
	buf_put_varint(b, e->pair_count);
	for (uint32_t i = 0; i < e->pair_count; i++) {
		buf_put_varint(b, e->pairs[i].caller);
		buf_put_varint(b, e->pairs[i].callee);
		put_values(w, b, e->pairs[i].value);
	}
}

static void put_strings(struct writer *w)
{
	buf_put_varint(w->out, w->strings.count);
	for (uint32_t i = 0; i < w->strings.count; i++) {
		struct str s = intern_get(&w->strings, i);

		buf_put_varint(w->out, s.n);
		buf_put(w->out, s.p, s.n);
	}
}

void edges_block_put(const struct profile *p, struct buf *out)
{
	struct writer w = { .profile = p, .out = out };
	_cleanup_(buf_done) struct buf rest = { 0 };
	struct edges *none = p->edges ? NULL : edges_new();
	const struct edges *e = p->edges ? p->edges : none;
	uint8_t header[EDGES_BLOCK_HEADER] = { 'S', 'T', 'R', 'E', VERSION };
	size_t start = out->size;

	header[5] = none ? FLAG_NONE : 0;
	buf_init(&rest);
	rest.limit = out->limit;
	intern_init(&w.strings);
	buf_put(out, (const char *)header, sizeof(header));
	put_columns(&w, &rest);
	put_nodes(&w, &rest, e);
	put_pairs(&w, &rest, e);
	put_strings(&w);
	buf_put(out, rest.data, rest.size);
	out->overflow |= rest.overflow;
	if (!out->overflow)
		strobe_wire_put_le((uint8_t *)out->data + start + 8, out->size - start, 8);
	intern_done(&w.strings);
	edges_free(none);
}

void edges_block_set_messages(char *block, uint32_t messages)
{
	strobe_wire_put_le((uint8_t *)block + 16, messages, 4);
}

/* --- Reading --- */

bool edges_block_starts(const void *bytes, size_t n)
{
	return n >= 4 && !memcmp(bytes, "STRE", 4);
}

size_t edges_block_size(const void *bytes, size_t n, uint32_t *ret_messages)
{
	uint64_t size;

	if (n < EDGES_BLOCK_HEADER || !edges_block_starts(bytes, n))
		return 0;
	size = strobe_wire_get_le((const uint8_t *)bytes + 8, 8);
	*ret_messages = (uint32_t)strobe_wire_get_le((const uint8_t *)bytes + 16, 4);
	return size >= EDGES_BLOCK_HEADER && size <= n ? (size_t)size : 0;
}

struct reader {
	struct strobe_wire_cursor cursor;
	bool bad;			/* what follows is of no meaning */
	struct str *strings;		/* by reference; 0 is "" */
	uint32_t string_count, node_count;
	uint32_t columns[PROFILE_COLUMNS], column_count;
};

static uint64_t take(struct reader *r)
{
	uint64_t v = 0;

	r->bad |= !strobe_wire_get_varint(&r->cursor, &v);
	return v;
}

/* A number up to `most`. */
static uint32_t take_up_to(struct reader *r, uint64_t most)
{
	uint64_t v = take(r);

	r->bad |= v > most;
	return r->bad ? 0 : (uint32_t)v;
}

/* A count of things that have at least one byte each. */
static uint32_t take_count(struct reader *r)
{
	size_t left = (size_t)(r->cursor.end - r->cursor.p);

	return take_up_to(r, left < UINT32_MAX - 1 ? left : UINT32_MAX - 1);
}

static void take_strings(struct reader *r)
{
	r->string_count = take_count(r);
	r->strings = xcalloc((size_t)r->string_count + 1, sizeof(*r->strings));
	r->strings[0] = (struct str){ "", 0 };
	for (uint32_t i = 1; i <= r->string_count && !r->bad; i++) {
		uint32_t n = take_count(r);

		if (r->bad || n > (size_t)(r->cursor.end - r->cursor.p)) {
			r->bad = true;
			return;
		}
		r->strings[i] = (struct str){ (const char *)r->cursor.p, n };
		r->cursor.p += n;
	}
}

static struct str take_string(struct reader *r)
{
	return r->strings[take_up_to(r, r->string_count)];
}

static void take_values(struct reader *r, int64_t *values)
{
	for (uint32_t c = 0; c < r->column_count; c++)
		values[r->columns[c]] = strobe_wire_unzigzag(take(r));
}

static void take_name(struct reader *r, char ret[64])
{
	struct str s = take_string(r);

	r->bad |= s.n > 63 || memchr(s.p, 0, s.n);
	snprintf(ret, 64, "%.*s", r->bad ? 0 : (int)s.n, s.p);
}

static int take_columns(struct reader *r, struct profile *p)
{
	char names[PROFILE_COLUMNS][64], units[PROFILE_COLUMNS][64];
	uint32_t added = 0;

	r->column_count = take_up_to(r, PROFILE_COLUMNS);
	for (uint32_t c = 0; c < r->column_count; c++) {
		take_name(r, names[c]);
		take_name(r, units[c]);
		r->bad |= !*names[c];
		for (uint32_t i = 0; i < c; i++)
			r->bad |= !strcmp(names[i], names[c]);
		added += profile_find_column(p, names[c]) == UINT32_MAX;
	}
	if (p->column_count + added > PROFILE_COLUMNS)
		return -E2BIG;
	for (uint32_t c = 0; c < r->column_count && !r->bad; c++)
		r->columns[c] = profile_column(p, names[c], units[c]);
	return 0;
}

static void take_nodes(struct reader *r, struct profile *p, struct edges *e)
{
	r->node_count = take_count(r);
	take_values(r, e->nodes[EDGES_ROOT].self);
	for (uint32_t n = 1; n <= r->node_count && !r->bad; n++) {
		struct str name = take_string(r), file = take_string(r);
		uint32_t line = take_up_to(r, UINT32_MAX);
		uint64_t level = take(r);

		r->bad |= level / 2 > UINT32_MAX;
		r->bad |= edges_node(e, profile_frame(p, name, file, line), (uint32_t)(level / 2)) != n;
		if (level % 2 && !r->bad)
			edges_not_once(e, n);
		take_values(r, e->nodes[e->node_count - 1].self);
	}
}

static void take_pairs(struct reader *r, struct edges *e)
{
	uint32_t count = take_count(r);

	for (uint32_t i = 0; i < count && !r->bad; i++) {
		uint32_t caller = take_up_to(r, r->node_count), callee = take_up_to(r, r->node_count);

		r->bad |= callee == EDGES_ROOT || edges_pair(e, caller, callee) != i;
		if (!r->bad)
			take_values(r, e->pairs[i].value);
	}
}

static bool header_is_valid(const uint8_t *bytes, size_t n)
{
	uint32_t messages;

	return edges_block_size(bytes, n, &messages) == n && bytes[4] == VERSION &&
	       !(bytes[5] & ~FLAG_NONE) && !bytes[6] && !bytes[7] &&
	       !strobe_wire_get_le(bytes + 20, 4);
}

int edges_block_take(struct profile *p, const void *bytes, size_t n, struct err *err)
{
	const uint8_t *start = bytes;
	struct reader r = { .cursor = { start + EDGES_BLOCK_HEADER, start + n } };
	struct edges *e;
	int code = 0;

	assert(!p->edges);
	if (edges_block_starts(bytes, n) && n >= EDGES_BLOCK_HEADER && start[4] > VERSION)
		return err_set(err, -EINVAL, "its edges are of a version that a newer Strobe wrote");
	if (!header_is_valid(start, n))
		return err_set(err, -EINVAL, "its edges are damaged");
	e = edges_new();
	take_strings(&r);
	if (!r.bad)
		code = take_columns(&r, p);
	if (!r.bad && !code)
		take_nodes(&r, p, e);
	if (!r.bad && !code)
		take_pairs(&r, e);
	free(r.strings);
	if (code < 0)
		err_set(err, code, "it brings more than %u value columns together", PROFILE_COLUMNS);
	else if (r.bad || r.cursor.p != r.cursor.end)
		code = err_set(err, -EINVAL, "its edges are damaged");
	p->edges = code || start[5] & FLAG_NONE ? edges_free(e) : e;
	p->estimated |= !code;
	return code;
}

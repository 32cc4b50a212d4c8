/* notes.c: collects notes of writers about data that the format cannot represent. */
#include "notes.h"
#include "amount.h"
#include "edges.h"
#include "saturate.h"
#include "text.h"
#include <limits.h>
#include <stdarg.h>

void notes_init(struct notes *n)
{
	*n = (struct notes){ 0 };
	buf_init(&n->text);
}

void notes_done(struct notes *n)
{
	buf_done(&n->text);
}

void notes_add(struct notes *n, uint64_t count, const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	n->count += count;
	buf_puts(&n->text, n->text.size ? "; " : "");
	buf_puts(&n->text, text);
}

static void add_below_zero(struct notes *n, const struct profile *p, uint32_t column, uint32_t count, const char *what,
			   int64_t sum)
{
	_cleanup_(buf_done) struct buf amount = { 0 };

	if (!count)
		return;
	buf_init(&amount);
	amount_put(&amount, sum, amount_unit(p->columns[column].unit));
	notes_add(n, count, "%u %s%s with a value below zero (%s of %s in all) %s left out", count, what,
		  count == 1 ? "" : "s", amount.data, p->columns[column].name, count == 1 ? "is" : "are");
}

void notes_below_zero(struct notes *n, const struct profile *p, uint32_t column)
{
	uint32_t nodes;
	int64_t sum = profile_below_zero(p, column, &nodes);

	add_below_zero(n, p, column, nodes, "stack", sum);
}

void notes_edges_below_zero(struct notes *n, const struct profile *p, uint32_t column)
{
	uint32_t functions = 0;
	int64_t sum = 0;

	for (uint32_t i = 0; i < p->edges->node_count; i++)
		if (p->edges->nodes[i].self[column] < 0) {
			saturating_add(&sum, p->edges->nodes[i].self[column]);
			functions++;
		}
	add_below_zero(n, p, column, functions, "function", sum);
}

int notes_result(struct notes *n, const struct buf *out, const char *what, struct err *err)
{
	if (out->overflow)
		return err_set(err, -EFBIG, "the %s is larger than the %zu bytes that fit", what, out->limit);
	if (n->names)
		notes_add(n, n->names, "%llu name%s bytes that the format cannot hold, which were replaced by U+FFFD",
			  (unsigned long long)n->names, n->names == 1 ? " contains" : "s contain");
	if (!n->count)
		return 0;
	err_set(err, -ERANGE, "%s", n->text.data);
	return n->count < INT_MAX ? (int)n->count : INT_MAX;
}

static void put_escaped(struct buf *out, unsigned char c)
{
	if (c == '"' || c == '\\') {
		buf_putc(out, '\\');
		buf_putc(out, (char)c);
	} else if (c == '\n') {
		buf_puts(out, "\\n");
	} else {
		buf_printf(out, "\\u%04x", c);
	}
}

void notes_put_json(struct notes *n, struct buf *out, struct str s)
{
	const char *p = s.p, *end = s.p + s.n, *run = p;
	bool changed = false;

	buf_putc(out, '"');
	while (p < end) {
		unsigned char c = (unsigned char)*p;
		uint32_t code_point;
		unsigned size = 1;

		if (c >= 0x80)
			size = text_decode(p, end, &code_point);
		if (size && c >= 0x20 && c != '"' && c != '\\' && c != 0x7f) {
			p += size;
			continue;
		}
		if (p > run)
			buf_put(out, run, (size_t)(p - run));
		if (size)
			put_escaped(out, c);
		else
			buf_puts(out, "\xef\xbf\xbd");
		changed |= !size;
		run = ++p;
	}
	if (end > run)
		buf_put(out, run, (size_t)(end - run));
	buf_putc(out, '"');
	n->names += changed;
}

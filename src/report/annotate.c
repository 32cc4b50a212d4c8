/* annotate.c: merges two lists: the lines of the source, and the lines with values. */

#include "annotate.h"

#include "amount.h"
#include "data.h"
#include "grid.h"
#include "mem.h"
#include "saturate.h"
#include "text.h"

#include <limits.h>
#include <string.h>

#define TAB_WIDTH	8u
#define LINE_SHOWN	1000u		/* code points shown of a line if there is no terminal's width */
#define COLUMNS		5u		/* two shares, two values, the line number */

/* --- Values of lines --- */

static int by_line(const void *a, const void *b)
{
	const struct annotate_line *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

/* Sums the values of stacks that contain one of the frames. */
static int64_t total_of(const struct profile *p, uint32_t column, const bool *of)
{
	_cleanup_(freep) bool *inside = xcalloc(p->node_count, sizeof(*inside));
	int64_t total = 0;

	for (uint32_t n = 1; n < p->node_count; n++) {
		inside[n] = inside[p->parents[n]] || of[p->node_frames[n]];
		if (inside[n])
			saturating_add(&total, p->columns[column].self[n]);
	}
	return total;
}

void annotate_lines_of(const struct profile *lines, uint32_t column, const bool *of, struct annotate_lines *ret)
{
	_cleanup_(freep) struct flat_row *rows = NULL;
	size_t count;

	rows = report_flat(lines, column, REPORT_SORT_SELF, &count);
	*ret = (struct annotate_lines){ .list = xcalloc(count + 1, sizeof(*ret->list)),
					.total = total_of(lines, column, of), .whole = report_whole(lines, column) };
	for (size_t i = 0; i < count; i++) {
		uint32_t line = lines->frames[rows[i].frame].line;

		if (!of[rows[i].frame])
			continue;
		saturating_add(&ret->self, rows[i].self);
		if (line && (rows[i].self || rows[i].total))
			ret->list[ret->count++] = (struct annotate_line){ line, rows[i].self, rows[i].total };
	}
	qsort(ret->list, ret->count, sizeof(*ret->list), by_line);
}

void annotate_lines_done(struct annotate_lines *l)
{
	free(l->list);
	l->list = NULL;
}

/* --- The lines of the source to show --- */

static bool take_text(struct annotate_walk *w, struct str *ret)
{
	const char *end;

	if (!w->rest.n)
		return false;
	end = memchr(w->rest.p, '\n', w->rest.n);
	*ret = (struct str){ w->rest.p, end ? (size_t)(end - w->rest.p) : w->rest.n };
	w->rest.p += ret->n + (end != NULL);
	w->rest.n -= ret->n + (end != NULL);
	if (ret->n && ret->p[ret->n - 1] == '\r')
		ret->n--;
	return true;
}

static bool is_near(const struct annotate_walk *w, uint32_t number, uint32_t line)
{
	uint64_t away = number < line ? line - number : number - line;

	return line && away <= (uint64_t)w->context;
}

static bool is_wanted(const struct annotate_walk *w)
{
	const struct annotate_lines *l = w->lines;

	if (w->context < 0)
		return true;
	return is_near(w, w->number, w->start) ||
	       (w->next < l->count && is_near(w, w->number, l->list[w->next].line)) ||
	       (w->next && is_near(w, w->number, l->list[w->next - 1].line));
}

bool annotate_next(struct annotate_walk *w, struct annotate_shown *ret)
{
	const struct annotate_lines *l = w->lines;

	*ret = (struct annotate_shown){ 0 };
	while (take_text(w, &ret->text)) {
		bool took;

		w->number++;
		took = w->next < l->count && l->list[w->next].line == w->number;
		if (took || is_wanted(w)) {
			ret->took = took ? &l->list[w->next++] : NULL;
			ret->number = w->number;
			return true;
		}
		ret->after_gap = true;
	}
	if (w->next == l->count)
		return false;
	ret->text = (struct str){ 0 };
	ret->took = &l->list[w->next++];
	ret->after_gap = ret->took->line != w->number + 1;
	ret->number = w->number = ret->took->line;
	return true;
}

struct annotate_walk annotate_walk_of(const struct annotate_lines *l, struct str source, long context, uint32_t start)
{
	return (struct annotate_walk){ .lines = l, .context = context, .start = start,
				       .rest = source.p ? source : (struct str){ "", 0 } };
}

static struct annotate_walk walk_of(const struct annotate_lines *l, const struct source_text *s,
				    const struct annotate_options *o)
{
	return annotate_walk_of(l, s->text, o->context, o->start);
}

/* --- Text --- */

static void fill_grid(struct grid *g, const struct profile *p, uint32_t column, const struct annotate_lines *l,
		      struct annotate_walk w)
{
	const char *unit = p->columns[column].unit;
	static const char *const titles[COLUMNS] = { "self%", "total%", "self", "total", "line" };
	struct annotate_shown s;
	char number[16];

	for (size_t i = 0; i < COLUMNS; i++)
		grid_text(g, titles[i]);
	while (annotate_next(&w, &s)) {
		if (s.took) {
			grid_share(g, s.took->self, l->whole);
			grid_share(g, s.took->total, l->whole);
			grid_value(g, s.took->self, unit);
			grid_value(g, s.took->total, unit);
		}
		for (size_t i = s.took ? COLUMNS - 1 : 0; i < COLUMNS - 1; i++)
			grid_text(g, "");
		snprintf(number, sizeof(number), "%u", s.number);
		grid_text(g, number);
	}
}

/* Expands tabs as an editor does; text_put_plain would turn each into one space. */
static void expand_tabs(struct str s, struct buf *out)
{
	size_t column = 0;

	buf_reset(out);
	while (s.n) {
		const char *tab = memchr(s.p, '\t', s.n);
		struct str part = { s.p, tab ? (size_t)(tab - s.p) : s.n };

		buf_put(out, part.p, part.n);
		column += text_columns(part);
		for (bool more = tab != NULL; more; more = column % TAB_WIDTH) {
			buf_putc(out, ' ');
			column++;
		}
		s.p += part.n + (tab != NULL);
		s.n -= part.n + (tab != NULL);
	}
}

static void put_source_line(struct buf *out, struct str text, size_t room)
{
	_cleanup_(buf_done) struct buf wide = { 0 };
	size_t most = room ? room : LINE_SHOWN;
	struct str s;

	buf_init(&wide);
	expand_tabs((struct str){ text.p, text_cut(text, most + 1) }, &wide);
	s = (struct str){ wide.data ? wide.data : "", wide.size };
	if (text_columns(s) <= most) {
		text_put_plain(out, s);
		return;
	}
	text_put_plain(out, (struct str){ s.p, text_cut(s, most - 1) });
	buf_puts(out, "…");
}

static void put_heading(const struct profile *p, const struct annotate_lines *l, const struct source_text *s,
			const struct annotate_options *o, struct buf *out)
{
	const char *unit = p->columns[o->column].unit;

	if (o->function.n) {
		text_put_plain(out, o->function);
		buf_puts(out, "  ");
	}
	text_put_plain(out, o->file);
	buf_printf(out, "\n  %s: self ", p->columns[o->column].name);
	amount_put(out, l->self, amount_unit(unit));
	buf_puts(out, ", total ");
	amount_put(out, l->total, amount_unit(unit));
	buf_puts(out, " of ");
	amount_put(out, l->whole, amount_unit(unit));
	buf_putc(out, '\n');
	if (s->why) {
		buf_puts(out, "  ");
		text_put_plain(out, (struct str){ s->why, strlen(s->why) });
		buf_putc(out, '\n');
	}
}

static void put_table(const struct profile *p, const struct annotate_lines *l, const struct source_text *s,
		      const struct annotate_options *o, struct buf *out)
{
	struct annotate_walk w = walk_of(l, s, o);
	struct annotate_shown line;
	struct grid g;
	size_t room;

	put_heading(p, l, s, o, out);
	grid_init(&g, COLUMNS);
	fill_grid(&g, p, o->column, l, w);
	room = grid_room(&g, o->width);
	grid_put(&g, 0, out);
	out->size -= 2;			/* headings have no text, so no blanks before it */
	buf_putc(out, '\n');
	for (size_t row = 1; annotate_next(&w, &line); row++) {
		if (line.after_gap && s->text.p)
			buf_puts(out, "⋮\n");
		if (o->color)
			buf_puts(out, line.took ? line.took->self ? "\033[1m" : "" : "\033[2m");
		grid_put(&g, row, out);
		if (line.text.p)
			put_source_line(out, line.text, room);
		else if (s->text.p)
			buf_puts(out, "[past the end of the file]");
		while (out->size && out->data[out->size - 1] == ' ')
			out->size--;
		buf_puts(out, o->color ? "\033[0m\n" : "\n");
	}
	grid_done(&g);
}

/* --- JSON --- */

static void put_line_json(struct json *j, const struct profile *p, uint32_t column, const struct annotate_shown *s)
{
	json_open_object(j);
	json_key(j, "line");
	json_u64(j, s->number);
	json_key(j, "self");
	report_put_value_json(j, p, column, s->took ? s->took->self : 0);
	json_key(j, "total");
	report_put_value_json(j, p, column, s->took ? s->took->total : 0);
	json_key(j, "text");
	if (s->text.p)
		json_bytes(j, s->text);
	else
		json_str(j, NULL);
	json_end(j);
}

static void put_json(const struct profile *p, const struct annotate_lines *l, const struct source_text *s,
		     const struct annotate_options *o, struct buf *out)
{
	static const char *const states[] = { "unknown", "unchanged", "changed", "missing" };
	struct annotate_walk w = walk_of(l, s, o);
	struct annotate_shown line;
	struct json j;

	json_init(&j, out);
	json_open_object(&j);
	json_key(&j, "file");
	json_bytes(&j, o->file);
	json_key(&j, "function");
	if (o->function.n)
		json_bytes(&j, o->function);
	else
		json_str(&j, NULL);
	json_key(&j, "column");
	json_str(&j, p->columns[o->column].name);
	json_key(&j, "unit");
	json_str(&j, report_unit(p, o->column));
	json_key(&j, "self");
	report_put_value_json(&j, p, o->column, l->self);
	json_key(&j, "total");
	report_put_value_json(&j, p, o->column, l->total);
	json_key(&j, "all");
	report_put_value_json(&j, p, o->column, l->whole);
	json_key(&j, "source");
	json_str(&j, states[s->state]);
	json_key(&j, "why");
	json_str(&j, s->why);
	json_key(&j, "lines");
	json_open_array(&j);
	while (annotate_next(&w, &line))
		put_line_json(&j, p, o->column, &line);
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

void annotate_put(const struct profile *p, const struct annotate_lines *l, const struct source_text *s,
		  const struct annotate_options *o, struct buf *out)
{
	(o->json ? put_json : put_table)(p, l, s, o, out);
}

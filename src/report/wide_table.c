/* wide_table.c: the functions of a trace as a table for people. */

#include "report.h"

#include "amount.h"
#include "text.h"

#include <string.h>

#define NAME_MIN 20	/* code points of a function's name that a narrow terminal still shows */
#define CELLS (PROFILE_COLUMNS + 2)

/* One column of the table: the share of the sorting column, its total, or what a function took itself. */
struct cell {
	uint32_t column;
	enum { CELL_SHARE, CELL_SELF, CELL_TOTAL } kind;
	char title[80];
	size_t width;
};

struct layout {
	struct cell cells[CELLS];
	size_t count, room;		/* code points for the function and its place; 0 is no limit */
	int64_t whole;
};

static void add_cell(struct layout *l, const struct profile *p, uint32_t column, int kind)
{
	struct cell *c = &l->cells[l->count++];
	const char *title = report_column_title(p->columns[column].name);

	c->column = column;
	c->kind = kind;
	snprintf(c->title, sizeof(c->title), kind == CELL_SHARE ? "%.60s%%" : kind == CELL_TOTAL ? "%.60s+" : "%.60s", title);
	c->width = strlen(c->title);
}

static void put_value(struct buf *out, const struct profile *p, const struct layout *l, const struct cell *c,
		      const struct wide_row *row)
{
	int64_t self = row->self[c->column];

	if (c->kind == CELL_SHARE)
		buf_put_fixed(out, l->whole ? 100.0 * (double)self / (double)l->whole : 0, 1);
	else
		amount_put(out, c->kind == CELL_TOTAL ? row->total[c->column] : self, amount_unit(p->columns[c->column].unit));
}

static size_t measure(const struct profile *p, const struct layout *l, const struct cell *c, const struct wide_row *row)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	put_value(&b, p, l, c, row);
	return text_columns((struct str){ b.data, b.size });
}

static void lay_out(struct layout *l, const struct profile *p, const struct report_options *o, const struct wide_row *rows,
		    size_t count)
{
	uint32_t columns[PROFILE_COLUMNS];
	size_t n = report_wide_columns(p, columns), used = 0;

	*l = (struct layout){ .whole = report_whole(p, o->column) };
	add_cell(l, p, o->column, CELL_SHARE);
	for (size_t i = 0; i < n; i++) {
		add_cell(l, p, columns[i], CELL_SELF);
		if (columns[i] == o->column && strcmp(p->columns[columns[i]].name, "calls"))
			add_cell(l, p, columns[i], CELL_TOTAL);
	}
	for (size_t i = 0; i < l->count; i++) {
		for (size_t k = 0; k < count; k++) {
			size_t width = measure(p, l, &l->cells[i], &rows[k]);

			l->cells[i].width = width > l->cells[i].width ? width : l->cells[i].width;
		}
		used += l->cells[i].width + 2;
	}
	if (o->width)
		l->room = o->width > used + NAME_MIN ? o->width - used : NAME_MIN;
}

static void put_spaces(struct buf *out, size_t n)
{
	while (n--)
		buf_putc(out, ' ');
}

/* The function, and its place as far as there is room. */
static void put_name(struct buf *out, const struct profile *p, const struct layout *l, const struct report_options *o,
		     uint32_t frame)
{
	struct str name = profile_name(p, frame), file = profile_file(p, frame);
	size_t n = text_columns(name), place = text_columns(file) + 14;

	if (l->room && n > l->room) {
		text_put_plain(out, (struct str){ name.p, text_cut(name, l->room - 1) });
		buf_puts(out, "…");
		return;
	}
	buf_puts(out, o->color ? "\033[1m" : "");
	text_put_plain(out, name);
	buf_puts(out, o->color ? "\033[0m" : "");
	if (!file.n || (l->room && n + place > l->room))
		return;
	buf_puts(out, o->color ? "  \033[2m" : "  ");
	text_put_plain(out, file);
	if (p->frames[frame].line)
		buf_printf(out, ":%u", p->frames[frame].line);
	buf_puts(out, o->color ? "\033[0m" : "");
}

int report_wide_table(const struct profile *p, const struct report_options *o, struct buf *out, struct err *err)
{
	_cleanup_(freep) struct wide_row *rows = NULL;
	struct layout l;
	size_t count;

	if (o->column >= p->column_count)
		return err_set(err, -EINVAL, "the profile has no such column of values");
	rows = report_wide(p, o->column, o->by_total, &count);
	if (o->limit && count > o->limit)
		count = o->limit;
	lay_out(&l, p, o, rows, count);
	for (size_t i = 0; i < l.count; i++) {
		put_spaces(out, l.cells[i].width - strlen(l.cells[i].title));
		buf_printf(out, "%s  ", l.cells[i].title);
	}
	buf_puts(out, "function\n");
	for (size_t k = 0; k < count; k++) {
		for (size_t i = 0; i < l.count; i++) {
			put_spaces(out, l.cells[i].width - measure(p, &l, &l.cells[i], &rows[k]));
			put_value(out, p, &l, &l.cells[i], &rows[k]);
			buf_puts(out, "  ");
		}
		put_name(out, p, &l, o, rows[k].frame);
		buf_putc(out, '\n');
	}
	return 0;
}

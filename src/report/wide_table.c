/* wide_table.c: the functions of a trace as a table for people. */

#include "report.h"

#include "data.h"
#include "grid.h"
#include "mem.h"
#include "saturate.h"

#include <string.h>

/* One column of the table: a share of the sorting column, self, or total. */
struct cell {
	uint32_t column;
	enum { CELL_SHARE, CELL_TOTAL_SHARE, CELL_SELF, CELL_TOTAL } kind;
};

struct layout {
	struct cell cells[GRID_COLUMNS];
	size_t count;
	int64_t whole;
};

static void add_cell(struct layout *l, uint32_t column, int kind)
{
	l->cells[l->count++] = (struct cell){ column, kind };
}

/* Calls have no total: own calls plus those of callees are meaningless. */
static void lay_out(struct layout *l, const struct profile *p, const struct report_options *o)
{
	uint32_t columns[PROFILE_COLUMNS];
	size_t n = report_wide_columns(p, columns);

	*l = (struct layout){ .whole = report_whole(p, o->column) };
	add_cell(l, o->column, CELL_SHARE);
	if (o->all_columns && strcmp(p->columns[o->column].name, "calls"))
		add_cell(l, o->column, CELL_TOTAL_SHARE);
	for (size_t i = 0; i < n; i++) {
		add_cell(l, columns[i], CELL_SELF);
		if ((o->all_columns || columns[i] == o->column) && strcmp(p->columns[columns[i]].name, "calls"))
			add_cell(l, columns[i], CELL_TOTAL);
	}
}

static void put_headings(struct grid *g, const struct profile *p, const struct layout *l)
{
	static const char *const marks[] = {
		[CELL_SHARE] = "%", [CELL_TOTAL_SHARE] = "+%", [CELL_SELF] = "", [CELL_TOTAL] = "+"
	};

	for (size_t i = 0; i < l->count; i++) {
		const char *title = report_column_title(p->columns[l->cells[i].column].name);
		char text[80];

		snprintf(text, sizeof(text), "%.60s%s", title, marks[l->cells[i].kind]);
		grid_text(g, text);
	}
}

static void put_values(struct grid *g, const struct profile *p, const struct layout *l, const struct wide_row *row,
		       bool without_totals)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct cell *c = &l->cells[i];
		const char *unit = p->columns[c->column].unit;

		bool is_total = c->kind == CELL_TOTAL || c->kind == CELL_TOTAL_SHARE;

		grid_at_most(g, is_total && row->at_most);
		if (is_total && without_totals)
			grid_text(g, "");
		else if (c->kind == CELL_SHARE)
			grid_share(g, row->self[c->column], l->whole);
		else if (c->kind == CELL_TOTAL_SHARE)
			grid_share(g, row->total[c->column], l->whole);
		else
			grid_value(g, c->kind == CELL_SELF ? row->self[c->column] : row->total[c->column], unit);
	}
}

/* Sums self of rows [from, count). */
static struct wide_row sum_of(const struct profile *p, const struct wide_row *rows, size_t from, size_t count)
{
	struct wide_row sum = { 0 };

	for (size_t i = from; i < count; i++)
		for (uint32_t c = 0; c < p->column_count; c++)
			saturating_add(&sum.self[c], rows[i].self[c]);
	return sum;
}

static struct wide_row everything(const struct profile *p)
{
	struct wide_row sum = { 0 };

	for (uint32_t c = 0; c < p->column_count; c++)
		sum.self[c] = report_sum(p, c);
	return sum;
}

static void put_grid(struct buf *out, const struct grid *g, const struct profile *p, const struct report_options *o,
		     const struct wide_row *rows, size_t shown, size_t count)
{
	size_t room = grid_room(g, o->width);

	grid_put(g, 0, out);
	buf_printf(out, "%s\n", report_by_name(o->by, false));
	for (size_t k = 0; k < shown; k++) {
		grid_put(g, k + 1, out);
		grid_put_name(out, p, rows[k].frame, room, o->color);
		buf_putc(out, '\n');
	}
	if (!o->sums)
		return;
	if (shown < count) {
		grid_put(g, shown + 1, out);
		report_put_rest(out, o->by, count - shown);
	}
	grid_put(g, shown + 2, out);
	report_put_all(out, o->by, count);
}

int report_wide_table(const struct profile *p, const struct report_options *o, struct buf *out, struct err *err)
{
	_cleanup_(freep) struct wide_row *rows = NULL;
	_cleanup_(grid_done) struct grid g = { 0 };
	struct wide_row rest, all;
	struct layout l;
	size_t count, shown;

	if (o->column >= p->column_count)
		return err_set(err, -EINVAL, "the profile has no such column");
	rows = report_wide(p, o->column, o->sort, &count);
	if (o->json || o->csv) {
		report_functions_data(p, o, rows, count, out);
		return 0;
	}

	shown = o->limit && count > o->limit ? o->limit : count;
	rest = sum_of(p, rows, shown, count);
	all = everything(p);
	lay_out(&l, p, o);
	grid_init(&g, l.count);
	put_headings(&g, p, &l);
	for (size_t k = 0; k < shown; k++)
		put_values(&g, p, &l, &rows[k], false);
	if (o->sums) {
		put_values(&g, p, &l, &rest, true);
		put_values(&g, p, &l, &all, true);
	}
	put_grid(out, &g, p, o, rows, shown, count);
	report_put_estimated(out, p);
	return 0;
}

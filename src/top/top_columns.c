/* top_columns.c: cells of numbers, then the name and its location. */

#include "top_columns.h"

#include "amount.h"
#include "cells.h"

#include <stdio.h>
#include <string.h>

#define NAME_LEAST	24u		/* columns for the name before further numbers are shown */
#define GAP		2u

static const struct {
	const char *title;
	size_t width;
	enum top_sort sort;
	bool off_cpu;
} columns[TOP_COLUMNS] = {
	[COLUMN_SELF_SHARE] = { "self%", 5, TOP_SELF, false },
	[COLUMN_TOTAL_SHARE] = { "total%", 6, TOP_TOTAL, false },
	[COLUMN_SELF] = { "self", 7, TOP_SELF, false },
	[COLUMN_TOTAL] = { "total", 7, TOP_TOTAL, false },
	[COLUMN_OFF_SELF] = { "off-CPU", 7, TOP_OFF_SELF, true },
	[COLUMN_OFF_TOTAL] = { "off total", 9, TOP_OFF_TOTAL, true },
};

/* The first ones are dropped last. */
static const enum top_column priority[TOP_COLUMNS] = {
	COLUMN_SELF_SHARE, COLUMN_OFF_SELF, COLUMN_TOTAL_SHARE, COLUMN_OFF_TOTAL, COLUMN_TOTAL, COLUMN_SELF,
};

void top_columns_choose(struct top_columns *c, const struct top_view *v, size_t width)
{
	*c = (struct top_columns){ 0 };
	for (size_t i = 0; i < TOP_COLUMNS; i++) {
		enum top_column n = priority[i];

		if (columns[n].off_cpu ? !v->has_off_cpu : !v->has_on_cpu)
			continue;
		if (width && c->width && c->width + columns[n].width + GAP + NAME_LEAST > width)
			break;
		c->shown[n] = true;
		c->width += columns[n].width + GAP;
	}
}

void top_columns_put_headings(const struct top_columns *c, const struct top_view *v, struct buf *out, size_t width)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	const char *name = top_by_name(v->by);

	buf_init(&text);
	for (size_t i = 0; i < TOP_COLUMNS; i++) {
		if (!c->shown[i])
			continue;
		/* The mark replaces a space, so that columns do not move. */
		if (columns[i].sort == v->sort) {
			size_t n = strlen(columns[i].title);

			cells_fill(&text, columns[i].width > n ? columns[i].width - n : 0);
			buf_printf(&text, "%s* ", columns[i].title);
		} else {
			cells_put_right(&text, columns[i].title, columns[i].width);
			cells_fill(&text, GAP);
		}
	}
	buf_printf(&text, "%s%s", name, v->sort == TOP_NAME ? "*" : "");
	cells_put(out, (struct str){ text.data, text.size }, width ? width : SIZE_MAX, false);
}

static void put_share(struct buf *out, int64_t part, int64_t whole, size_t width)
{
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	buf_put_fixed(&text, whole ? 100.0 * (double)part / (double)whole : 0, 1);
	cells_put_right(out, text.data, width);
}

static void put_time(struct buf *out, int64_t ns, size_t width)
{
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	if (ns)
		amount_put(&text, ns, AMOUNT_TIME);
	else
		buf_puts(&text, "-");
	cells_put_right(out, text.data, width);
}

static void put_cell(struct buf *out, enum top_column n, const struct top_row *row, int64_t on_cpu)
{
	const int64_t values[TOP_COLUMNS] = { row->self, row->total, row->self, row->total, row->off_self, row->off_total };

	if (n == COLUMN_SELF_SHARE || n == COLUMN_TOTAL_SHARE)
		put_share(out, values[n], on_cpu, columns[n].width);
	else
		put_time(out, values[n], columns[n].width);
	cells_fill(out, GAP);
}

/* The end of a name and of a path is more informative than its start. */
static void put_name(struct buf *out, const struct top_row *row, size_t room)
{
	char line[16] = "";
	_cleanup_(buf_done) struct buf place = { 0 };
	struct str name = row->name.n ? row->name : (struct str){ "(none)", 6 };
	size_t used = cells_put(out, name, room, true);

	if (row->line)
		snprintf(line, sizeof(line), ":%u", row->line);
	if (!row->file.n || (row->file.n == row->name.n && !memcmp(row->file.p, row->name.p, row->name.n)) || used + GAP + 8 > room)
		return;
	buf_init(&place);
	buf_put(&place, row->file.p, row->file.n);
	buf_puts(&place, line);
	cells_fill(out, GAP);
	cells_put(out, (struct str){ place.data, place.size }, room - used - GAP, true);
}

void top_columns_put_row(const struct top_columns *c, const struct top_view *v, const struct top_row *row, struct buf *out, size_t width)
{
	_cleanup_(buf_done) struct buf cells = { 0 };

	buf_init(&cells);
	for (enum top_column i = 0; i < TOP_COLUMNS; i++)
		if (c->shown[i])
			put_cell(&cells, i, row, v->rows->on_cpu);
	width = width ? width : SIZE_MAX;
	cells_put(out, (struct str){ cells.data, cells.size }, width, false);
	if (width > c->width)
		put_name(out, row, width - c->width);
}

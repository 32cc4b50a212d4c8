/* flat_table.c: the flat report as a table for people. */

#include "report.h"

#include "amount.h"
#include "data.h"
#include "saturate.h"
#include "text.h"

#include <string.h>

#define NAME_MIN 20	/* code points of a function's name that a narrow terminal still shows */

static double share(int64_t part, int64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_value(struct buf *out, int64_t v, const char *unit)
{
	amount_put(out, v, amount_unit(unit));
}

static size_t code_points(const struct buf *b)
{
	return text_columns((struct str){ b->data, b->size });
}

static void put_spaces(struct buf *out, size_t n)
{
	while (n--)
		buf_putc(out, ' ');
}

/* Appends the cell right-aligned in `width` columns, and empties it. */
static void put_aligned(struct buf *out, struct buf *cell, size_t width)
{
	size_t n = code_points(cell);

	put_spaces(out, n < width ? width - n : 0);
	buf_put(out, cell->data, cell->size);
	buf_reset(cell);
}

static void put_cell(struct buf *out, int64_t v, bool at_most, const char *unit, size_t width)
{
	_cleanup_(buf_done) struct buf cell = { 0 };

	buf_init(&cell);
	buf_puts(&cell, at_most ? REPORT_AT_MOST : "");
	put_value(&cell, v, unit);
	put_aligned(out, &cell, width);
}

/* Appends at most `width` code points of the text (0: no limit); `keep_end` keeps its end. */
static size_t put_text(struct buf *out, struct str s, size_t width, bool keep_end)
{
	size_t n = text_columns(s);

	if (!width || n <= width) {
		text_put_plain(out, s);
		return n;
	}
	if (keep_end) {
		size_t skip = text_cut(s, n - width + 1);

		buf_puts(out, "…");
		text_put_plain(out, (struct str){ s.p + skip, s.n - skip });
	} else {
		text_put_plain(out, (struct str){ s.p, text_cut(s, width - 1) });
		buf_puts(out, "…");
	}
	return width;
}

static void put_place(struct buf *place, const struct profile *p, uint32_t frame)
{
	struct str file = profile_file(p, frame);

	if (file.n == 0 || (file.n == profile_name(p, frame).n && p->frames[frame].file == p->frames[frame].name))
		return;
	buf_put(place, file.p, file.n);
	if (p->frames[frame].line) {
		buf_putc(place, ':');
		buf_put_u64(place, p->frames[frame].line);
	}
}

struct widths {
	size_t value, name, place;
};

/* A part can only be wider than the whole by a minus or a mark. */
static void measure_marked(struct widths *w, int64_t v, bool at_most, const char *unit)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	if (v >= 0 && !at_most)
		return;
	buf_init(&b);
	buf_puts(&b, at_most ? REPORT_AT_MOST : "");
	put_value(&b, v, unit);
	if (code_points(&b) > w->value)
		w->value = code_points(&b);
}

/* Computes the widths that these rows need, then limits them to the terminal. */
static struct widths measure(const struct profile *p, const struct report_options *o, const struct flat_row *rows,
			     size_t count, const char *unit, int64_t whole)
{
	struct widths w = { 7, NAME_MIN, 0 };
	_cleanup_(buf_done) struct buf b = { 0 };
	size_t left;

	buf_init(&b);
	put_value(&b, whole, unit);
	if (code_points(&b) > w.value)
		w.value = code_points(&b);
	for (size_t i = 0; i < count; i++) {
		size_t name = text_columns(profile_name(p, rows[i].frame));

		measure_marked(&w, rows[i].self, false, unit);
		measure_marked(&w, rows[i].total, rows[i].at_most, unit);
		buf_reset(&b);
		put_place(&b, p, rows[i].frame);
		w.name = name > w.name ? name : w.name;
		w.place = code_points(&b) > w.place ? code_points(&b) : w.place;
	}
	if (!o->width)
		return w;
	/* Two shares, two values, and two spaces between columns. */
	left = 2 * 8 + 2 * (w.value + 2) + 2;
	left = o->width > left + NAME_MIN ? o->width - left : NAME_MIN;
	if (w.name + 2 + w.place > left) {
		size_t name_share = w.place ? left * 3 / 5 : left;

		if (w.name > name_share)
			w.name = w.place + 2 < left - name_share ? left - w.place - 2 : name_share;
		w.place = w.place && left > w.name + 2 + 8 ? left - w.name - 2 : 0;
	}
	return w;
}

static void put_share(struct buf *out, double percent, bool at_most, size_t width)
{
	_cleanup_(buf_done) struct buf cell = { 0 };

	buf_init(&cell);
	buf_puts(&cell, at_most ? REPORT_AT_MOST : "");
	buf_put_fixed(&cell, percent, 1);
	put_aligned(out, &cell, width);
}

static void put_row(struct buf *out, const struct profile *p, const struct report_options *o,
		    const struct flat_row *row, const struct widths *w, const char *unit, int64_t whole)
{
	_cleanup_(buf_done) struct buf place = { 0 };
	size_t n;

	buf_init(&place);
	put_place(&place, p, row->frame);
	put_share(out, share(row->self, whole), false, 6);
	put_share(out, share(row->total, whole), row->at_most, 8);
	put_spaces(out, 2);
	put_cell(out, row->self, false, unit, w->value);
	put_spaces(out, 2);
	put_cell(out, row->total, row->at_most, unit, w->value);
	put_spaces(out, 2);
	if (o->color)
		buf_puts(out, "\033[1m");
	n = put_text(out, profile_name(p, row->frame), o->width ? w->name : 0, false);
	if (o->color)
		buf_puts(out, "\033[0m");
	if (place.size && w->place) {
		put_spaces(out, (n < w->name ? w->name - n : 0) + 2);
		if (o->color)
			buf_puts(out, "\033[2m");
		put_text(out, (struct str){ place.data, place.size }, o->width ? w->place : 0, true);
		if (o->color)
			buf_puts(out, "\033[0m");
	}
	buf_putc(out, '\n');
}

/* Appends the sum of self of rows [from, count), below the column of shares. */
static void put_sum(struct buf *out, int64_t sum, const struct widths *w, const char *unit, int64_t whole)
{
	put_share(out, share(sum, whole), false, 6);
	put_spaces(out, 8 + 2);
	put_cell(out, sum, false, unit, w->value);
	put_spaces(out, 2 + w->value + 2);
}

static void put_sums(struct buf *out, const struct profile *p, const struct report_options *o,
		     const struct flat_row *rows, size_t shown, size_t count, const struct widths *w, int64_t whole)
{
	const char *unit = p->columns[o->column].unit;
	int64_t rest = 0;

	for (size_t i = shown; i < count; i++)
		saturating_add(&rest, rows[i].self);
	if (shown < count) {
		put_sum(out, rest, w, unit, whole);
		report_put_rest(out, o->by, count - shown);
	}
	put_sum(out, report_sum(p, o->column), w, unit, whole);
	report_put_all(out, o->by, count);
}

int report_flat_table(const struct profile *p, const struct report_options *o, struct buf *out, struct err *err)
{
	_cleanup_(freep) struct flat_row *rows = NULL;
	const char *unit;
	struct widths w;
	int64_t whole;
	size_t count, shown;

	if (o->column >= p->column_count)
		return err_set(err, -EINVAL, "the profile has no such column");
	if (o->json || o->csv)
		return report_wide_table(p, o, out, err);
	rows = report_flat(p, o->column, o->sort, &count);
	whole = report_whole(p, o->column);
	unit = p->columns[o->column].unit;
	shown = o->limit && count > o->limit ? o->limit : count;

	w = measure(p, o, rows, shown, unit, whole);
	buf_puts(out, " self%  total%  ");
	put_spaces(out, w.value - 4);
	buf_puts(out, "self  ");
	put_spaces(out, w.value - 5);
	buf_printf(out, "total  %s\n", report_by_name(o->by, false));
	for (size_t i = 0; i < shown; i++)
		put_row(out, p, o, &rows[i], &w, unit, whole);
	if (o->sums)
		put_sums(out, p, o, rows, shown, count, &w, whole);
	report_put_estimated(out, p);
	return 0;
}

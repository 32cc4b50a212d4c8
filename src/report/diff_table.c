/* diff_table.c: the differences as a table for people, as JSON, and as CSV. */

#include "diff_report.h"

#include "amount.h"
#include "csv.h"
#include "data.h"
#include "json.h"
#include "report.h"
#include "saturate.h"
#include "text.h"

#include <string.h>

#define NAME_MIN 20	/* code points of a function's name that a narrow terminal still shows */

static enum amount_unit unit_of(const struct diff_report *r)
{
	return amount_unit(r->diff->profile->columns[r->diff->after].unit);
}

static int64_t delta_of(const struct diff_cell *c)
{
	return saturating_difference(c->after, c->before);
}

/* --- Cells --- */

static void put_spaces(struct buf *out, size_t n)
{
	while (n--)
		buf_putc(out, ' ');
}

/* Appends the cell right-aligned, and empties it. */
static void put_cell(struct buf *out, struct buf *cell, size_t width)
{
	size_t n = text_columns((struct str){ cell->data, cell->size });

	put_spaces(out, n < width ? width - n : 0);
	buf_put(out, cell->data, cell->size);
	buf_reset(cell);
}

static void put_signed_percent(struct buf *out, double percent)
{
	size_t at = out->size + 1;

	buf_putc(out, percent < 0 ? '-' : '+');
	buf_put_fixed(out, percent < 0 ? -percent : percent, 2);
	if (!strcmp(out->data + at, "0.00"))
		out->data[at - 1] = ' ';
}

static void put_delta(struct buf *out, const struct diff_cell *c, enum amount_unit unit)
{
	int64_t delta = delta_of(c);

	if (delta > 0)
		buf_putc(out, '+');
	amount_put(out, delta, unit);
}

static void put_limit(struct buf *out, const struct diff_report *r, const struct diff_cell *c, int64_t v)
{
	buf_puts(out, c->at_most ? REPORT_AT_MOST : "");
	amount_put(out, v, unit_of(r));
}

/* --- The table --- */

#define PERCENT_WIDTH 8

struct widths {
	size_t before, after, delta, name;
};

static void widen(size_t *width, struct buf *cell)
{
	size_t n = text_columns((struct str){ cell->data, cell->size });

	*width = n > *width ? n : *width;
	buf_reset(cell);
}

static bool is_by_total(const struct diff_report *r)
{
	return r->options->sort == REPORT_SORT_TOTAL;
}

/* Calls have self values only. */
static bool has_totals(const struct diff_report *r)
{
	return !r->diff->profile->columns[r->diff->after].counts_calls;
}

static const struct diff_cell *main_cell(const struct diff_report *r, const struct diff_row *row)
{
	return is_by_total(r) ? &row->total : &row->self;
}

static struct widths measure(const struct diff_report *r, size_t count)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	struct widths w = { 7, 7, 7, NAME_MIN };
	size_t left;

	buf_init(&b);
	for (size_t i = 0; i < count; i++) {
		const struct diff_cell *c = main_cell(r, &r->rows[i]);

		put_limit(&b, r, c, c->before);
		widen(&w.before, &b);
		put_limit(&b, r, c, c->after);
		widen(&w.after, &b);
		put_delta(&b, c, unit_of(r));
		widen(&w.delta, &b);
	}
	left = (has_totals(r) ? 5 : 4) * PERCENT_WIDTH + 3 + w.before + w.after + w.delta + 3 * 2;
	w.name = r->options->width > left + NAME_MIN ? r->options->width - left : NAME_MIN;
	return w;
}

static void put_name(const struct diff_report *r, const struct diff_row *row, const struct widths *w, struct buf *out)
{
	/* A total of memory may be 0, and a scaled value less than one. */
	bool was = row->total.before_percent != 0 || row->self.before_percent != 0, is = row->total.after || row->self.after;
	const char *mark = !was ? " (new)" : !is ? " (gone)" : "";
	struct str name = profile_name(r->diff->profile, row->frame);
	size_t room = w->name - strlen(mark);

	if (!r->options->width || text_columns(name) <= room) {
		text_put_plain(out, name);
	} else {
		text_put_plain(out, (struct str){ name.p, text_cut(name, room - 1) });
		buf_puts(out, "…");
	}
	buf_puts(out, mark);
}

/* Orange means more, blue less, as in the picture. */
static void put_change(const struct diff_report *r, const struct diff_cell *c, struct buf *cell, struct buf *out)
{
	bool color = r->options->color && c->changed;

	put_signed_percent(cell, c->change);
	if (color)
		buf_puts(out, c->change > 0 ? "\033[33m" : "\033[34m");
	put_cell(out, cell, PERCENT_WIDTH);
	if (color)
		buf_puts(out, "\033[0m");
	if (c->at_most)
		buf_puts(out, REPORT_AT_MOST);
	else
		buf_putc(out, c->changed || c->noise == 0 ? ' ' : '~');
}

static void put_row(const struct diff_report *r, const struct diff_row *row, const struct widths *w, struct buf *cell,
		    struct buf *out)
{
	const struct diff_cell *c = main_cell(r, row);

	buf_put_fixed(cell, c->before_percent, 2);
	put_cell(out, cell, PERCENT_WIDTH);
	buf_put_fixed(cell, c->after_percent, 2);
	put_cell(out, cell, PERCENT_WIDTH);
	put_change(r, c, cell, out);
	if (c->noise > 0)
		buf_put_fixed(cell, c->noise, 2);
	else
		buf_putc(cell, '-');
	put_cell(out, cell, PERCENT_WIDTH - 1);
	put_limit(cell, r, c, c->before);
	put_cell(out, cell, w->before + 2);
	put_limit(cell, r, c, c->after);
	put_cell(out, cell, w->after + 2);
	put_delta(cell, c, unit_of(r));
	put_cell(out, cell, w->delta + 2);
	if (has_totals(r))
		put_change(r, is_by_total(r) ? &row->self : &row->total, cell, out);
	buf_puts(out, "  ");
	put_name(r, row, w, out);
	buf_putc(out, '\n');
}

static void put_titles(const struct diff_report *r, const struct widths *w, struct buf *out)
{
	_cleanup_(buf_done) struct buf cell = { 0 };
	const struct { const char *title; size_t width; } titles[] = {
		{ "before%", PERCENT_WIDTH }, { "after%", PERCENT_WIDTH }, { "change%", PERCENT_WIDTH },
		{ "noise", PERCENT_WIDTH }, { "before", w->before + 2 }, { "after", w->after + 2 },
		{ "delta", w->delta + 2 }, { is_by_total(r) ? "self%" : "total%", PERCENT_WIDTH },
	};

	buf_init(&cell);
	for (size_t i = 0; i < ARRAY_SIZE(titles) - !has_totals(r); i++) {
		buf_puts(&cell, titles[i].title);
		put_cell(out, &cell, titles[i].width);
	}
	buf_puts(out, "   function\n");
}

/* The totals of both sides, and how they are compared. */
static void put_head(const struct diff_report *r, struct buf *out)
{
	const struct profile *p = r->diff->profile;
	enum amount_unit unit = unit_of(r);

	buf_puts(out, "before: ");
	text_put_plain(out, (struct str){ r->options->name_before, strlen(r->options->name_before) });
	buf_puts(out, ", ");
	amount_put(out, report_sum(p, r->diff->measured), unit);
	buf_printf(out, amount_is_count(unit) ? " %s\nafter:  " : " of %s\nafter:  ", r->options->column);
	text_put_plain(out, (struct str){ r->options->name_after, strlen(r->options->name_after) });
	buf_puts(out, ", ");
	amount_put(out, r->all.after, unit);
	if ((!r->diff->shares || r->diff->unfiltered_after > 0) && r->all.change != 0) {
		buf_puts(out, ", ");
		put_signed_percent(out, r->all.change);
		buf_puts(out, "%");
	}
	buf_printf(out, "\ncompared %s", r->options->compared);
	if (r->diff->measured != r->diff->before)
		buf_printf(out, ": before is multiplied by %.4g", r->diff->factor);
	buf_printf(out, "; %s of each function, change in percent of the total before\n\n",
		   !has_totals(r) ? "calls" : is_by_total(r) ? "total" : "self");
}

static void put_foot(const struct diff_report *r, size_t count, struct buf *out)
{
	if (count < r->count) {
		buf_puts(out, count ? "\n" : "");
		buf_put_grouped(out, (int64_t)(r->count - count));
		buf_puts(out, r->options->all ? " more functions; -r 0 shows them\n" : " more changed; -r 0 shows them\n");
	}
	if (!r->quiet || r->options->all)
		return;
	buf_puts(out, r->count ? "\n" : "No function changed: ");
	buf_put_grouped(out, (int64_t)r->quiet);
	buf_puts(out, r->quiet == 1 ? " function" : " functions");
	if (r->diff->before_weight > 0 || r->diff->after_weight > 0)
		buf_printf(out, " within the noise (%.2f standard errors)", r->sigma);
	else
		buf_puts(out, " unchanged");
	buf_puts(out, "; --all shows them\n");
}

static size_t shown(const struct diff_report *r)
{
	return r->options->limit && r->options->limit < r->count ? r->options->limit : r->count;
}

void diff_report_put_table(const struct diff_report *r, struct buf *out)
{
	_cleanup_(buf_done) struct buf cell = { 0 };
	size_t count = shown(r);
	struct widths w = measure(r, count);

	buf_init(&cell);
	put_head(r, out);
	if (count)
		put_titles(r, &w, out);
	for (size_t i = 0; i < count; i++)
		put_row(r, &r->rows[i], &w, &cell, out);
	put_foot(r, count, out);
	report_put_estimated(out, r->diff->profile);
}

/* --- JSON --- */

static void json_value(struct json *j, const struct diff_report *r, int64_t v)
{
	report_put_value_json(j, r->diff->profile, r->diff->after, v);
}

static void json_cell(struct json *j, const struct diff_report *r, const char *key, const struct diff_cell *c)
{
	json_key(j, key);
	json_open_object(j);
	json_key(j, "before");
	json_value(j, r, c->before);
	json_key(j, "after");
	json_value(j, r, c->after);
	json_key(j, "delta");
	json_value(j, r, delta_of(c));
	json_key(j, "before_percent");
	json_double(j, c->before_percent);
	json_key(j, "after_percent");
	json_double(j, c->after_percent);
	json_key(j, "change_percent");
	json_double(j, c->change);
	json_key(j, "noise_percent");
	json_double(j, c->noise);
	json_key(j, "changed");
	json_bool(j, c->changed);
	report_put_at_most_json(j, r->diff->profile, "at_most", c->at_most);
	json_end(j);
}

static void json_facts(struct json *j, const struct diff_report *r)
{
	const struct profile *p = r->diff->profile;

	json_key(j, "column");
	json_str(j, r->options->column);
	json_key(j, "unit");
	json_str(j, report_unit(p, r->diff->after));
	json_key(j, "compared");
	json_str(j, r->options->compared);
	json_key(j, "factor");
	json_double(j, r->diff->factor);
	json_key(j, "before_measured");
	json_value(j, r, report_sum(p, r->diff->measured));
	json_key(j, "sampled");
	json_bool(j, r->diff->before_weight > 0 || r->diff->after_weight > 0);
	json_key(j, "standard_errors");
	json_double(j, r->sigma);
	report_put_estimated_json(j, p);
	json_cell(j, r, "total", &r->all);
	json_key(j, "compared_functions");
	json_u64(j, r->compared);
	json_key(j, "unchanged_functions");
	json_u64(j, r->quiet);
}

void diff_report_put_json(const struct diff_report *r, struct buf *out)
{
	const struct profile *p = r->diff->profile;
	struct json j;

	json_init(&j, out);
	json_open_object(&j);
	json_facts(&j, r);
	json_key(&j, "functions");
	json_open_array(&j);
	for (size_t i = 0; i < shown(r); i++) {
		const struct diff_row *row = &r->rows[i];

		json_open_object(&j);
		json_key(&j, "function");
		json_bytes(&j, profile_name(p, row->frame));
		json_key(&j, "file");
		json_bytes(&j, profile_file(p, row->frame));
		json_key(&j, "line");
		json_u64(&j, p->frames[row->frame].line);
		json_cell(&j, r, "self", &row->self);
		json_cell(&j, r, "total", &row->total);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

/* --- CSV --- */

static void csv_cell(struct csv *c, const struct diff_report *r, const struct diff_cell *cell)
{
	const int64_t values[] = { cell->before, cell->after, delta_of(cell) };
	const double shares[] = { cell->before_percent, cell->after_percent, cell->change, cell->noise };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		report_put_value_csv(c, r->diff->profile, r->diff->after, values[i]);
	for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
		csv_fixed(c, shares[i], 4);
	csv_i64(c, cell->changed);
}

void diff_report_put_csv(const struct diff_report *r, struct buf *out)
{
	static const char *const metrics[] = { "self", "total" };
	static const char *const fields[] = {
		"before", "after", "delta", "before_percent", "after_percent", "change_percent", "noise_percent",
		"changed",
	};
	const struct profile *p = r->diff->profile;
	struct csv c = { .out = out };

	buf_puts(out, "function,file,line");
	for (size_t m = 0; m < ARRAY_SIZE(metrics); m++)
		for (size_t f = 0; f < ARRAY_SIZE(fields); f++)
			buf_printf(out, ",%s_%s", metrics[m], fields[f]);
	buf_puts(out, p->edges ? ",total_at_most\r\n" : "\r\n");
	for (size_t i = 0; i < shown(r); i++) {
		const struct diff_row *row = &r->rows[i];

		csv_text(&c, profile_name(p, row->frame));
		csv_text(&c, profile_file(p, row->frame));
		csv_i64(&c, p->frames[row->frame].line);
		csv_cell(&c, r, &row->self);
		csv_cell(&c, r, &row->total);
		report_put_at_most_csv(&c, p, row->total.at_most);
		csv_end(&c);
	}
}

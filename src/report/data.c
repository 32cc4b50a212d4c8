/* data.c: tables for programs: JSON, and CSV for spreadsheets. */

#include "data.h"

#include <string.h>

size_t report_data_columns(const struct profile *p, const struct report_options *o, uint32_t ret[PROFILE_COLUMNS])
{
	if (o->all_columns)
		return report_wide_columns(p, ret);
	ret[0] = o->column;
	return 1;
}

void report_put_rest(struct buf *out, enum report_by by, size_t count)
{
	buf_printf(out, "[%zu more %s]\n", count, report_by_name(by, count != 1));
}

void report_put_all(struct buf *out, enum report_by by, size_t count)
{
	if (count == 1)
		buf_printf(out, "[all, 1 %s]\n", report_by_name(by, false));
	else
		buf_printf(out, "[all %zu %s]\n", count, report_by_name(by, true));
}

void report_put_value_json(struct json *j, const struct profile *p, uint32_t column, int64_t v)
{
	if (profile_scale(p, column) == 1)
		json_i64(j, v);
	else
		json_double(j, (double)v / (double)profile_scale(p, column));
}

void report_put_value_csv(struct csv *c, const struct profile *p, uint32_t column, int64_t v)
{
	if (profile_scale(p, column) == 1)
		csv_i64(c, v);
	else
		csv_millionths(c, v);
}

const char *report_unit(const struct profile *p, uint32_t column)
{
	return profile_scale(p, column) == 1 ? p->columns[column].unit : "count";
}

void report_put_at_most_json(struct json *j, const struct profile *p, const char *key, bool at_most)
{
	if (!p->edges)
		return;
	json_key(j, key);
	json_bool(j, at_most);
}

void report_put_at_most_csv(struct csv *c, const struct profile *p, bool at_most)
{
	if (p->edges)
		csv_i64(c, at_most);
}

void report_put_estimated(struct buf *out, const struct profile *p)
{
	if (p->estimated && !p->edges)
		buf_puts(out, "[an estimate: of whole stacks only pairs of caller and callee were measured]\n");
}

void report_put_estimated_json(struct json *j, const struct profile *p)
{
	if (!p->estimated || p->edges)
		return;
	json_key(j, "estimated");
	json_bool(j, true);
}

static double share(int64_t part, int64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void report_put_place_json(struct json *j, const struct profile *p, uint32_t frame)
{
	json_key(j, "file");
	json_bytes(j, profile_file(p, frame));
	json_key(j, "line");
	json_u64(j, p->frames[frame].line);
}

void report_put_place_csv(struct csv *c, const struct profile *p, uint32_t frame)
{
	csv_text(c, profile_file(p, frame));
	csv_i64(c, p->frames[frame].line);
}

/* {"wall_ns": {"self": 1, "total": 2}, …} */
static void put_columns(struct json *j, const struct profile *p, const struct wide_row *row, const uint32_t *columns,
			size_t n)
{
	json_key(j, "columns");
	json_open_object(j);
	for (size_t i = 0; i < n; i++) {
		json_key(j, p->columns[columns[i]].name);
		json_open_object(j);
		json_key(j, "self");
		report_put_value_json(j, p, columns[i], row->self[columns[i]]);
		json_key(j, "total");
		report_put_value_json(j, p, columns[i], row->total[columns[i]]);
		json_end(j);
	}
	json_end(j);
}

static void put_json_row(struct json *j, const struct profile *p, const struct report_options *o,
			 const struct wide_row *row, const uint32_t *columns, size_t n, int64_t whole)
{
	json_open_object(j);
	json_key(j, report_by_name(o->by, false));
	json_bytes(j, profile_name(p, row->frame));
	if (o->by == REPORT_BY_FUNCTION)
		report_put_place_json(j, p, row->frame);
	json_key(j, "self");
	report_put_value_json(j, p, o->column, row->self[o->column]);
	json_key(j, "total");
	report_put_value_json(j, p, o->column, row->total[o->column]);
	json_key(j, "self_percent");
	json_double(j, share(row->self[o->column], whole));
	json_key(j, "total_percent");
	json_double(j, share(row->total[o->column], whole));
	report_put_at_most_json(j, p, "total_at_most", row->at_most);
	if (o->all_columns)
		put_columns(j, p, row, columns, n);
	json_end(j);
}

static void put_json(struct buf *out, const struct profile *p, const struct report_options *o,
		     const struct wide_row *rows, size_t count, size_t shown)
{
	uint32_t columns[PROFILE_COLUMNS];
	size_t n = report_data_columns(p, o, columns);
	int64_t whole = report_whole(p, o->column);
	struct json j;

	json_init(&j, out);
	json_open_object(&j);
	json_key(&j, "column");
	json_str(&j, p->columns[o->column].name);
	json_key(&j, "unit");
	json_str(&j, report_unit(p, o->column));
	json_key(&j, "total");
	report_put_value_json(&j, p, o->column, report_sum(p, o->column));
	report_put_estimated_json(&j, p);
	json_key(&j, "count");
	json_u64(&j, count);
	json_key(&j, report_by_name(o->by, true));
	json_open_array(&j);
	for (size_t i = 0; i < shown; i++)
		put_json_row(&j, p, o, &rows[i], columns, n, whole);
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

static void put_csv_headings(struct csv *c, const struct profile *p, const struct report_options *o,
			     const uint32_t *columns, size_t n)
{
	csv_words(c, report_by_name(o->by, false));
	if (o->by == REPORT_BY_FUNCTION) {
		csv_words(c, "file");
		csv_words(c, "line");
	}
	csv_words(c, "self_percent");
	csv_words(c, "total_percent");
	for (size_t i = 0; i < n; i++) {
		char name[80];

		snprintf(name, sizeof(name), "%s_self", p->columns[columns[i]].name);
		csv_words(c, name);
		snprintf(name, sizeof(name), "%s_total", p->columns[columns[i]].name);
		csv_words(c, name);
	}
	if (p->edges)
		csv_words(c, "total_at_most");
	csv_end(c);
}

static void put_csv(struct buf *out, const struct profile *p, const struct report_options *o,
		    const struct wide_row *rows, size_t shown)
{
	uint32_t columns[PROFILE_COLUMNS];
	size_t n = report_data_columns(p, o, columns);
	int64_t whole = report_whole(p, o->column);
	struct csv c = { out };

	put_csv_headings(&c, p, o, columns, n);
	for (size_t i = 0; i < shown; i++) {
		csv_text(&c, profile_name(p, rows[i].frame));
		if (o->by == REPORT_BY_FUNCTION)
			report_put_place_csv(&c, p, rows[i].frame);
		csv_share(&c, rows[i].self[o->column], whole);
		csv_share(&c, rows[i].total[o->column], whole);
		for (size_t k = 0; k < n; k++) {
			report_put_value_csv(&c, p, columns[k], rows[i].self[columns[k]]);
			report_put_value_csv(&c, p, columns[k], rows[i].total[columns[k]]);
		}
		report_put_at_most_csv(&c, p, rows[i].at_most);
		csv_end(&c);
	}
}

void report_functions_data(const struct profile *p, const struct report_options *o, const struct wide_row *rows,
			   size_t count, struct buf *out)
{
	size_t shown = o->limit && count > o->limit ? o->limit : count;

	if (o->json)
		put_json(out, p, o, rows, count, shown);
	else
		put_csv(out, p, o, rows, shown);
}

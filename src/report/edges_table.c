/* edges_table.c: a function with its callers and callees. */

#include "report.h"

#include "amount.h"
#include "data.h"
#include "grid.h"
#include "saturate.h"
#include "text.h"

#include <string.h>

/* One of the two tables. */
struct side {
	const struct profile *p;
	const struct report_options *o;
	const bool *of;
	bool callees;
	struct report_edges e;
	uint32_t columns[PROFILE_COLUMNS];	/* columns shown, "calls" too if there are any */
	size_t column_count;
	size_t shown;				/* edges */
	int64_t whole;
};

static const char no_caller[] = "[none: it is the root]";

static void add_calls(struct side *s)
{
	uint32_t calls = profile_find_column(s->p, "calls");

	for (size_t i = 0; i < s->column_count; i++)
		if (s->columns[i] == calls)
			return;
	if (calls != UINT32_MAX)
		s->columns[s->column_count++] = calls;
}

static void side_init(struct side *s, const struct profile *p, const struct report_options *o, const bool *of,
		      bool callees)
{
	*s = (struct side){ .p = p, .o = o, .of = of, .callees = callees, .whole = report_whole(p, o->column) };
	report_edges(p, of, callees ? REPORT_CALLEES : REPORT_CALLERS, o->column, &s->e);
	s->column_count = report_data_columns(p, o, s->columns);
	add_calls(s);
	s->shown = o->limit && s->e.count > o->limit ? o->limit : s->e.count;
}

static void side_done(struct side *s)
{
	report_edges_done(&s->e);
}

static uint32_t first_of(const struct side *s, size_t *ret_count)
{
	uint32_t first = UINT32_MAX;

	*ret_count = 0;
	for (uint32_t f = 0; f < s->p->frame_count; f++)
		if (s->of[f] && (*ret_count)++ == 0)
			first = f;
	return first;
}

static bool is_calls(const struct side *s, uint32_t column)
{
	return s->p->columns[column].counts_calls;
}

/* --- Text --- */

static void put_amount_and_share(struct buf *out, const struct side *s, int64_t v, bool at_most)
{
	buf_puts(out, at_most ? REPORT_AT_MOST : "");
	amount_put(out, v, amount_unit(s->p->columns[s->o->column].unit));
	buf_puts(out, " (");
	buf_put_fixed(out, s->whole ? 100.0 * (double)v / (double)s->whole : 0, 1);
	buf_puts(out, "%)");
}

/* Appends "Cart::total /srv/Cart.php:88", and its own values below. */
static void put_function(struct buf *out, const struct side *s)
{
	uint32_t c = s->o->column, calls = profile_find_column(s->p, "calls");
	size_t places;
	uint32_t frame = first_of(s, &places);

	if (frame == UINT32_MAX)
		return;
	grid_put_name(out, s->p, frame, 0, s->o->color);
	if (places > 1)
		buf_printf(out, " and %zu more", places - 1);
	if (is_calls(s, c)) {
		buf_puts(out, "\n  called ");
		put_amount_and_share(out, s, s->e.self[c], false);
		buf_putc(out, '\n');
		return;
	}
	buf_printf(out, "\n  %s: self ", s->p->columns[c].name);
	put_amount_and_share(out, s, s->e.self[c], false);
	buf_puts(out, ", total ");
	put_amount_and_share(out, s, s->e.total[c], s->e.total_at_most);
	if (calls != UINT32_MAX) {
		buf_puts(out, ", called ");
		amount_put(out, s->e.self[calls], amount_unit(s->p->columns[calls].unit));
		buf_puts(out, s->e.self[calls] == profile_scale(s->p, calls) ? " time" : " times");
	}
	if (s->e.again[c]) {
		buf_puts(out, "\n  recursion: ");
		put_amount_and_share(out, s, s->e.again[c], s->e.again_at_most);
		buf_puts(out, " was in recursive calls and is counted once");
	}
	buf_putc(out, '\n');
}

static void put_headings(struct grid *g, const struct side *s)
{
	grid_text(g, "function%");
	grid_text(g, "all%");
	for (size_t i = 0; i < s->column_count; i++)
		grid_text(g, report_column_title(s->p->columns[s->columns[i]].name));
}

static void put_values(struct grid *g, const struct side *s, const int64_t *values, bool at_most)
{
	uint32_t c = s->o->column;

	grid_at_most(g, at_most && !is_calls(s, c));
	grid_share(g, values[c], s->e.total[c]);
	grid_at_most(g, at_most && !is_calls(s, c));
	grid_share(g, values[c], s->whole);
	for (size_t i = 0; i < s->column_count; i++) {
		grid_at_most(g, at_most && !is_calls(s, s->columns[i]));
		grid_value(g, values[s->columns[i]], s->p->columns[s->columns[i]].unit);
	}
}

/* "calls" has no self value: calls of the function by itself are an edge. */
static void put_itself(struct grid *g, const struct side *s)
{
	int64_t values[PROFILE_COLUMNS];

	for (uint32_t c = 0; c < s->p->column_count; c++)
		values[c] = is_calls(s, c) ? 0 : s->e.self[c];
	put_values(g, s, values, false);
}

static void put_rest(struct grid *g, const struct side *s)
{
	int64_t rest[PROFILE_COLUMNS] = { 0 };
	bool at_most = false;

	for (size_t i = s->shown; i < s->e.count; i++) {
		at_most |= s->e.edges[i].at_most;
		for (uint32_t c = 0; c < s->p->column_count; c++)
			saturating_add(&rest[c], s->e.edges[i].values[c]);
	}
	put_values(g, s, rest, at_most);
}

static void put_edge_name(struct buf *out, const struct side *s, uint32_t frame, size_t room)
{
	if (frame == REPORT_NO_CALLER)
		buf_puts(out, no_caller);
	else
		grid_put_name(out, s->p, frame, room, s->o->color);
	if (frame != REPORT_NO_CALLER && s->of[frame])
		buf_puts(out, "  (recursion)");
	buf_putc(out, '\n');
}

static void put_text(struct buf *out, const struct side *s)
{
	_cleanup_(grid_done) struct grid g = { 0 };
	bool itself = s->callees && !is_calls(s, s->o->column);
	size_t row = 0, room;

	grid_init(&g, s->column_count + 2);
	put_headings(&g, s);
	for (size_t i = 0; i < s->shown; i++)
		put_values(&g, s, s->e.edges[i].values, s->e.edges[i].at_most);
	put_rest(&g, s);
	put_itself(&g, s);

	room = grid_room(&g, s->o->width);
	grid_put(&g, row++, out);
	buf_puts(out, s->callees ? "callee\n" : "caller\n");
	for (size_t i = 0; i < s->shown; i++) {
		grid_put(&g, row++, out);
		put_edge_name(out, s, s->e.edges[i].frame, room);
	}
	if (s->shown < s->e.count) {
		grid_put(&g, row, out);
		buf_printf(out, "[%zu more]\n", s->e.count - s->shown);
	}
	if (itself) {
		grid_put(&g, row + 1, out);
		buf_puts(out, "[itself]\n");
	}
}

/* --- JSON --- */

static void put_json_values(struct json *j, const struct side *s, const char *key, const int64_t *values)
{
	json_key(j, key);
	json_open_object(j);
	for (size_t i = 0; i < s->column_count; i++) {
		json_key(j, s->p->columns[s->columns[i]].name);
		report_put_value_json(j, s->p, s->columns[i], values[s->columns[i]]);
	}
	json_end(j);
}

static void put_json_edge(struct json *j, const struct side *s, const struct report_edge *e)
{
	int64_t v = e->values[s->o->column];

	json_open_object(j);
	json_key(j, report_by_name(s->o->by, false));
	if (e->frame == REPORT_NO_CALLER)
		json_str(j, NULL);
	else
		json_bytes(j, profile_name(s->p, e->frame));
	if (e->frame != REPORT_NO_CALLER && s->o->by == REPORT_BY_FUNCTION)
		report_put_place_json(j, s->p, e->frame);
	json_key(j, "recursion");
	json_bool(j, e->frame != REPORT_NO_CALLER && s->of[e->frame]);
	json_key(j, "percent");
	json_double(j, s->whole ? 100.0 * (double)v / (double)s->whole : 0);
	put_json_values(j, s, "values", e->values);
	report_put_at_most_json(j, s->p, "at_most", e->at_most);
	json_end(j);
}

static void put_json(struct json *j, const struct side *s)
{
	size_t places;
	uint32_t frame = first_of(s, &places);

	json_key(j, s->callees ? "callees" : "callers");
	json_open_object(j);
	json_key(j, "of");
	if (frame == UINT32_MAX)
		json_str(j, NULL);
	else
		json_bytes(j, profile_name(s->p, frame));
	put_json_values(j, s, "self", s->e.self);
	put_json_values(j, s, "total", s->e.total);
	put_json_values(j, s, "recursion", s->e.again);
	report_put_at_most_json(j, s->p, "total_at_most", s->e.total_at_most);
	report_put_at_most_json(j, s->p, "recursion_at_most", s->e.again_at_most);
	json_key(j, "count");
	json_u64(j, s->e.count);
	json_key(j, "edges");
	json_open_array(j);
	for (size_t i = 0; i < s->shown; i++)
		put_json_edge(j, s, &s->e.edges[i]);
	json_end(j);
	json_end(j);
}

static void put_csv_headings(struct csv *c, const struct side *s)
{
	csv_words(c, "relation");
	csv_words(c, "of");
	csv_words(c, report_by_name(s->o->by, false));
	if (s->o->by == REPORT_BY_FUNCTION) {
		csv_words(c, "file");
		csv_words(c, "line");
	}
	csv_words(c, "percent");
	for (size_t i = 0; i < s->column_count; i++)
		csv_words(c, s->p->columns[s->columns[i]].name);
	if (s->p->edges)
		csv_words(c, "at_most");
	csv_end(c);
}

static void put_csv_edge(struct csv *c, const struct side *s, const struct report_edge *e, uint32_t of)
{
	csv_words(c, s->callees ? "callee" : "caller");
	csv_text(c, profile_name(s->p, of));
	if (e->frame == REPORT_NO_CALLER)
		csv_words(c, "");
	else
		csv_text(c, profile_name(s->p, e->frame));
	if (s->o->by == REPORT_BY_FUNCTION && e->frame == REPORT_NO_CALLER) {
		csv_words(c, "");
		csv_i64(c, 0);
	} else if (s->o->by == REPORT_BY_FUNCTION) {
		report_put_place_csv(c, s->p, e->frame);
	}
	csv_share(c, e->values[s->o->column], s->whole);
	for (size_t i = 0; i < s->column_count; i++)
		report_put_value_csv(c, s->p, s->columns[i], e->values[s->columns[i]]);
	report_put_at_most_csv(c, s->p, e->at_most);
	csv_end(c);
}

static void put_csv(struct buf *out, const struct side *s, bool headings)
{
	struct csv c = { out };
	size_t places;
	uint32_t of = first_of(s, &places);

	if (headings)
		put_csv_headings(&c, s);
	for (size_t i = 0; i < s->shown; i++)
		put_csv_edge(&c, s, &s->e.edges[i], of);
}

/* --- JSON and text --- */

static void json_start(struct json *j, const struct profile *p, const struct report_options *o, struct buf *out)
{
	json_init(j, out);
	json_open_object(j);
	json_key(j, "column");
	json_str(j, p->columns[o->column].name);
	json_key(j, "unit");
	json_str(j, report_unit(p, o->column));
	json_key(j, "total");
	report_put_value_json(j, p, o->column, report_sum(p, o->column));
	report_put_estimated_json(j, p);
}

int report_edges_table(const struct profile *p, const bool *callers, const bool *callees,
		       const struct report_options *o, struct buf *out, struct err *err)
{
	const bool *of[] = { callers, callees };
	const bool *before = NULL;
	struct json j;

	if (o->column >= p->column_count)
		return err_set(err, -EINVAL, "the profile has no such column");
	if (o->json)
		json_start(&j, p, o, out);
	for (int callee = 0; callee < 2; callee++) {
		_cleanup_(side_done) struct side s = { 0 };

		if (!of[callee])
			continue;
		side_init(&s, p, o, of[callee], callee);
		if (o->json) {
			put_json(&j, &s);
		} else if (o->csv) {
			put_csv(out, &s, !before);
		} else {
			bool same = before && !memcmp(before, of[callee], p->frame_count);

			if (before)
				buf_putc(out, '\n');
			if (!same)
				put_function(out, &s);
			put_text(out, &s);
		}
		before = of[callee];
	}
	if (o->json) {
		json_end(&j);
		buf_putc(out, '\n');
	} else if (!o->csv) {
		report_put_estimated(out, p);
	}
	return 0;
}

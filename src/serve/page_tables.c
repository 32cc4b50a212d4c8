/* page_tables.c: functions with their values, each with a link to its callers and callees. */

#include "page_parts.h"

#include "amount.h"
#include "diff_report.h"
#include "html.h"
#include "saturate.h"
#include "text.h"

#include <string.h>

#define TABLE_ROWS 100u
#define TOO_LONG "The name is too long for a link: "

/* --- Cells --- */

/* Two cells: the share and the value. */
static void put_pair_of(struct buf *out, int64_t v, int64_t part, int64_t whole, const char *unit, bool at_most)
{
	const char *sign = at_most ? REPORT_AT_MOST : "";

	buf_printf(out, "<td>%s", sign);
	amount_put_share(out, part, whole);
	buf_printf(out, "</td><td>%s", sign);
	amount_put(out, v, amount_unit(unit));
	buf_puts(out, "</td>");
}

static void put_pair(struct buf *out, int64_t v, int64_t whole, const char *unit, bool at_most)
{
	put_pair_of(out, v, v, whole, unit, at_most);
}

/* The parts of a name: if there is no room, a namespace or folder is truncated first, then the class, as in
 * FunctionLink of web/src/table.tsx. */
struct name_parts {
	size_t space;			/* end of a namespace or folder; 0: none */
	size_t before_method;		/* the end of the class */
};

static void find_parts(struct str name, struct name_parts *ret)
{
	bool is_path = text_starts(name, "/") || text_starts(name, "{closure:/");
	size_t method = 0;

	*ret = (struct name_parts){ 0 };
	for (size_t i = 1; !is_path && i + 1 < name.n; i++)
		if (name.p[i] == ':' && name.p[i + 1] == ':')
			method = i;
	for (size_t i = 0; i < (method ? method : name.n); i++)
		if (name.p[i] == (is_path ? '/' : '\\'))
			ret->space = i + 1;
	ret->before_method = method > ret->space ? method : ret->space;
}

static void put_part(struct buf *out, const char *class, struct str name, size_t from, size_t to)
{
	if (from == to)
		return;
	buf_printf(out, "<span class=\"%s\">", class);
	text_put_xml(out, (struct str){ name.p + from, to - from });
	buf_puts(out, "</span>");
}

static void put_function_link(const struct page *p, const char *address, const char *file, struct str name)
{
	_cleanup_(buf_done) struct buf link = { 0 };
	struct page to = *p;
	struct name_parts parts;
	bool is_link;

	buf_init(&link);
	to.out = &link;
	page_put_function_address(&to, address, file);
	is_link = link.size <= PARAMS_QUERY_MAX;	/* a longer URL would be refused */
	find_parts(name, &parts);
	buf_puts(p->out, is_link ? "<a class=\"function-link\" title=\"" : "<span class=\"function-link\" title=\"" TOO_LONG);
	text_put_xml(p->out, name);
	if (is_link) {
		buf_puts(p->out, "\" href=\"");
		buf_put(p->out, link.data, link.size);
	}
	buf_puts(p->out, "\">");
	put_part(p->out, "space-of", name, 0, parts.space);
	put_part(p->out, "class-of", name, parts.space, parts.before_method);
	put_part(p->out, "method", name, parts.before_method, name.n);
	buf_puts(p->out, is_link ? "</a>" : "</span>");
}

static void put_name(const struct page *p, uint32_t frame)
{
	const struct profile *profile = p->query.profile;
	struct str name = profile_name(profile, frame), file = profile_file(profile, frame);
	_cleanup_(buf_done) struct buf shown = { 0 }, shown_file = { 0 };

	buf_init(&shown);
	buf_init(&shown_file);
	text_put_plain(&shown, name);
	text_put_plain(&shown_file, file);
	buf_puts(p->out, "<th scope=\"row\">");
	put_function_link(p, shown.data ? shown.data : "", p->shared && p->shared[frame] ? shown_file.data : NULL, name);
	if (file.n) {
		buf_puts(p->out, " <small>");
		text_put_xml(p->out, file);
		if (profile->frames[frame].line)
			buf_printf(p->out, ":%u", profile->frames[frame].line);
		buf_puts(p->out, "</small>");
	}
	buf_puts(p->out, "</th>");
}

static const char *unit_of(const struct page *p)
{
	return p->query.columns[p->query.chosen].unit;
}

static const char *row_names(const struct page *p)
{
	return report_by_name(p->query.view.by, true);
}

static size_t rows_of(const struct page *p, size_t count)
{
	size_t most = p->query.view.has_limit ? p->query.view.limit : TABLE_ROWS;

	return most && most < count ? most : count;
}

static void put_counted(const struct page *p, size_t count, size_t shown)
{
	buf_puts(p->out, "<p>");
	buf_put_grouped(p->out, (int64_t)count);
	buf_printf(p->out, " %s", row_names(p));
	if (shown < count) {
		buf_printf(p->out, ", the first %zu; <a href=\"", shown);
		page_put_address(p, NULL, "limit", "0");
		buf_puts(p->out, "#functions\">show all</a>");
	}
	buf_puts(p->out, ". Each has its self value, and its total with callees");
}

/* --- A range, a run or an average --- */

static bool is_calls(const struct page *p, uint32_t column)
{
	return !strcmp(p->query.columns[column].name, "calls");
}

/* Appends the heading of a column; that of the selected metric is a link that sorts by it. */
static void put_sort(const struct page *p, uint32_t column, enum report_sort sort, const char *words, int span)
{
	bool mine = column == p->query.chosen, sorted = mine && p->query.view.sort == sort;

	buf_printf(p->out, "<th scope=\"colgroup\" colspan=\"%d\"%s>", span, sorted ? " aria-sort=\"descending\"" : "");
	if (mine && !sorted) {
		buf_puts(p->out, "<a href=\"");
		page_put_address(p, NULL, "sort", sort == REPORT_SORT_TOTAL ? "total" : NULL);
		buf_printf(p->out, "#functions\">%s</a></th>", words);
	} else {
		buf_printf(p->out, "%s%s</th>", words, sorted ? " ▾" : "");
	}
}

/* Appends the heading of names, a link that sorts by them. */
static void put_name_heading(const struct page *p)
{
	bool sorted = p->query.view.sort == REPORT_SORT_NAME;

	buf_printf(p->out, "<th scope=\"col\"%s>", sorted ? " aria-sort=\"ascending\"" : "");
	if (!sorted) {
		buf_puts(p->out, "<a href=\"");
		page_put_address(p, NULL, "sort", "name");
		buf_puts(p->out, "#functions\">");
	}
	html_text(p->out, report_by_name(p->query.view.by, false));
	buf_printf(p->out, "%s</th>", sorted ? " ▴" : "</a>");
}

/* Each row has a link, which is a Tab stop, so a link before the table skips it. It is visible while focused. */
static void put_skip(const struct page *p, const char *name)
{
	buf_printf(p->out, "<a class=\"skip\" href=\"#after-%s\">Skip the table</a>\n", name);
}

static void put_skipped(const struct page *p, const char *name)
{
	buf_printf(p->out, "</tbody>\n</table>\n<p id=\"after-%s\" tabindex=\"-1\"></p>\n", name);
}

static void put_headings(const struct page *p, const uint32_t *columns, size_t count)
{
	buf_puts(p->out, "<table>\n<thead><tr><th></th>");
	for (size_t i = 0; i < count; i++) {
		const char *name = p->query.columns[columns[i]].name;

		buf_printf(p->out, "<th scope=\"colgroup\" colspan=\"%d\"><a href=\"", is_calls(p, columns[i]) ? 2 : 4);
		page_put_address(p, NULL, "column", name);
		buf_puts(p->out, "#functions\">");
		html_text(p->out, report_column_title(name));
		buf_puts(p->out, "</a></th>");
	}
	buf_puts(p->out, "</tr>\n<tr>");
	put_name_heading(p);
	for (size_t i = 0; i < count; i++) {
		put_sort(p, columns[i], REPORT_SORT_SELF, is_calls(p, columns[i]) ? "number" : "self", 2);
		if (!is_calls(p, columns[i]))
			put_sort(p, columns[i], REPORT_SORT_TOTAL, "total", 2);
	}
	buf_puts(p->out, "</tr></thead>\n<tbody>\n");
}

static void put_row(const struct page *p, const struct wide_row *row, const uint32_t *columns, size_t count)
{
	buf_puts(p->out, "<tr>");
	put_name(p, row->frame);
	for (size_t i = 0; i < count; i++) {
		const struct profile_query_column *c = &p->query.columns[columns[i]];

		put_pair(p->out, row->self[columns[i]], c->whole, c->unit, false);
		if (!is_calls(p, columns[i]))
			put_pair(p->out, row->total[columns[i]], c->whole, c->unit, row->at_most);
	}
	buf_puts(p->out, "</tr>\n");
}

static void put_functions(const struct page *p)
{
	uint32_t columns[PROFILE_COLUMNS];
	size_t column_count = report_wide_columns(p->query.profile, columns), count, shown;
	_cleanup_(freep) struct wide_row *rows = report_wide(p->query.profile, p->query.column, p->query.view.sort, &count);

	shown = rows_of(p, count);
	put_counted(p, count, shown);
	for (size_t i = 0; i < count; i++)
		if (rows[i].at_most) {
			buf_puts(p->out, " (" REPORT_AT_MOST ": mutually recursive functions, for which only a "
							     "limit is known)");
			break;
		}
	buf_puts(p->out, ".</p>\n");
	put_skip(p, "functions");
	put_headings(p, columns, column_count);
	for (size_t i = 0; i < shown; i++)
		put_row(p, &rows[i], columns, column_count);
	put_skipped(p, "functions");
}

/* --- A comparison --- */

static void put_cell(const struct page *p, const struct diff_cell *c)
{
	struct buf *out = p->out;
	int64_t delta = saturating_difference(c->after, c->before);

	for (int after = 0; after < 2; after++) {
		buf_printf(out, "<td>%s", c->at_most ? REPORT_AT_MOST : "");
		amount_put(out, after ? c->after : c->before, amount_unit(unit_of(p)));
		buf_puts(out, "</td>");
	}
	buf_printf(out, "<td class=\"%s\">%s", !c->changed ? "quiet" : delta > 0 ? "more" : "less", delta > 0 ? "+" : "");
	amount_put(out, delta, amount_unit(unit_of(p)));
	buf_puts(out, c->changed || !delta ? "</td>" : "?</td>");
}

static void put_changes(const struct page *p)
{
	struct diff_report_options o = {
		.name_before = p->query.name_before, .name_after = p->query.name_after, .compared = "", .all = true,
		.sort = p->query.view.sort, .column = p->query.columns[p->query.chosen].name,
	};
	bool calls = p->query.profile->columns[p->query.column].counts_calls;	/* calls have no totals */
	struct diff_report r;
	size_t shown;

	diff_report_init(&r, &p->query.diff, &o);
	shown = rows_of(p, r.count);
	put_counted(p, r.count, shown);
	buf_printf(p->out, ", before and after%s.</p>\n",
		   p->query.diff.before_weight > 0 || p->query.diff.after_weight > 0 ? "; a ? marks a change within the noise" : "");
	put_skip(p, "functions");
	buf_puts(p->out, "<table>\n<thead><tr><th></th>");
	put_sort(p, p->query.chosen, REPORT_SORT_SELF, calls ? "number" : "self", 3);
	if (!calls)
		put_sort(p, p->query.chosen, REPORT_SORT_TOTAL, "total", 3);
	buf_puts(p->out, "</tr>\n<tr>");
	put_name_heading(p);
	for (int kinds = calls ? 1 : 2; kinds > 0; kinds--)
		buf_puts(p->out, "<th scope=\"col\">before</th><th scope=\"col\">after</th><th scope=\"col\">change</th>");
	buf_puts(p->out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < shown; i++) {
		buf_puts(p->out, "<tr>");
		put_name(p, r.rows[i].frame);
		put_cell(p, &r.rows[i].self);
		if (!calls)
			put_cell(p, &r.rows[i].total);
		buf_puts(p->out, "</tr>\n");
	}
	put_skipped(p, "functions");
	diff_report_done(&r);
}

void page_put_table(const struct page *p)
{
	buf_puts(p->out, "<section class=\"functions plain\" id=\"functions\" aria-label=\"Functions\">\n<h2>Functions</h2>\n");
	if (p->query.is_diff)
		put_changes(p);
	else
		put_functions(p);
	buf_puts(p->out, "</section>\n");
}

/* --- One function --- */

/* Returns the columns of its tables: the selected one, both sides of a comparison, and the number of calls. */
static size_t edge_columns(const struct page *p, uint32_t ret[3])
{
	uint32_t calls = profile_find_column(p->query.profile, "calls");
	size_t n = 0;

	if (p->query.is_diff)
		ret[n++] = p->query.before;
	ret[n++] = p->query.column;
	if (calls != UINT32_MAX && calls != p->query.column)
		ret[n++] = calls;
	return n;
}

static int64_t total_of(const struct page *p, uint32_t column)
{
	return report_whole(p->query.profile, column);
}

/* Shares of calls to a callee refer to all calls that the function makes. */
static int64_t whole_calls(const struct report_edges *e, uint32_t column, bool made)
{
	int64_t sum = 0;

	for (size_t i = 0; made && i < e->count; i++)
		saturating_add(&sum, e->edges[i].values[column]);
	return made ? sum : e->self[column];
}

static void put_edge_row(const struct page *p, const struct report_edges *e, const int64_t *values, bool at_most, bool callees)
{
	uint32_t columns[3];
	size_t count = edge_columns(p, columns);

	for (size_t i = 0; i < count; i++) {
		bool calls = p->query.profile->columns[columns[i]].counts_calls;
		uint32_t measured = profile_measured(p->query.profile, columns[i]);
		int64_t of = calls ? whole_calls(e, measured, callees) : e->total[measured];

		put_pair_of(p->out, values[columns[i]], values[measured], of, p->query.profile->columns[columns[i]].unit, at_most && !calls);
	}
}

static void put_edges(const struct page *p, const struct report_edges *e, bool callees)
{
	uint32_t columns[3];
	size_t count = edge_columns(p, columns);

	buf_printf(p->out, "<section class=\"plain\" aria-label=\"%s\">\n<h2>%s</h2>\n", callees ? "Callees" : "Callers", callees ? "Callees" : "Callers");
	put_skip(p, callees ? "callees" : "callers");
	buf_printf(p->out, "<table>\n<thead><tr><th scope=\"col\">%s</th>", callees ? "callee" : "caller");
	for (size_t i = 0; i < count; i++) {
		const char *name = p->query.profile->columns[columns[i]].name;

		buf_puts(p->out, "<th scope=\"colgroup\" colspan=\"2\">");
		html_text(p->out, report_column_title(name));
		buf_puts(p->out, " (of it)</th>");
	}
	buf_puts(p->out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < e->count; i++) {
		buf_puts(p->out, "<tr>");
		if (e->edges[i].frame == REPORT_NO_CALLER)
			buf_puts(p->out, "<th scope=\"row\">[none: it is the root]</th>");
		else
			put_name(p, e->edges[i].frame);
		put_edge_row(p, e, e->edges[i].values, e->edges[i].at_most, callees);
		buf_puts(p->out, "</tr>\n");
	}
	if (callees && !function_of_calls(&p->query)) {
		int64_t itself[PROFILE_COLUMNS];
		uint32_t calls = profile_find_column(p->query.profile, "calls");

		memcpy(itself, e->self, sizeof(itself));
		if (calls != UINT32_MAX)
			itself[calls] = 0;
		buf_puts(p->out, "<tr><th scope=\"row\">[itself]</th>");
		put_edge_row(p, e, itself, false, true);
		buf_puts(p->out, "</tr>\n");
	}
	put_skipped(p, callees ? "callees" : "callers");
	buf_puts(p->out, "</section>\n");
}

static void put_summary(const struct page *p, const struct function_query *f)
{
	const struct profile *profile = p->query.profile;
	const struct report_edges *e = &f->callees;
	uint32_t columns[3];
	size_t count = edge_columns(p, columns);

	buf_puts(p->out, "<table>\n<thead><tr><th></th><th scope=\"colgroup\" colspan=\"2\">self</th>"
		 "<th scope=\"colgroup\" colspan=\"2\">total</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < count; i++) {
		const struct profile_column *c = &profile->columns[columns[i]];
		uint32_t measured = profile_measured(profile, columns[i]);
		int64_t whole = total_of(p, measured);

		buf_puts(p->out, "<tr><th scope=\"row\">");
		html_text(p->out, report_column_title(c->name));
		buf_puts(p->out, "</th>");
		put_pair_of(p->out, e->self[columns[i]], e->self[measured], whole, c->unit, false);
		if (!c->counts_calls)
			put_pair_of(p->out, e->total[columns[i]], e->total[measured], whole, c->unit, e->total_at_most);
		buf_puts(p->out, "</tr>\n");
	}
	buf_puts(p->out, "</tbody>\n</table>\n");
}

/* Lists the files of all functions of that name, and marks the one whose values are shown, or says that the values
 * are of all. */
static void put_files(const struct page *p, const struct function_query *f)
{
	_cleanup_(buf_done) struct buf shown = { 0 };
	const char *chosen = p->query.view.function_file;

	if (f->file_count < 2)
		return;
	buf_init(&shown);
	buf_printf(p->out, "<p>%zu functions of different files have this name; the values cover ", f->file_count);
	buf_puts(p->out, chosen ? "one of them. Show <a href=\"" : "all of them. Show only: ");
	if (chosen) {
		page_put_function_address(p, p->query.view.function, NULL);
		buf_puts(p->out, "\">all</a>, ");
	}
	for (size_t i = 0; i < f->file_count; i++) {
		buf_reset(&shown);
		text_put_plain(&shown, f->files[i]);
		buf_puts(p->out, i ? ", <a href=\"" : "<a href=\"");
		page_put_function_address(p, p->query.view.function, shown.data ? shown.data : "");
		buf_puts(p->out, "\">");
		text_put_xml(p->out, f->files[i].n ? f->files[i] : (struct str){ "[no file]", 9 });
		buf_puts(p->out, "</a>");
	}
	buf_puts(p->out, "</p>\n");
}

void page_put_function(const struct page *p, const struct function_query *f)
{
	struct str file = profile_file(p->query.profile, f->first);

	buf_puts(p->out, "<section class=\"plain\" aria-label=\"Function\">\n<p><a href=\"");
	page_put_address(p, NULL, "function", NULL);
	buf_puts(p->out, "\">All functions</a></p>\n<h2>");
	text_put_xml(p->out, profile_name(p->query.profile, f->first));
	buf_puts(p->out, "</h2>\n");
	if (file.n) {
		buf_puts(p->out, "<p><small>");
		text_put_xml(p->out, file);
		if (p->query.profile->frames[f->first].line)
			buf_printf(p->out, ":%u", p->query.profile->frames[f->first].line);
		if (f->places > 1)
			buf_printf(p->out, " and %zu more", f->places - 1);
		buf_puts(p->out, "</small></p>\n");
	}
	put_files(p, f);
	put_summary(p, f);
	buf_puts(p->out, "</section>\n");
	put_edges(p, &f->callers, false);
	put_edges(p, &f->callees, true);
}

/* page_source.c: shows the source of a function as a table of lines, each with its own anchor: #L12. */

#include "page_parts.h"

#include "amount.h"
#include "html.h"
#include "source_query.h"
#include "text.h"

/* `of`: the column's name, for style sheets of windows too narrow for headings. */
static void put_value(const struct page *p, const char *of, int64_t v, int64_t whole)
{
	const struct profile_query_column *c = &p->query.columns[p->query.chosen];

	if (!v) {
		buf_printf(p->out, "<td data-of=\"%s\"></td>", of);
		return;
	}
	buf_printf(p->out, "<td data-of=\"%s\" title=\"", of);
	amount_put_share(p->out, v, whole);
	buf_puts(p->out, " of all\">");
	amount_put(p->out, v, amount_unit(c->unit));
	buf_puts(p->out, "</td>");
}

static void put_line(const struct page *p, const struct source_query *f, const struct source_line *l)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	bool took = false;

	for (size_t i = 0; i < f->sides; i++)
		took |= l->self[i] || l->total[i];
	if (l->after_gap)
		buf_printf(p->out, "<tr class=\"cut\"><td colspan=\"%zu\">⋮</td></tr>\n", 2 * f->sides + 2);
	buf_printf(p->out, "<tr id=\"L%u\"%s>", l->number, l->hot ? " class=\"hot\"" : took ? " class=\"took\"" : "");
	for (size_t i = 0; i < f->sides; i++)
		put_value(p, i ? "→" : "self", l->self[i], f->whole[i]);
	for (size_t i = 0; i < f->sides; i++)
		put_value(p, i ? "→" : "total", l->total[i], f->whole[i]);
	buf_printf(p->out, "<th scope=\"row\"><a href=\"#L%u\">%u</a></th><td class=\"code\">", l->number, l->number);
	if (l->text.p) {
		buf_init(&text);
		source_query_text(&text, l->text);
		buf_puts(p->out, "<code>");
		text_put_xml(p->out, (struct str){ text.data ? text.data : "", text.size });
		buf_puts(p->out, "</code>");
	} else if (f->source.text.p) {
		buf_puts(p->out, "<i>past the end of the file</i>");
	}
	buf_puts(p->out, "</td></tr>\n");
}

static void put_headings(const struct page *p, const struct source_query *f)
{
	static const char *const one[] = { "self", "total" };
	static const char *const two[] = { "self before", "self after", "total before", "total after" };

	buf_puts(p->out, "<thead><tr>");
	for (size_t i = 0; i < 2 * f->sides; i++)
		buf_printf(p->out, "<th scope=\"col\">%s</th>", f->sides > 1 ? two[i] : one[i]);
	buf_puts(p->out, "<th scope=\"col\">line</th><th scope=\"col\" class=\"code\">source</th></tr></thead>\n");
}

static void put_file_link(const struct page *p, struct str file)
{
	_cleanup_(buf_done) struct buf shown = { 0 };

	buf_init(&shown);
	text_put_plain(&shown, file);
	buf_puts(p->out, "<a href=\"");
	page_put_source_of(p, shown.data ? shown.data : "");
	buf_puts(p->out, "\">");
	text_put_xml(p->out, file);
	buf_puts(p->out, "</a>");
}

static void put_others(const struct page *p, const struct source_query *f)
{
	if (!f->other_count)
		return;
	buf_puts(p->out, "<p>Functions of the same name in other files: ");
	for (size_t i = 0; i < f->other_count && i < SOURCE_ASK_OTHERS; i++) {
		buf_puts(p->out, i ? ", " : "");
		put_file_link(p, f->others[i]);
	}
	if (f->other_count > SOURCE_ASK_OTHERS)
		buf_printf(p->out, " and %zu more", f->other_count - SOURCE_ASK_OTHERS);
	buf_puts(p->out, ".</p>\n");
}

static void put_file(const struct page *p, const struct source_query *f)
{
	if (!f->file.n)
		return;
	buf_puts(p->out, "<p>");
	put_file_link(p, f->file);
	if (f->source.text.p && p->query.view.by != REPORT_BY_FILE) {
		buf_puts(p->out, p->query.view.all_lines ? ", <a href=\"" : ", the lines around the executed ones; <a href=\"");
		page_put_address(p, NULL, "lines", p->query.view.all_lines ? NULL : "all");
		buf_puts(p->out, p->query.view.all_lines ? "#source\">only lines around the executed ones</a>" : "#source\">all lines</a>");
	}
	buf_puts(p->out, "</p>\n");
}

void page_put_source(const struct page *p, struct source_query *f)
{
	struct source_line l;
	bool has_rows = false;

	buf_puts(p->out, "<section class=\"plain source\" id=\"source\" aria-label=\"Source\">\n<h2>Source</h2>\n");
	put_file(p, f);
	html_warning(p->out, f->why);
	put_others(p, f);
	while (source_query_next(f, &l)) {
		if (!has_rows) {
			buf_puts(p->out, "<table class=\"source\">\n");
			put_headings(p, f);
			buf_puts(p->out, "<tbody>\n");
			has_rows = true;
		}
		put_line(p, f, &l);
	}
	if (has_rows)
		buf_puts(p->out, "</tbody>\n</table>\n");
	if (f->lines.count)
		buf_puts(p->out, "<p>Self includes PHP's own functions and native code that the line called. "
				 "Marked lines have at least half of the self value of the hottest line.</p>\n");
	buf_puts(p->out, "</section>\n");
}

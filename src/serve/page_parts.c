/* page_parts.c: links, facts, choices and the picture. */

#include "page_parts.h"

#include "amount.h"
#include "clock.h"
#include "html.h"
#include "runs.h"
#include "saturate.h"
#include "text.h"

#include <string.h>

/* --- Addresses --- */

static void put_param(const struct page *p, const char *key, const char *value, unsigned *count)
{
	_cleanup_(buf_done) struct buf plain = { 0 };

	/* A NUL or invalid UTF-8 would not survive a round trip; function_query accepts the replacement. */
	buf_init(&plain);
	text_put_plain(&plain, (struct str){ value, strlen(value) });
	buf_puts(p->out, (*count)++ ? "&amp;" : "?");
	buf_printf(p->out, "%s=", key);
	text_put_url(p->out, (struct str){ plain.data, plain.size });
}

/* Omits parameters that are replaced or do not apply: a class is never named like a function, and a function has
 * another source. */
static bool is_left_out(const struct page *p, const char *key, const char *param)
{
	if (p->run_in_path && !strcmp(param, "run"))
		return true;
	return key && (!strcmp(key, param) || (!strcmp(key, "by") && !strcmp(param, "function")) ||
		       ((!strcmp(key, "by") || !strcmp(key, "function")) && (!strcmp(param, "lines") || !strcmp(param, "function_file"))));
}

void page_put_address(const struct page *p, const char *path, const char *key, const char *value)
{
	unsigned count = 0;

	html_text(p->out, path ? path : p->path);
	if (path && p->run_in_path) {
		buf_printf(p->out, "?run=%s/%s", p->query.view.runs[0].source, p->query.view.runs[0].id);
		count = 1;
	}
	for (size_t i = 0; i < p->query.params.count; i++) {
		const struct param *param = &p->query.params.items[i];

		if (*param->value && !is_left_out(p, key, param->key))
			put_param(p, param->key, param->value, &count);
	}
	if (key && value)
		put_param(p, key, value, &count);
}

void page_put_address_without(const struct page *p, size_t number)
{
	unsigned count = 0;

	html_text(p->out, p->path);
	for (size_t i = 0; i < p->query.params.count; i++)
		if (i != number && *p->query.params.items[i].value)
			put_param(p, p->query.params.items[i].key, p->query.params.items[i].value, &count);
}

void page_put_function_address(const struct page *p, const char *name, const char *file)
{
	unsigned count = 1;

	page_put_address(p, NULL, "function", name);
	if (file)
		put_param(p, "function_file", file, &count);
}

void page_put_address_to_any(const struct page *p)
{
	unsigned count = 1;

	page_put_address(p, NULL, "by", "function");
	put_param(p, "function", p->query.view.function, &count);
}

void page_put_source_of(const struct page *p, const char *file)
{
	unsigned count = 1;

	page_put_address(p, NULL, "by", "file");
	put_param(p, "function", file, &count);
	buf_puts(p->out, "#source");
}

static void put_link(const struct page *p, const char *path, const char *key, const char *value, const char *words)
{
	buf_puts(p->out, "<a href=\"");
	page_put_address(p, path, key, value);
	buf_puts(p->out, "\">");
	html_text(p->out, words);
	buf_puts(p->out, "</a>");
}

/* --- Facts --- */

static void put_fact(struct buf *out, const char *key, const char *value)
{
	buf_puts(out, "<div><dt>");
	html_text(out, key);
	buf_puts(out, "</dt><dd>");
	html_text(out, value);
	buf_puts(out, "</dd></div>\n");
}

static void put_run_facts(struct buf *out, const struct store_run *run)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	char at[32];

	buf_init(&b);
	clock_format(run->start_ns, at, sizeof(at));
	buf_puts(out, "<dl class=\"facts\">\n");
	put_fact(out, "source", run->source);
	put_fact(out, "id", run->id);
	if (run->url)
		put_fact(out, "URL", run->url);
	put_fact(out, "started", at);
	amount_put(&b, run->duration_ns, AMOUNT_TIME);
	put_fact(out, "duration", b.data);
	for (size_t i = 0; i < run->total_count; i++) {
		buf_reset(&b);
		amount_put(&b, run->totals[i].value, amount_unit(run->totals[i].unit));
		put_fact(out, report_column_title(run->totals[i].name), b.data);
	}
	for (size_t i = 0; i < run->labels.count; i++)
		put_fact(out, run->labels.items[i].key, run->labels.items[i].value);
	buf_puts(out, "</dl>\n");
}

static void put_run_list(const struct page *p)
{
	buf_puts(p->out, "<ul class=\"facts\">\n");
	for (size_t i = 0; i < p->query.view.run_count; i++) {
		const struct view_run *run = &p->query.view.runs[i];

		buf_printf(p->out, "<li><a href=\"/runs/%s/%s\">%s/%s</a>", run->source, run->id, run->source, run->id);
		view_put_weight(&p->query.view, i, p->out);
		buf_puts(p->out, "</li>\n");
	}
	if (*p->query.view.base_run.id) {
		const struct view_run *run = &p->query.view.base_run;

		buf_printf(p->out, "<li>compared with <a href=\"/runs/%s/%s\">%s/%s</a></li>\n", run->source, run->id, run->source, run->id);
	}
	buf_puts(p->out, "</ul>\n");
}

static void put_total(const struct page *p, int64_t v)
{
	const char *unit = p->query.columns[p->query.chosen].unit;

	amount_put(p->out, v, amount_unit(unit));
}

/* Like the page with scripts: "12.3 s before, 15.6 s after, +3.30 s (+26.8%)". */
static void put_totals(const struct page *p)
{
	const struct profile_query_column *c = &p->query.columns[p->query.chosen];
	int64_t delta = saturating_difference(c->total, c->before);

	buf_puts(p->out, "<p>");
	html_text(p->out, report_column_title(c->name));
	buf_puts(p->out, ": ");
	put_total(p, c->before);
	buf_puts(p->out, " before, ");
	put_total(p, c->total);
	buf_printf(p->out, " after, <strong>%s", delta > 0 ? "+" : "");
	put_total(p, delta);
	if (c->before > 0)
		buf_printf(p->out, " (%+.1f%%)", 100.0 * (double)delta / (double)c->before);
	buf_puts(p->out, "</strong></p>\n");
	if (p->query.diff.factor != 1)
		buf_printf(p->out, "<p>In the table the values before are scaled: × %.4g</p>\n", p->query.diff.factor);
}

static bool has_facts(const struct page *p)
{
	return p->query.view.run_count || p->query.is_diff;
}

void page_put_facts(const struct page *p)
{
	const struct profile_query *a = &p->query;
	_cleanup_(buf_done) struct buf words = { 0 };

	if (!has_facts(p))
		return;
	buf_init(&words);
	profile_query_describe(a, &words);
	buf_puts(p->out, "<section class=\"plain\" aria-label=\"Run\">\n<h2>");
	html_text(p->out, a->view.run_count == 1 && !a->is_diff ? run_name(&a->runs[0]) : words.data);
	buf_puts(p->out, "</h2>\n");
	if (a->view.run_count == 1 && !a->is_diff)
		put_run_facts(p->out, &a->runs[0]);
	else if (a->view.run_count || *a->view.base_run.id)
		put_run_list(p);
	if (a->is_diff)
		put_totals(p);
	buf_puts(p->out, "</section>\n");
}

/* --- Links to other views of the same data --- */

static void put_choice(const struct page *p, const char *key, const char *value, const char *words, bool chosen, bool first)
{
	buf_puts(p->out, first ? "" : ", ");
	if (!chosen) {
		put_link(p, NULL, key, value, words);
		return;
	}
	buf_puts(p->out, "<strong>");
	html_text(p->out, words);
	buf_puts(p->out, "</strong>");
}

static void put_columns(const struct page *p)
{
	const struct profile_query *a = &p->query;

	buf_puts(p->out, "<p>By ");
	for (uint32_t c = 0; c < a->column_count; c++)
		put_choice(p, "column", a->columns[c].name, report_column_title(a->columns[c].name), c == a->chosen, c == 0);
	buf_puts(p->out, "</p>\n");
}

static void put_groups(const struct page *p)
{
	buf_puts(p->out, "<p>Of each ");
	for (int by = 0; by < REPORT_BY_COUNT; by++) {
		const char *name = report_by_key((enum report_by)by);

		put_choice(p, "by", by == REPORT_BY_FUNCTION ? NULL : name, by == REPORT_BY_OWN ? "function of your own code" : name, p->query.view.by == (enum report_by)by, by == 0);
	}
	buf_puts(p->out, "</p>\n");
}

static void put_scales(const struct page *p)
{
	static const char *const words[] = {
		[DIFF_AS_IT_IS] = "as measured", [DIFF_BY_TOTAL] = "in shares of the total", [DIFF_BY_RATE] = "per second",
		[DIFF_BY_REQUESTS] = "per request",
	};
	const struct view *v = &p->query.view;

	buf_puts(p->out, "<p>Scaled ");
	put_choice(p, "scale", NULL, "automatically", !v->has_scale, true);
	for (int scale = 0; scale <= DIFF_BY_REQUESTS; scale++)
		if (p->query.scales[scale])
			put_choice(p, "scale", view_scale_names[scale], words[scale], v->has_scale && v->scale == (enum diff_scale)scale, false);
	buf_puts(p->out, "</p>\n");
}

void page_put_choices(const struct page *p)
{
	buf_puts(p->out, "<section class=\"plain choices\" aria-label=\"What to show\">\n");
	if (p->query.column_count > 1)
		put_columns(p);
	put_groups(p);
	if (p->query.is_diff)
		put_scales(p);
	buf_puts(p->out, "</section>\n");
}

/* --- The picture --- */

static void put_narrow_img(const struct page *p, const char *window, const char *pixels)
{
	buf_printf(p->out, "<source media=\"(max-width: %s)\" srcset=\"", window);
	page_put_address(p, "/flamegraph.svg", "pixels", pixels);
	buf_puts(p->out, "\">\n");
}

/* Phones and tablets get pictures of their width, so that names can be read without scrolling. */
static void put_img(const struct page *p, const char *words)
{
	buf_puts(p->out, "<picture>\n");
	put_narrow_img(p, "600px", "360");
	put_narrow_img(p, "900px", "640");
	buf_puts(p->out, "<img class=\"picture\" loading=\"lazy\" alt=\"Flame graph of ");
	html_text(p->out, words);
	buf_puts(p->out, "; the table below has the same functions\" src=\"");
	page_put_address(p, "/flamegraph.svg", NULL, NULL);
	buf_puts(p->out, "\">\n</picture>\n");
}

void page_put_picture(const struct page *p)
{
	_cleanup_(buf_done) struct buf words = { 0 };
	const struct view *v = &p->query.view;

	buf_init(&words);
	profile_query_describe(&p->query, &words);
	buf_puts(p->out, "<section class=\"graph plain\" aria-label=\"Flame graph\">\n<h2>Flame graph</h2>\n<p>");
	if (!has_facts(p)) {
		html_text(p->out, words.data);
		buf_puts(p->out, ". ");
	}
	put_link(p, NULL, "inverted", v->inverted ? NULL : "1", v->inverted ? "Root below" : "Icicle");
	buf_puts(p->out, ", ");
	put_link(p, NULL, "reverse", v->reverse ? NULL : "1", v->reverse ? "not reversed" : "reversed");
	buf_puts(p->out, ". ");
	put_link(p, "/flamegraph.svg", NULL, NULL, "Open as SVG");
	buf_puts(p->out, ", ");
	put_link(p, "/callgraph.svg", NULL, NULL, "call graph");
	buf_puts(p->out, ", ");
	put_link(p, "/api/v1/profile", "format", "folded", "folded stacks");
	buf_puts(p->out, ", ");
	put_link(p, "/api/v1/profile", "format", "strobe", "profile");
	buf_puts(p->out, "</p>\n");
	put_img(p, words.data);
	buf_puts(p->out, "</section>\n");
}

/* page.c: the one page: what to look at, the picture, and the table of functions. */

#include "page.h"

#include "ask.h"
#include "clock.h"
#include "html.h"
#include "report.h"
#include "text.h"

#include <string.h>

#define TABLE_ROWS 50u

/* --- The form --- */

static const struct {
	const char *from, *words;
} ranges[] = {
	{ "-5m", "last 5 minutes" }, { "-15m", "last 15 minutes" }, { "-1h", "last hour" }, { "-6h", "last 6 hours" },
	{ "-24h", "last 24 hours" }, { "-7d", "last 7 days" },
};

static void put_option(struct buf *out, const char *value, const char *words, bool selected)
{
	buf_puts(out, "<option value=\"");
	html_text(out, value);
	buf_puts(out, selected ? "\" selected>" : "\">");
	html_text(out, words);
	buf_puts(out, "</option>");
}

static void put_range_select(struct buf *out, const struct view *v)
{
	bool known = false;

	buf_puts(out, "<label>From <select name=\"from\">");
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		bool selected = strcmp(ranges[i].from, v->from) == 0;

		known |= selected;
		put_option(out, ranges[i].from, ranges[i].words, selected);
	}
	if (!known)
		put_option(out, v->from, v->from, true);
	buf_puts(out, "</select></label>\n<label>To <input name=\"to\" size=\"18\" value=\"");
	html_text(out, v->to);
	buf_puts(out, "\"></label>\n");
}

static const struct store_label *find_label(const struct store_labels *labels, const char *key)
{
	for (size_t i = 0; i < labels->count; i++)
		if (strcmp(labels->items[i].key, key) == 0)
			return &labels->items[i];
	return NULL;
}

static void put_label_select(struct buf *out, const struct ask *a, const struct store_labels *labels,
			     const char *key, const char *caption, const char *all)
{
	const struct store_label *l = find_label(labels, key);
	const char *chosen = params_get(&a->params, key);
	bool known = !chosen || !*chosen;

	buf_printf(out, "<label>%s <select name=\"%s\">", caption, key);
	put_option(out, "", all, known);
	for (size_t i = 0; l && i < l->value_count; i++) {
		bool selected = chosen && *chosen && strcmp(l->values[i].value, chosen) == 0;

		known |= selected;
		put_option(out, l->values[i].value, l->values[i].value, selected);
	}
	if (!known)
		put_option(out, chosen, chosen, true);
	buf_puts(out, "</select></label>\n");
}

static bool is_in_form(const char *key)
{
	static const char *const keys[] = { "from", "to", "entry", "host", "sapi" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

/* Everything else that the address says stays as it is. */
static void put_hidden(struct buf *out, const struct params *p)
{
	for (size_t i = 0; i < p->count; i++) {
		if (is_in_form(p->items[i].key))
			continue;
		buf_printf(out, "<input type=\"hidden\" name=\"%s\" value=\"", p->items[i].key);
		html_text(out, p->items[i].value);
		buf_puts(out, "\">\n");
	}
}

void page_put_who(const struct request *q, struct buf *out)
{
	if (q->who.by == WHO_PROXY) {
		buf_puts(out, "<div class=\"who\">");
		html_text(out, q->who.user);
		buf_puts(out, "</div>\n");
	} else if (q->who.by == WHO_SESSION) {
		buf_puts(out, "<form class=\"who\" method=\"post\" action=\"/logout\"><button>Log out</button></form>\n");
	}
}

static void put_form(struct buf *out, const struct site *s, const struct request *q, const struct ask *a)
{
	struct store_query query = { .from_ns = a->view.from_ns, .to_ns = a->view.to_ns };
	struct store_labels labels = { 0 };

	store_labels(s->options.store, &query, &labels, NULL);
	buf_puts(out, "<header class=\"bar\">\n<a class=\"brand\" href=\"/\">Strobe</a>\n<a href=\"/runs\">Runs</a>\n"
		      "<form class=\"controls\" method=\"get\" action=\"/\">\n");
	put_label_select(out, a, &labels, "entry", "Entry point", "all entry points");
	put_label_select(out, a, &labels, "host", "Host", "all hosts");
	put_label_select(out, a, &labels, "sapi", "SAPI", "all SAPIs");
	put_range_select(out, &a->view);
	put_hidden(out, &a->params);
	buf_puts(out, "<button>Show</button>\n</form>\n");
	page_put_who(q, out);
	buf_puts(out, "</header>\n");
	store_labels_done(&labels);
}

/* --- The picture --- */

static void put_address(struct buf *out, const char *path, const struct request *q, const char *more)
{
	html_text(out, path);
	if ((q->query && *q->query) || *more)
		buf_putc(out, '?');
	if (q->query)
		html_text(out, q->query);
	if (q->query && *q->query && *more)
		buf_puts(out, "&amp;");
	html_text(out, more);
}

static void put_picture(struct buf *out, const struct ask *a, const struct request *q)
{
	_cleanup_(buf_done) struct buf words = { 0 };

	buf_init(&words);
	view_describe(&a->view, &words);
	buf_puts(out, "<section class=\"graph plain\" aria-label=\"Flame graph\">\n<h2>Flame graph</h2>\n<p>");
	html_text(out, words.data);
	buf_puts(out, ". <a href=\"");
	put_address(out, "/flamegraph.svg", q, "");
	buf_puts(out, "\">Open as SVG</a>, <a href=\"");
	put_address(out, "/api/v1/profile", q, "format=folded");
	buf_puts(out, "\">folded stacks</a>, <a href=\"");
	put_address(out, "/api/v1/profile", q, "format=strobe");
	buf_puts(out, "\">profile</a></p>\n<img class=\"picture\" loading=\"lazy\" alt=\"Flame graph of ");
	html_text(out, words.data);
	buf_puts(out, "; the table below has the same functions\" src=\"");
	put_address(out, "/flamegraph.svg", q, "");
	buf_puts(out, "\">\n</section>\n");
}

/* --- The table --- */

static void put_value(struct buf *out, const struct profile_column *c, int64_t v)
{
	if (strcmp(c->unit, "nanoseconds") == 0) {
		buf_put_fixed(out, (double)v / 1e9, 2);
		buf_puts(out, " s");
	} else {
		buf_put_grouped(out, v);
	}
}

static void put_share(struct buf *out, int64_t part, int64_t total)
{
	buf_put_fixed(out, 100.0 * (double)part / (double)total, 1);
	buf_puts(out, "&#8239;%");
}

static void put_function(struct buf *out, const struct ask *a, const struct flat_row *row)
{
	const struct profile *p = a->profile;
	const struct profile_frame *f = &p->frames[row->frame];
	struct str file = profile_file(p, row->frame);

	buf_puts(out, "<tr><td>");
	put_share(out, row->self, a->total);
	buf_puts(out, "</td><td>");
	put_value(out, &p->columns[a->column], row->self);
	buf_puts(out, "</td><td>");
	put_share(out, row->total, a->total);
	buf_puts(out, "</td><td>");
	put_value(out, &p->columns[a->column], row->total);
	buf_puts(out, "</td><th scope=\"row\">");
	text_put_xml(out, profile_name(p, row->frame));
	if (file.n) {
		buf_puts(out, " <small>");
		text_put_xml(out, file);
		if (f->line)
			buf_printf(out, ":%u", f->line);
		buf_puts(out, "</small>");
	}
	buf_puts(out, "</th></tr>\n");
}

static void put_table(struct buf *out, const struct ask *a, bool by_total)
{
	size_t count = 0;
	_cleanup_(freep) struct flat_row *rows = report_flat(a->profile, a->column, by_total, &count);
	size_t shown = count < TABLE_ROWS ? count : TABLE_ROWS;
	const char *by = by_total ? "total" : "self";

	buf_printf(out, "<h2>Functions by %s</h2>\n<p>", by);
	put_value(out, &a->profile->columns[a->column], a->total);
	buf_printf(out, " of %s in ", a->profile->columns[a->column].name);
	buf_put_grouped(out, (int64_t)count);
	buf_puts(out, " functions");
	if (shown < count)
		buf_printf(out, ", the first %zu", shown);
	buf_puts(out, ".</p>\n<table>\n<thead><tr><th colspan=\"2\" scope=\"colgroup\">Self</th>"
		      "<th colspan=\"2\" scope=\"colgroup\">Total</th><th scope=\"col\">Function</th></tr></thead>\n"
		      "<tbody>\n");
	for (size_t i = 0; i < shown; i++)
		put_function(out, a, &rows[i]);
	buf_puts(out, "</tbody>\n</table>\n");
}

static void put_tables(struct buf *out, const struct ask *a)
{
	buf_puts(out, "<section class=\"functions plain\" aria-label=\"Functions\">\n");
	put_table(out, a, false);
	put_table(out, a, true);
	buf_puts(out, "</section>\n");
}

/* --- Nothing to show --- */

static void put_how_to_start(struct buf *out)
{
	buf_puts(out, "<p>Profile one script, with no set-up:</p>\n<pre>strobe run -- php script.php</pre>\n"
		      "<p>Or always, with these lines in php.ini, and PHP restarted:</p>\n"
		      "<pre>extension=strobe.so\nstrobe.mode=sample</pre>\n");
}

static void put_empty(struct buf *out, const struct site *s, const struct ask *a)
{
	_cleanup_(buf_done) struct buf why = { 0 };
	char first[32], last[32];

	buf_init(&why);
	ask_why_empty(a, s, &why);
	buf_puts(out, "<section class=\"empty\">\n<h2>Nothing to show</h2>\n<p class=\"why\">");
	html_text(out, why.data);
	buf_puts(out, "</p>\n");
	if (a->looked.last_ns == 0) {
		put_how_to_start(out);
	} else {
		clock_format(a->looked.first_ns, first, sizeof(first));
		clock_format(a->looked.last_ns + BATCH_BUCKET_NS, last, sizeof(last));
		buf_printf(out, "<p><a href=\"/?from=%s&amp;to=%s\">Show all that is stored</a></p>\n", first, last);
	}
	buf_puts(out, "</section>\n");
}

static void put_title(struct buf *out, const struct view *v)
{
	const char *entry = view_label(v, "entry"), *host = view_label(v, "host");

	if (entry)
		buf_puts(out, entry);
	if (host)
		buf_printf(out, "%s%s", entry ? " on " : "", host);
	buf_puts(out, entry || host ? " – Strobe" : "Strobe");
}

static void put_error(struct response *r, int status, const char *sentence)
{
	buf_reset(&r->body);
	r->status = status;
	r->type = "text/html; charset=utf-8";
	html_begin(&r->body, "Strobe");
	buf_puts(&r->body, "<div id=\"app\">\n<header class=\"bar\">\n<a class=\"brand\" href=\"/\">Strobe</a>\n"
		 "</header>\n"
			   "<main>\n<section class=\"empty\">\n<h2>This cannot be shown</h2>\n<p class=\"why\">");
	html_text(&r->body, sentence);
	buf_puts(&r->body, "</p>\n<p><a href=\"/\">Start again</a></p>\n</section>\n</main>\n</div>\n");
	html_end(&r->body);
}

void page_answer(struct site *s, const struct request *q, struct response *r)
{
	_cleanup_(ask_done) struct ask a = { 0 };
	_cleanup_(buf_done) struct buf title = { 0 };
	const char *warning;
	struct err err = { 0 };
	int code;

	buf_init(&title);
	code = ask_view(&a, q, &err);
	if (code < 0 || (code = ask_profile(&a, s, &err)) < 0) {
		put_error(r, code == -EINVAL ? 400 : 500, err.text);
		r->out_of_memory = code == -ENOMEM;
		return;
	}

	r->type = "text/html; charset=utf-8";
	put_title(&title, &a.view);
	html_begin(&r->body, title.data);
	buf_puts(&r->body, "<div id=\"app\">\n");
	put_form(&r->body, s, q, &a);
	buf_puts(&r->body, "<main>\n");
	warning = ask_warn(&a, r);
	if (warning) {
		buf_puts(&r->body, "<p class=\"warning\" role=\"status\">");
		html_text(&r->body, warning);
		buf_puts(&r->body, "</p>\n");
	}
	if (a.total == 0) {
		put_empty(&r->body, s, &a);
	} else {
		put_picture(&r->body, &a, q);
		put_tables(&r->body, &a);
	}
	buf_puts(&r->body, "</main>\n</div>\n");
	html_end(&r->body);
}

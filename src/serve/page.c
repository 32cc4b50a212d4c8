/* page.c: the page of a range, a run, an average and a comparison: the selection, the picture and the table. */

#include "page.h"

#include "clock.h"
#include "html.h"
#include "page_parts.h"
#include "runs.h"
#include "text.h"

#include <string.h>

void page_put_identity(const struct request *q, struct buf *out)
{
	if (q->identity.by == IDENTITY_PROXY) {
		buf_puts(out, "<div class=\"who\">");
		html_text(out, q->identity.user);
		buf_puts(out, "</div>\n");
	} else if (q->identity.by == IDENTITY_SESSION) {
		buf_puts(out, "<form class=\"who\" method=\"post\" action=\"/logout\"><button>Log out</button></form>\n");
	}
}

static void put_bar(const struct page *p)
{
	buf_puts(p->out, "<header class=\"bar\">\n<a class=\"brand\" href=\"/\">Strobe</a>\n<a href=\"/runs\">Runs</a>\n<a href=\"");
	page_put_address(p, "/filters", NULL, NULL);
	buf_puts(p->out, "\">Filters</a>\n");
	if (!p->query.view.run_count)
		page_put_form(p);
	page_put_identity(p->q, p->out);
	buf_puts(p->out, "</header>\n");
}

/* --- Nothing to show --- */

static void put_first_steps(struct buf *out)
{
	buf_puts(out, "<p>Profile one script, with no set-up:</p>\n<pre>strobe run -- php script.php</pre>\n"
		      "<p>Or always, with these lines in php.ini, and PHP restarted:</p>\n"
		      "<pre>extension=strobe.so\nstrobe.mode=sample</pre>\n");
}

static void put_empty(const struct page *p)
{
	const struct profile_query *a = &p->query;
	struct buf *out = p->out;
	_cleanup_(buf_done) struct buf why = { 0 };
	char first[32], last[32];

	buf_init(&why);
	profile_query_explain_empty(a, p->context, &why);
	buf_puts(out, "<section class=\"empty\">\n<h2>Nothing to show</h2>\n<p class=\"why\">");
	html_text(out, why.data);
	buf_puts(out, "</p>\n");
	if (a->view.run_count) {
		buf_puts(out, "<p><a href=\"");
		page_put_address(p, NULL, "column", NULL);
		buf_puts(out, "\">Show the first of its values</a></p>\n");
	} else if (a->stats.last_ns == 0) {
		put_first_steps(out);
	} else {
		clock_format(a->stats.first_ns, first, sizeof(first));
		clock_format(a->stats.last_ns + BATCH_BUCKET_NS, last, sizeof(last));
		buf_printf(out, "<p><a href=\"/?from=%s&amp;to=%s\">Show all stored data</a></p>\n", first, last);
	}
	buf_puts(out, "</section>\n");
}

static void put_title(const struct profile_query *a, struct buf *out)
{
	const struct view *v = &a->view;
	const char *entry = view_label(v, "entry"), *host = view_label(v, "host");

	if (v->function)
		buf_printf(out, "%s – ", v->function);
	if (v->run_count || a->is_diff) {
		if (v->run_count == 1 && !a->is_diff)
			buf_puts(out, run_name(&a->runs[0]));
		else
			profile_query_describe(a, out);
		buf_puts(out, " – Strobe");
		return;
	}
	if (entry)
		buf_puts(out, entry);
	if (host)
		buf_printf(out, "%s%s", entry ? " on " : "", host);
	buf_puts(out, entry || host ? " – Strobe" : "Strobe");
}

static void put_error(const struct request *q, struct response *r, int status, const char *sentence, const char *classes)
{
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	buf_puts(&text, sentence);
	buf_reset(&r->body);
	r->status = status;
	r->type = "text/html; charset=utf-8";
	html_begin(&r->body, status == 404 ? "Not found – Strobe" : "This cannot be shown – Strobe");
	buf_puts(&r->body, "<div id=\"app\">\n<header class=\"bar\">\n<a class=\"brand\" href=\"/\">Strobe</a>\n"
		 "<a href=\"/runs\">Runs</a>\n<a href=\"/filters\">Filters</a>\n");
	page_put_identity(q, &r->body);
	buf_printf(&r->body, "</header>\n<main>\n<section class=\"%s\">\n<h2>This cannot be shown</h2>\n<p class=\"why\">", classes);
	html_text(&r->body, text.data);
	buf_puts(&r->body, "</p>\n<p><a href=\"/\">Start again</a>, <a href=\"/runs\">all runs</a></p>\n</section>\n</main>\n</div>\n");
	html_end(&r->body);
}

void page_put_error(const struct request *q, struct response *r, int status, const char *sentence)
{
	put_error(q, r, status, sentence, "empty error");
}

/* Reports a missing function, above the existing ones. */
static void put_missing(const struct page *p, const char *sentence)
{
	const struct view *v = &p->query.view;

	buf_puts(p->out, "<section class=\"plain\" aria-label=\"Function\">\n<h2>");
	html_text(p->out, v->function);
	buf_puts(p->out, "</h2>\n<p class=\"why\">");
	html_text(p->out, sentence);
	buf_puts(p->out, "</p>\n");
	if (v->by != REPORT_BY_FUNCTION || v->function_file) {
		buf_puts(p->out, "<p><a href=\"");
		page_put_address_to_any(p);
		buf_puts(p->out, "\">Search all functions</a></p>\n");
	}
	buf_puts(p->out, "</section>\n");
	page_put_table(p);
}

static void put_content(const struct page *p, const struct function_query *f, const char *missing, struct source_query *source)
{
	page_put_facts(p);
	if (profile_query_is_empty(&p->query)) {
		put_empty(p);
		return;
	}
	page_put_choices(p);
	if (missing) {
		put_missing(p, missing);
		return;
	}
	if (p->query.view.function) {
		page_put_function(p, f);
		if (p->query.with_source)
			page_put_source(p, source);
		return;
	}
	page_put_picture(p);
	page_put_table(p);
}

/* `source`: from the URL of the run. */
static void answer(struct server_context *s, const struct request *q, struct response *r, const char *source, const char *id)
{
	struct page p = { .context = s, .q = q, .path = q->path, .run_in_path = source, .out = &r->body };
	_cleanup_(function_query_done) struct function_query f = { 0 };
	_cleanup_(source_query_done) struct source_query lines = { 0 };
	_cleanup_(buf_done) struct buf title = { 0 };
	bool missing = false;
	struct err err = { 0 };
	int code = profile_query_parse(&p.query, q, &err);

	buf_init(&title);
	if (code >= 0 && source)
		view_set_run(&p.query.view, source, id);
	p.query.with_source = source_query_fits(&p.query.view) && (!p.query.view.has_lines || p.query.view.lines);
	if (code >= 0)
		code = profile_query_load(&p.query, s, &err);
	if (code >= 0 && p.query.view.function && !profile_query_is_empty(&p.query))
		code = function_query(&f, &p.query, &err);
	missing = code == -ENOENT && f.query;
	code = missing ? 0 : code;
	if (code >= 0 && !missing && p.query.with_source && !profile_query_is_empty(&p.query))
		source_query(&lines, &p.query, s);
	if (code < 0) {
		/* Unless it is an error, scripts show the same below the bar, where another range or comparison can
		 * be chosen. */
		put_error(q, r, query_status(code), err.text,
			  code == -EINVAL && p.query.view.has_base ? "empty" : "empty error");
		r->out_of_memory = code == -ENOMEM;
		profile_query_done(&p.query);
		return;
	}
	/* "Own code" is just a view of functions, so a function outside it can be shown as well. */
	if (missing && p.query.view.by != REPORT_BY_OWN)
		r->status = 404;
	p.shared = p.query.profile ? report_shared_names(p.query.profile) : NULL;
	r->type = "text/html; charset=utf-8";
	put_title(&p.query, &title);
	html_begin(&r->body, title.data);
	buf_puts(&r->body, "<div id=\"app\">\n");
	put_bar(&p);
	buf_puts(&r->body, "<main>\n");
	html_warning(&r->body, profile_query_warn(&p.query, r));
	put_content(&p, &f, missing ? err.text : NULL, &lines);
	buf_puts(&r->body, "</main>\n</div>\n");
	html_end(&r->body);
	free(p.shared);
	profile_query_done(&p.query);
}

void run_page(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(run_query_done) struct run_query a = { 0 };

	if (!run_query_address(&a, q->path + strlen("/runs/"), q, r)) {
		page_put_error(q, r, 404, "the address of a run ends in its source and its id, as in shop/20261121-1");
	} else if (!strcmp(a.verb, "flamegraph.svg")) {
		run_query_done(&a);
		if (run_query(&a, s, q->path + strlen("/runs/"), q, r))
			run_picture(&a, q, r);
	} else if (*a.verb) {
		page_put_error(q, r, 404, "not found; the picture of a run is flamegraph.svg below its address");
	} else {
		answer(s, q, r, a.source, a.id);
	}
}

void page_answer(struct server_context *s, const struct request *q, struct response *r)
{
	if (!page_form_redirects(q, r))
		answer(s, q, r, NULL, NULL);
}

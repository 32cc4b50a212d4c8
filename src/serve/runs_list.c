/* runs_list.c: the list of runs as a page. Filters and order are parameters, so that each list has a link; no script
 * is needed. */

#include "runs.h"

#include "amount.h"
#include "clock.h"
#include "form_token.h"
#include "html.h"
#include "missing.h"
#include "profile_query.h"
#include "text.h"

#include <string.h>

#define LABELS_OFFERED	40u		/* for completion */

static void put_str_url(struct buf *out, const char *text)
{
	text_put_url(out, (struct str){ text, strlen(text) });
}

/* --- The form --- */

static void put_input(struct buf *out, const struct runs_query *a, const char *name, const char *caption,
		      const char *hint, int size)
{
	const char *value = params_get(&a->params, name);

	buf_printf(out, "<label>%s <input name=\"%s\" size=\"%d\" placeholder=\"", caption, name, size);
	html_text(out, hint);
	buf_puts(out, "\" value=\"");
	html_text(out, value ? value : "");
	buf_printf(out, "\"%s></label>\n", strcmp(name, "labels") ? "" : " list=\"run-labels\"");
}

static void put_sources(struct buf *out, const struct server_context *s, const struct runs_query *a)
{
	struct store_label sources;
	bool known = !a->query.source;

	if (store_run_sources(s->options.store, &sources, NULL) < 0)
		memset(&sources, 0, sizeof(sources));
	buf_puts(out, "<label>Source <select name=\"source\">");
	html_option(out, "", "all sources", known);
	for (size_t i = 0; i < sources.value_count; i++) {
		bool selected = a->query.source && !strcmp(sources.values[i].value, a->query.source);

		known |= selected;
		html_option(out, sources.values[i].value, sources.values[i].value, selected);
	}
	if (!known)
		html_option(out, a->query.source, a->query.source, true);
	buf_puts(out, "</select></label>\n");
	store_label_done(&sources);
}

/* The labels of the runs shown, each value once. */
static void put_labels(struct buf *out, const struct runs_query *a)
{
	struct labels seen;
	size_t offered = 0;

	labels_init(&seen);
	buf_puts(out, "<datalist id=\"run-labels\">");
	for (size_t i = 0; i < a->runs.count && offered < LABELS_OFFERED; i++) {
		const struct labels *l = &a->runs.items[i].labels;

		for (size_t k = 0; k < l->count && offered < LABELS_OFFERED; k++) {
			const char *known = labels_get(&seen, l->items[k].key);

			if (strpbrk(l->items[k].value, " ") || (known && !strcmp(known, l->items[k].value)))
				continue;
			labels_set(&seen, l->items[k].key, strlen(l->items[k].key), l->items[k].value,
				   strlen(l->items[k].value));
			buf_printf(out, "<option value=\"%s=", l->items[k].key);
			html_text(out, l->items[k].value);
			buf_puts(out, "\">");
			offered++;
		}
	}
	buf_puts(out, "</datalist>\n");
	labels_done(&seen);
}

static bool is_one_of(const char *key, const char *const *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(keys[i], key))
			return true;
	return false;
}

static void put_form(struct buf *out, const struct server_context *s, const struct runs_query *a)
{
	static const char *const in_form[] = { "source", "search", "id", "url", "labels", "since", "until", "after" };

	buf_puts(out, "<form class=\"controls\" method=\"get\" action=\"/runs\">\n");
	put_sources(out, s, a);
	put_input(out, a, "search", "Search", "id, URL, name or label", 18);
	put_input(out, a, "url", "URL has", "/cart", 10);
	put_input(out, a, "id", "Id has", "20261121", 8);
	put_input(out, a, "labels", "Labels", "host=web1 deploy=7*", 16);
	put_input(out, a, "since", "Since (UTC)", "-24h", 6);
	put_input(out, a, "until", "Until (UTC)", "now", 6);
	/* Keeps labels, order and limit of the URL. */
	for (size_t i = 0; i < a->params.count; i++) {
		if (is_one_of(a->params.items[i].key, in_form, ARRAY_SIZE(in_form)) || !*a->params.items[i].value)
			continue;
		buf_printf(out, "<input type=\"hidden\" name=\"%s\" value=\"", a->params.items[i].key);
		html_text(out, a->params.items[i].value);
		buf_puts(out, "\">\n");
	}
	put_labels(out, a);
	buf_puts(out, "<button>Show</button>\n</form>\n</header>\n");
}

/* --- Links to other views of the list --- */

/* Appends the URL of the list without the parameters `but`; the caller appends "KEY=VALUE" instead. */
static void put_address(struct buf *out, const struct runs_query *a, const char *const *but, size_t but_count)
{
	buf_puts(out, "/runs?");
	for (size_t i = 0; i < a->params.count; i++) {
		const struct param *p = &a->params.items[i];

		if (!*p->value || is_one_of(p->key, but, but_count))
			continue;
		buf_printf(out, "%s=", p->key);
		put_str_url(out, p->value);
		buf_puts(out, "&amp;");
	}
}

/* The first click sorts by the column, the second reverses the order. */
static void put_heading(struct buf *out, const struct runs_query *a, const struct runs_column *c)
{
	static const char *const order[] = { "sort", "order", "after" };
	bool is_chosen = a->sort == c, ascending = is_chosen ? !a->query.ascending : c->ascending;

	buf_printf(out, "<th scope=\"col\"%s", c->ascending ? " class=\"text\"" : "");
	if (is_chosen)
		buf_printf(out, " aria-sort=\"%s\"", a->query.ascending ? "ascending" : "descending");
	buf_puts(out, "><a href=\"");
	put_address(out, a, order, ARRAY_SIZE(order));
	buf_printf(out, "sort=%s&amp;order=%s\">%s</a>%s</th>", c->key, ascending ? "asc" : "desc", c->title,
		   !is_chosen ? "" : a->query.ascending ? " ↑" : " ↓");
}

/* Appends a link to the next part of the list. */
static void put_more(struct buf *out, const struct runs_query *a)
{
	static const char *const place[] = { "after" };

	buf_puts(out, "<p>");
	if (a->query.after) {
		buf_puts(out, "<a href=\"");
		put_address(out, a, place, 1);
		buf_puts(out, "\">First runs</a> ");
	}
	if (*a->runs.next) {
		buf_puts(out, "<a rel=\"next\" href=\"");
		put_address(out, a, place, 1);
		buf_printf(out, "after=%s\">More runs</a>", a->runs.next);
	}
	buf_puts(out, "</p>\n");
}

/* --- The table --- */

static const struct store_run_total *find_total(const struct store_run *run, const char *name)
{
	for (size_t i = 0; i < run->total_count; i++)
		if (!strcmp(run->totals[i].name, name))
			return &run->totals[i];
	return NULL;
}

/* A run of samples shows their number instead of calls. */
static void put_total(struct buf *out, const struct store_run *run, const char *name)
{
	const struct store_run_total *t = find_total(run, name), *samples = t || strcmp(name, "calls") ? NULL : find_total(run, "samples");

	buf_puts(out, "<td>");
	if (t)
		amount_put(out, t->value, amount_unit(t->unit));
	if (samples) {
		amount_put(out, samples->value, amount_unit(samples->unit));
		buf_puts(out, samples->value == 1 ? " sample" : " samples");
	}
	buf_puts(out, "</td>");
}

static void put_name(struct buf *out, const struct store_run *run)
{
	/* On a phone, where the column of ids is out of sight, the style sheet shows data-id. */
	buf_printf(out, "<th scope=\"row\" data-id=\"%s/%s\"><a href=\"/runs/%s/%s\">", run->source, run->id, run->source, run->id);
	html_text(out, run->name ? run->name : run->url ? run->url : run->id);
	buf_puts(out, "</a>");
	if (run->name && run->url) {
		buf_puts(out, " <small>");
		html_text(out, run->url);
		buf_puts(out, "</small>");
	}
	buf_puts(out, "</th>");
}

static void put_cell(struct buf *out, const struct store_run *run, const struct runs_column *c)
{
	char at[32];

	if (c->total) {
		put_total(out, run, c->total);
	} else if (c->order == STORE_RUNS_BY_START) {
		clock_format(run->start_ns, at, sizeof(at));
		buf_printf(out, "<td><time datetime=\"%s\">%.10s %.8s</time></td>", at, at, at + 11);
	} else if (c->order == STORE_RUNS_BY_SOURCE) {
		buf_printf(out, "<td class=\"text\"><a href=\"/runs?source=%s\">%s</a></td>", run->source, run->source);
	} else if (c->order == STORE_RUNS_BY_ID) {
		buf_printf(out, "<td class=\"text\">%s</td>", run->id);
	} else {
		put_name(out, run);
	}
}

/* The duration is omitted: it equals the wall time, except for runs that have none. */
static bool is_shown(const struct runs_column *c)
{
	return c->order != STORE_RUNS_BY_DURATION;
}

static void put_table(struct buf *out, const struct runs_query *a)
{
	buf_puts(out, "<div class=\"scroll\">\n<table>\n<thead><tr><th scope=\"col\"><span class=\"sr\">Choose</span></th>");
	for (size_t i = 0; i < RUNS_COLUMNS; i++)
		if (is_shown(&runs_columns[i]))
			put_heading(out, a, &runs_columns[i]);
	buf_puts(out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < a->runs.count; i++) {
		const struct store_run *run = &a->runs.items[i];

		buf_printf(out, "<tr><td><input type=\"checkbox\" name=\"run\" value=\"%s/%s\" aria-label=\"Choose %s/%s\"></td>",
			   run->source, run->id, run->source, run->id);
		for (size_t c = 0; c < RUNS_COLUMNS; c++)
			if (is_shown(&runs_columns[c]))
				put_cell(out, run, &runs_columns[c]);
		buf_puts(out, "</tr>\n");
	}
	buf_puts(out, "</tbody>\n</table>\n</div>\n");
}

/* The token is in the button, so that the form's other buttons, which are links, do not send it. */
static void put_delete(struct buf *out, const struct request *q)
{
	if (!q->form_token)
		return;
	buf_puts(out, "<input type=\"hidden\" name=\"list\" value=\"");
	html_text(out, q->query && strlen(q->query) < STROBE_WIRE_LABEL_VALUE ? q->query : "");
	buf_printf(out, "\">\n<button name=\"" FORM_TOKEN_NAME "\" value=\"%s\" formmethod=\"post\" "
		   "formaction=\"/runs/delete\">Delete</button>\n", q->form_token);
}

static void put_upload(struct buf *out, const struct request *q)
{
	if (!q->form_token)
		return;
	buf_printf(out, "<section class=\"plain upload\" aria-label=\"Upload\">\n<h2>Upload profiles</h2>\n"
			"<form class=\"controls\" method=\"post\" enctype=\"multipart/form-data\" action=\"/runs\">\n"
			"<input type=\"hidden\" name=\"" FORM_TOKEN_NAME "\" value=\"%s\">\n"
			"<label>Source of files without one <input name=\"source\" size=\"12\" maxlength=\"%u\" pattern=\"[A-Za-z0-9._\\-]*\" "
			"placeholder=\"default\" title=\"Runs of Strobe, and files named ID.SOURCE.xhprof or ID.SOURCE.uprofiler, keep theirs\"></label>\n"
			"<label>Files <input type=\"file\" name=\"file\" multiple required "
			"title=\"Any format that Strobe reads; drop them here\"></label>\n"
			"<button>Upload</button>\n</form>\n</section>\n",
		   q->form_token, STROBE_WIRE_RUN_KEY);
}

static void put_runs(struct buf *out, const struct runs_query *a, const struct request *q)
{
	buf_puts(out, "<section class=\"plain\" aria-label=\"Runs\">\n<h2>Runs</h2>\n"
		      "<form class=\"runs\" method=\"get\" action=\"/runs/choose\">\n<p class=\"controls\">"
		      "<button name=\"do\" value=\"compare\" title=\"Tick two: the lower one is the base\">Compare two</button>\n"
		      "<button name=\"do\" value=\"aggregate\" title=\"Tick several\">Aggregate</button>\n"
		      "<label>with weights <input name=\"weights\" size=\"12\" placeholder=\"20,30,50\" "
		      "title=\"One number for each run that is ticked, from the top\"></label>\n");
	put_delete(out, q);
	buf_puts(out, "</p>\n");
	put_table(out, a);
	buf_puts(out, "</form>\n");
	put_more(out, a);
	buf_puts(out, "</section>\n");
}

static void put_empty(struct buf *out, const struct server_context *s, const struct runs_query *a)
{
	_cleanup_(buf_done) struct buf why = { 0 };

	buf_init(&why);
	runs_explain_empty(a, s, &why);
	buf_puts(out, "<section class=\"empty\">\n<h2>No runs to show</h2>\n<p class=\"why\">");
	html_text(out, why.data);
	buf_puts(out, "</p>\n<p>Trace one PHP command and keep it:</p>\n"
		      "<pre>strobe run --trace -- php script.php\nstrobe import --source mine profile.strobe</pre>\n"
		      "<p>Or a share of all requests, with these lines in php.ini, and PHP restarted:</p>\n"
		      "<pre>extension=strobe.so\nstrobe.trace_rate=0.001</pre>\n"
		      "<p>Profiles of xhprof, tideways_xhprof and uprofiler can be imported as they are:</p>\n"
		      "<pre>strobe import --source shop /tmp/*.xhprof</pre>\n"
		      "<p><a href=\"/runs\">Show all runs</a></p>\n</section>\n");
}

void runs_page(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(runs_query_done) struct runs_query a = { 0 };
	struct err err = { 0 };
	int e;

	if (!strcmp(q->headers.method, "POST")) {
		runs_upload(s, q, r);
		return;
	}
	e = runs_query(&a, s, q, &err);
	if (e < 0) {
		runs_page_error(q, r, query_status(e), err.text);
		r->out_of_memory = e == -ENOMEM;
		return;
	}
	runs_page_begin(q, r, "Runs – Strobe");
	put_form(&r->body, s, &a);
	buf_puts(&r->body, "<main>\n");
	missing_warn(s->options.store, r);
	html_warning(&r->body, r->warning);
	if (a.runs.count)
		put_runs(&r->body, &a, q);
	else
		put_empty(&r->body, s, &a);
	put_upload(&r->body, q);
	runs_page_end(r);
}

/* runs_page.c: runs for people: the list, and one run with its picture and its table. Nothing here needs a script. */

#include "runs.h"

#include "amount.h"
#include "ask.h"
#include "clock.h"
#include "html.h"
#include "page.h"
#include "report.h"
#include "text.h"

#include <string.h>

static void begin(const struct request *q, struct response *r, const char *title)
{
	r->type = "text/html; charset=utf-8";
	html_begin(&r->body, title);
	buf_puts(&r->body, "<header class=\"bar\">\n<a class=\"brand\" href=\"/\">Strobe</a>\n"
		 "<a href=\"/runs\">Runs</a>\n");
	page_put_who(q, &r->body);
}

static void end(struct response *r)
{
	buf_puts(&r->body, "</main>\n");
	html_end(&r->body);
}

/* What went wrong, as a page where a browser asks. */
static void put_error(const struct request *q, struct response *r, int status, const char *sentence)
{
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	buf_puts(&text, sentence);
	buf_reset(&r->body);
	r->status = status;
	begin(q, r, "Runs – Strobe");
	buf_puts(&r->body, "</header>\n<main>\n<section class=\"empty\">\n<h2>This cannot be shown</h2>\n"
		 "<p class=\"why\">");
	html_text(&r->body, text.data);
	buf_puts(&r->body, "</p>\n<p><a href=\"/runs\">All runs</a></p>\n</section>\n");
	end(r);
}

/* --- The list --- */

static void put_input(struct buf *out, const struct runs_ask *a, const char *name, const char *caption,
		      const char *hint, int size)
{
	const char *value = params_get(&a->params, name);

	buf_printf(out, "<label>%s <input name=\"%s\" size=\"%d\" placeholder=\"", caption, name, size);
	html_text(out, hint);
	buf_puts(out, "\" value=\"");
	html_text(out, value ? value : "");
	buf_puts(out, "\"></label>\n");
}

static void put_option(struct buf *out, const char *value, const char *words, bool selected)
{
	buf_puts(out, "<option value=\"");
	html_text(out, value);
	buf_puts(out, selected ? "\" selected>" : "\">");
	html_text(out, words);
	buf_puts(out, "</option>");
}

static void put_sources(struct buf *out, const struct site *s, const struct runs_ask *a)
{
	struct store_label sources;
	bool known = !a->query.source;

	if (store_run_sources(s->options.store, &sources, NULL) < 0)
		memset(&sources, 0, sizeof(sources));
	buf_puts(out, "<label>Source <select name=\"source\">");
	put_option(out, "", "all sources", known);
	for (size_t i = 0; i < sources.value_count; i++) {
		bool selected = a->query.source && !strcmp(sources.values[i].value, a->query.source);

		known |= selected;
		put_option(out, sources.values[i].value, sources.values[i].value, selected);
	}
	if (!known)
		put_option(out, a->query.source, a->query.source, true);
	buf_puts(out, "</select></label>\n");
	store_label_done(&sources);
}

static bool is_in_form(const char *key)
{
	static const char *const keys[] = { "source", "url", "since", "until", "after" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i], key))
			return true;
	return false;
}

static void put_form(struct buf *out, const struct site *s, const struct runs_ask *a)
{
	buf_puts(out, "<form class=\"controls\" method=\"get\" action=\"/runs\">\n");
	put_sources(out, s, a);
	put_input(out, a, "url", "URL has", "/cart", 20);
	put_input(out, a, "since", "Since", "-24h", 12);
	put_input(out, a, "until", "Until", "now", 12);
	/* Labels and the limit stay as the address has them. */
	for (size_t i = 0; i < a->params.count; i++) {
		if (is_in_form(a->params.items[i].key))
			continue;
		buf_printf(out, "<input type=\"hidden\" name=\"%s\" value=\"", a->params.items[i].key);
		html_text(out, a->params.items[i].value);
		buf_puts(out, "\">\n");
	}
	buf_puts(out, "<button>Show</button>\n</form>\n</header>\n");
}

static const struct store_run_total *find_total(const struct store_run *run, const char *name)
{
	for (size_t i = 0; i < run->total_count; i++)
		if (!strcmp(run->totals[i].name, name))
			return &run->totals[i];
	return NULL;
}

static void put_total(struct buf *out, const struct store_run *run, const char *name)
{
	const struct store_run_total *t = find_total(run, name);

	buf_puts(out, "<td>");
	if (t)
		amount_put(out, t->value, amount_unit(t->unit));
	buf_puts(out, "</td>");
}

static const char *what(const struct store_run *run)
{
	return run->name ? run->name : run->url ? run->url : run->id;
}

static void put_row(struct buf *out, const struct store_run *run)
{
	char at[32];

	clock_format(run->start_ns, at, sizeof(at));
	buf_printf(out, "<tr><td><time datetime=\"%s\">%.10s %.8s</time></td><td>", at, at, at + 11);
	amount_put(out, run->duration_ns, AMOUNT_TIME);
	buf_puts(out, "</td>");
	put_total(out, run, "cpu_ns");
	put_total(out, run, "memory_bytes");
	put_total(out, run, "calls");
	buf_printf(out, "<td><a href=\"/runs/%s/%s/flamegraph.svg\">flame graph</a></td>"
			"<td><a href=\"/runs/%s/%s#functions\">functions</a></td>"
			"<td>%s</td><th scope=\"row\"><a href=\"/runs/%s/%s\">",
		   run->source, run->id, run->source, run->id, run->source, run->source, run->id);
	html_text(out, what(run));
	buf_puts(out, "</a>");
	if (run->name && run->url) {
		buf_puts(out, " <small>");
		html_text(out, run->url);
		buf_puts(out, "</small>");
	}
	buf_puts(out, "</th></tr>\n");
}

/* The same list from there on. */
static void put_more(struct buf *out, const struct runs_ask *a)
{
	buf_puts(out, "<p><a href=\"/runs?");
	for (size_t i = 0; i < a->params.count; i++) {
		const struct param *p = &a->params.items[i];

		if (!*p->value || !strcmp(p->key, "after"))
			continue;
		buf_printf(out, "%s=", p->key);
		text_put_url(out, (struct str){ p->value, strlen(p->value) });
		buf_puts(out, "&amp;");
	}
	buf_printf(out, "after=%s\">Older runs</a></p>\n", a->runs.next);
}

static void put_rows(struct buf *out, const struct runs_ask *a)
{
	buf_puts(out, "<section class=\"plain\" aria-label=\"Runs\">\n<h2>Runs</h2>\n<table>\n<thead><tr>"
		      "<th scope=\"col\">Started (UTC)</th><th scope=\"col\">Duration</th><th scope=\"col\">CPU</th>"
		      "<th scope=\"col\">Memory</th><th scope=\"col\">Calls</th><th scope=\"col\" colspan=\"2\">Show</th>"
		      "<th scope=\"col\">Source</th><th scope=\"col\">Run</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < a->runs.count; i++)
		put_row(out, &a->runs.items[i]);
	buf_puts(out, "</tbody>\n</table>\n");
	if (*a->runs.next)
		put_more(out, a);
	buf_puts(out, "</section>\n");
}

static void put_empty(struct buf *out, const struct site *s, const struct runs_ask *a)
{
	_cleanup_(buf_done) struct buf why = { 0 };

	buf_init(&why);
	runs_why_empty(a, s, &why);
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

void runs_page(struct site *s, const struct request *q, struct response *r)
{
	_cleanup_(runs_ask_done) struct runs_ask a = { 0 };
	struct err err = { 0 };
	int e = runs_ask(&a, s, q, &err);

	if (e < 0) {
		put_error(q, r, e == -EINVAL ? 400 : 500, err.text);
		r->out_of_memory = e == -ENOMEM;
		return;
	}
	begin(q, r, "Runs – Strobe");
	put_form(&r->body, s, &a);
	buf_puts(&r->body, "<main>\n");
	if (a.runs.count)
		put_rows(&r->body, &a);
	else
		put_empty(&r->body, s, &a);
	end(r);
}

/* --- One run --- */

static void put_fact(struct buf *out, const char *key, const char *value)
{
	buf_puts(out, "<tr><th scope=\"row\">");
	html_text(out, key);
	buf_puts(out, "</th><th scope=\"row\">");
	html_text(out, value);
	buf_puts(out, "</th></tr>\n");
}

static void put_facts(struct buf *out, const struct run_ask *a)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	char at[32];

	buf_init(&b);
	clock_format(a->run.start_ns, at, sizeof(at));
	buf_puts(out, "<table>\n<tbody>\n");
	put_fact(out, "source", a->run.source);
	put_fact(out, "id", a->run.id);
	if (a->run.url)
		put_fact(out, "URL", a->run.url);
	put_fact(out, "started", at);
	amount_put(&b, a->run.duration_ns, AMOUNT_TIME);
	put_fact(out, "duration", b.data);
	for (size_t i = 0; i < a->run.total_count; i++) {
		const struct store_run_total *t = &a->run.totals[i];

		buf_reset(&b);
		amount_put(&b, t->value, amount_unit(t->unit));
		put_fact(out, report_column_title(t->name), b.data);
	}
	for (size_t i = 0; i < a->run.labels.count; i++)
		put_fact(out, a->run.labels.items[i].key, a->run.labels.items[i].value);
	buf_puts(out, "</tbody>\n</table>\n");
}

/* Which values the picture and the order of the table are of. */
static void put_columns(struct buf *out, const struct run_ask *a)
{
	buf_puts(out, "<p>By ");
	for (uint32_t i = 0; i < a->profile->column_count; i++) {
		const char *name = a->profile->columns[i].name;

		buf_puts(out, i ? ", " : "");
		if (i == a->column) {
			buf_puts(out, "<strong>");
			html_text(out, report_column_title(name));
			buf_puts(out, "</strong>");
			continue;
		}
		buf_puts(out, "<a href=\"?column=");
		text_put_url(out, (struct str){ name, strlen(name) });
		buf_puts(out, "\">");
		html_text(out, report_column_title(name));
		buf_puts(out, "</a>");
	}
	buf_puts(out, "</p>\n");
}

static void put_query(struct buf *out, const struct run_ask *a)
{
	const char *name = a->profile->columns[a->column].name;

	buf_puts(out, "column=");
	text_put_url(out, (struct str){ name, strlen(name) });
}

static void put_picture(struct buf *out, const struct run_ask *a)
{
	buf_printf(out, "<p><a href=\"/runs/%s/%s/flamegraph.svg?", a->source, a->id);
	put_query(out, a);
	buf_printf(out, "\">Open the flame graph</a>, <a href=\"/runs/%s/%s/flamegraph.svg?reverse=1&amp;", a->source,
		   a->id);
	put_query(out, a);
	buf_printf(out, "\">reversed</a>, <a href=\"/api/v1/runs/%s/%s?format=folded&amp;", a->source, a->id);
	put_query(out, a);
	buf_printf(out, "\">folded stacks</a>, <a href=\"/api/v1/runs/%s/%s?format=strobe\">profile</a></p>\n"
			"</section>\n<section class=\"run-picture\" aria-label=\"Flame graph\">\n"
			"<img class=\"picture\" loading=\"lazy\" alt=\"Flame graph; the table below has the same functions\" "
			"src=\"/runs/%s/%s/flamegraph.svg?", a->source, a->id, a->source, a->id);
	put_query(out, a);
	buf_puts(out, "\">\n</section>\n");
}

static void put_function(struct buf *out, const struct run_ask *a, const struct wide_row *row, const uint32_t *columns,
			 size_t count)
{
	const struct profile *p = a->profile;
	struct str file = profile_file(p, row->frame);

	buf_puts(out, "<tr>");
	for (size_t i = 0; i < count; i++) {
		enum amount_unit unit = amount_unit(p->columns[columns[i]].unit);

		buf_puts(out, "<td>");
		amount_put(out, row->self[columns[i]], unit);
		buf_puts(out, "</td><td>");
		buf_puts(out, row->at_most && strcmp(p->columns[columns[i]].name, "calls") ? REPORT_AT_MOST : "");
		amount_put(out, row->total[columns[i]], unit);
		buf_puts(out, "</td>");
	}
	buf_puts(out, "<th scope=\"row\">");
	text_put_xml(out, profile_name(p, row->frame));
	if (file.n) {
		buf_puts(out, " <small>");
		text_put_xml(out, file);
		if (p->frames[row->frame].line)
			buf_printf(out, ":%u", p->frames[row->frame].line);
		buf_puts(out, "</small>");
	}
	buf_puts(out, "</th></tr>\n");
}

static void put_functions(struct buf *out, const struct run_ask *a)
{
	uint32_t columns[PROFILE_COLUMNS];
	size_t column_count = report_wide_columns(a->profile, columns), count, shown;
	_cleanup_(freep) struct wide_row *rows = report_wide(a->profile, a->column, false, &count);

	shown = a->limit && count > a->limit ? a->limit : count;
	buf_puts(out, "<section class=\"plain functions\" id=\"functions\" aria-label=\"Functions\">\n"
		 "<h2>Functions</h2>\n<p>");
	buf_put_grouped(out, (int64_t)count);
	buf_puts(out, " functions");
	if (shown < count)
		buf_printf(out, ", the first %zu; <a href=\"?limit=0#functions\">show all</a>", shown);
	buf_puts(out, ". Each has what it took itself, and with what it called");
	for (size_t i = 0; i < count; i++)
		if (rows[i].at_most) {
			buf_puts(out, " (" REPORT_AT_MOST ": functions that call each other in a circle, of which only a limit "
				      "is known)");
			break;
		}
	buf_puts(out, ".</p>\n<table>\n<thead><tr>");
	for (size_t i = 0; i < column_count; i++) {
		buf_puts(out, "<th scope=\"col\">");
		html_text(out, report_column_title(a->profile->columns[columns[i]].name));
		buf_puts(out, "</th><th scope=\"col\">total</th>");
	}
	buf_puts(out, "<th scope=\"col\">Function</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < shown; i++)
		put_function(out, a, &rows[i], columns, column_count);
	buf_puts(out, "</tbody>\n</table>\n</section>\n");
}

void run_page(struct site *s, const struct request *q, struct response *r)
{
	_cleanup_(run_ask_done) struct run_ask a = { 0 };
	_cleanup_(buf_done) struct buf title = { 0 };

	buf_init(&title);
	if (!run_ask(&a, s, q->path + strlen("/runs/"), q, r)) {
		_cleanup_(buf_done) struct buf why = { 0 };

		buf_init(&why);
		buf_put(&why, r->body.data, r->body.size ? r->body.size - 1 : 0);	/* a line of text */
		put_error(q, r, r->status, why.data);
		return;
	}
	if (!strcmp(a.verb, "flamegraph.svg")) {
		run_picture(&a, q, r);
		return;
	}
	if (*a.verb) {
		put_error(q, r, 404, "there is nothing at this address; a run has flamegraph.svg below its own");
		return;
	}
	buf_printf(&title, "%s – Strobe", what(&a.run));
	begin(q, r, title.data);
	buf_puts(&r->body, "</header>\n<main>\n<section class=\"plain\" aria-label=\"Run\">\n<h2>");
	html_text(&r->body, what(&a.run));
	buf_puts(&r->body, "</h2>\n");
	put_facts(&r->body, &a);
	put_columns(&r->body, &a);
	put_picture(&r->body, &a);
	put_functions(&r->body, &a);
	end(r);
}

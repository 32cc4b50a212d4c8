/* runs_remove.c: deletes the runs ticked in the list, after a confirmation. */

#include "runs.h"

#include "form_token.h"
#include "html.h"
#include "text.h"
#include "views.h"

#include <string.h>

int runs_reject_old_form(struct err *err)
{
	return runs_fail(err, 403, "this form belongs to another server, or was opened before this one was "
				   "restarted; go back, reload the page and submit it again");
}

static int check_runs(const struct params *p, size_t *ret_count, struct err *err)
{
	struct views_run run;

	*ret_count = 0;
	for (size_t i = 0; i < p->count; i++) {
		if (strcmp(p->items[i].key, "run"))
			continue;
		if (!views_parse_run(p->items[i].value, &run))
			return runs_fail(err, 400, "run=%.80s: a run is given as its source and its id, as in shop/20261121-1",
					 p->items[i].value);
		++*ret_count;
	}
	return *ret_count ? 0 : runs_fail(err, 400, "no run is ticked; tick those to delete");
}

/* Appends the query string of the list from which the request came, if any. */
static void put_list(const struct params *p, struct buf *out)
{
	const char *list = params_get(p, "list");

	buf_puts(out, "/runs");
	if (!list || !*list)
		return;
	for (const char *c = list; *c; c++)
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f)
			return;
	buf_printf(out, "?%s", list);
}

static void put_hidden(struct buf *out, const char *name, const char *value)
{
	buf_printf(out, "<input type=\"hidden\" name=\"%s\" value=\"", name);
	html_text(out, value);
	buf_puts(out, "\">\n");
}

static void confirm(const struct request *q, struct response *r, const struct params *p, size_t count)
{
	_cleanup_(buf_done) struct buf list = { 0 };

	buf_init(&list);
	put_list(p, &list);
	runs_page_begin(q, r, "Delete – Strobe");
	buf_printf(&r->body, "</header>\n<main>\n<section class=\"empty\">\n<h2>Delete %zu run%s?</h2>\n<ul>\n", count,
		   count == 1 ? "" : "s");
	for (size_t i = 0; i < p->count; i++)
		if (!strcmp(p->items[i].key, "run")) {
			buf_puts(&r->body, "<li>");
			html_text(&r->body, p->items[i].value);
			buf_puts(&r->body, "</li>\n");
		}
	buf_puts(&r->body, "</ul>\n<form method=\"post\" action=\"/runs/delete\">\n");
	for (size_t i = 0; i < p->count; i++)
		if (!strcmp(p->items[i].key, "run") || !strcmp(p->items[i].key, "list"))
			put_hidden(&r->body, p->items[i].key, p->items[i].value);
	put_hidden(&r->body, FORM_TOKEN_NAME, q->form_token);
	put_hidden(&r->body, "confirmed", "1");
	buf_puts(&r->body, "<button>Delete</button> <a href=\"");
	html_text(&r->body, list.data);
	buf_puts(&r->body, "\">Keep them</a>\n</form>\n</section>\n");
	runs_page_end(r);
}

/* A run that no longer exists is not an error. */
static int remove_all(struct server_context *s, const struct params *p, struct err *err)
{
	struct views_run run;

	for (size_t i = 0; i < p->count; i++) {
		int e;

		if (strcmp(p->items[i].key, "run") || !views_parse_run(p->items[i].value, &run))
			continue;
		e = store_remove_run(s->options.store, run.source, run.id, err);
		if (e < 0 && e != -ENOENT)
			return store_is_unavailable(e) ? 503 : 500;
	}
	return 0;
}

static int answer(struct server_context *s, const struct request *q, struct response *r, const struct params *p, struct err *err)
{
	_cleanup_(buf_done) struct buf list = { 0 };
	size_t count = 0;
	int status;

	buf_init(&list);
	if (!form_token_matches(q->form_token, params_get(p, FORM_TOKEN_NAME)))
		return runs_reject_old_form(err);
	status = check_runs(p, &count, err);
	if (status)
		return status;
	if (!params_get(p, "confirmed")) {
		confirm(q, r, p, count);
		return 0;
	}
	status = remove_all(s, p, err);
	if (status)
		return status;
	put_list(p, &list);
	runs_lead_to(r, 303, &list);
	return 0;
}

void runs_remove(struct server_context *s, const struct request *q, struct response *r)
{
	const char *body = q->body && strlen(q->body) == q->body_size ? q->body : NULL;
	struct params params;
	struct err err = { 0 };
	int status;

	if (strcmp(q->headers.method, "POST")) {
		runs_page_error(q, r, 405, "tick runs in the list, and press Delete there");
		return;
	}
	status = params_parse(&params, body, &err) < 0 ? 400 : answer(s, q, r, &params, &err);
	if (status)
		runs_page_error(q, r, status, err.text);
	params_done(&params);
}

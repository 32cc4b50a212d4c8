/* runs_frame.c: common parts of the pages of runs: head and foot, errors, redirects. */

#include "runs.h"

#include "html.h"
#include "page.h"

#include <stdarg.h>
#include <string.h>

void runs_page_begin(const struct request *q, struct response *r, const char *title)
{
	r->type = "text/html; charset=utf-8";
	html_begin(&r->body, title);
	buf_puts(&r->body, "<header class=\"bar\">\n<a class=\"brand\" href=\"/\">Strobe</a>\n"
		 "<a href=\"/runs\">Runs</a>\n<a href=\"/filters\">Filters</a>\n");
	page_put_identity(q, &r->body);
}

void runs_page_end(struct response *r)
{
	buf_puts(&r->body, "</main>\n");
	html_end(&r->body);
}

void runs_page_error(const struct request *q, struct response *r, int status, const char *sentence)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	bool of_filters = strcmp(q->path, "/filters") == 0;

	buf_init(&text);
	buf_puts(&text, sentence);
	buf_reset(&r->body);
	r->status = status;
	runs_page_begin(q, r, of_filters ? "Filters – Strobe" : "Runs – Strobe");
	buf_puts(&r->body, "</header>\n<main>\n<section class=\"empty\">\n<h2>This cannot be shown</h2>\n"
		 "<p class=\"why\">");
	html_text(&r->body, text.data);
	buf_printf(&r->body, "</p>\n<p><a href=\"%s\">%s</a></p>\n</section>\n", of_filters ? q->path : "/runs", of_filters ? "All filters" : "All runs");
	runs_page_end(r);
}

int runs_fail(struct err *err, int status, const char *format, ...)
{
	char text[sizeof(err->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	err_set(err, -EINVAL, "%s", text);
	return status;
}

void runs_lead_to(struct response *r, int status, const struct buf *address)
{
	r->status = status;
	r->location = arena_copy(&r->bytes, address->data, address->size);
	buf_printf(&r->body, "see %s\n", address->data);
}

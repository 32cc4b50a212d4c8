/* page_parts.h: the common parts of the pages of a range, a run, an average and a comparison: the toolbar, links to
 * other views, and tables. All of it is HTML that works without scripts. */
#ifndef SERVE_PAGE_PARTS_H
#define SERVE_PAGE_PARTS_H

#include "profile_query.h"
#include "function_query.h"
#include "source_query.h"

struct page {
	struct server_context *context;
	const struct request *q;
	struct profile_query query;
	const char *path;		/* the page's path: "/", or "/runs/shop/1" */
	bool run_in_path;		/* the path identifies the run, so the query does not */
	bool *shared;			/* by frame: functions in other files have the same name */
	struct buf *out;
};

/* Appends a URL with the page's parameters, escaped for an attribute, with `value` for `key` (NULL: without `key`).
 * If `path` is NULL, the page's own path is used. */
void page_put_address(const struct page *p, const char *path, const char *key, const char *value);

/* Appends the page's own URL without the parameter of this index. */
void page_put_address_without(const struct page *p, size_t number);

/* Appends the URL of a function's page. `file` (may be NULL) selects the functions of that name in one file. */
void page_put_function_address(const struct page *p, const char *name, const char *file);

/* Appends the URL of view.function among all functions, whatever the grouping of this page. */
void page_put_address_to_any(const struct page *p);

/* Appends the URL of the source of a whole file. */
void page_put_source_of(const struct page *p, const char *file);

void page_put_form(const struct page *p);			/* ranges and label filters */

/* If this is a submission of the form, fills in a redirect to its URL, or an error, and returns true. */
bool page_form_redirects(const struct request *q, struct response *r);

void page_put_facts(const struct page *p);			/* for runs, and for a comparison */
void page_put_choices(const struct page *p);			/* values and groups */
void page_put_picture(const struct page *p);
void page_put_table(const struct page *p);			/* all functions */
void page_put_source(const struct page *p, struct source_query *f);
void page_put_function(const struct page *p, const struct function_query *f);

#endif

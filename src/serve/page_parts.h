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
	bool run_in_path;		/* the address says which run it is, and its query need not */
	bool *shared;			/* by frame: functions in other files have its name */
	struct buf *out;
};

/* An address with the page's parameters, escaped for an attribute: `key` gets the value, or is left out if that is NULL.
 * NULL for `path` is the page itself. */
void page_put_address(const struct page *p, const char *path, const char *key, const char *value);

/* The page itself without the parameter of this number. */
void page_put_address_without(const struct page *p, size_t number);

/* The address of a function's page. `file` (may be NULL) selects the functions of that name in one file. */
void page_put_function_address(const struct page *p, const char *name, const char *file);

/* The address of view.function among all functions, whatever the grouping of this page. */
void page_put_address_to_any(const struct page *p);

/* The address of the source of a whole file. */
void page_put_source_of(const struct page *p, const char *file);

void page_put_form(const struct page *p);			/* ranges and label filters */

/* Whether this is a submission of the form: then fills in a redirect to its address, or an error, and returns true. */
bool page_form_redirects(const struct request *q, struct response *r);

void page_put_facts(const struct page *p);			/* for runs, and for a comparison */
void page_put_choices(const struct page *p);			/* values and groups */
void page_put_picture(const struct page *p);
void page_put_table(const struct page *p);			/* all functions */
void page_put_source(const struct page *p, struct source_query *f);
void page_put_function(const struct page *p, const struct function_query *f);

#endif

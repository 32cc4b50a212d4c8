/* page_file.h: writes a profile as a standalone page: render.h's page with every value, grouping and table that
 * strobe serve's page requests from the daemon. */
#ifndef COMMAND_PAGE_FILE_H
#define COMMAND_PAGE_FILE_H

#include "diff.h"
#include "render.h"

/* Appends the page, including derived columns. */
int page_file_put(const struct profile *p, const struct flamegraph_options *o, struct buf *out, struct err *err);

/* A difference: one metric of two profiles. */
struct page_metric {
	const struct diff *diff;
	const char *name;		/* "wall_ns" */
};

struct page_comparison {
	const struct page_metric *metrics;
	size_t count;
	size_t shown;			/* the metric shown first */
	const char *name_before, *name_after;
	const struct labels *labels;	/* labels of each side; may be NULL */
};

/* Appends the page of a comparison. The columns in `o` are ignored. */
int page_file_put_difference(const struct page_comparison *c, const struct flamegraph_options *o, struct buf *out, struct err *err);

#endif

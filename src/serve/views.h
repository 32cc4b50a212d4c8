/* views.h: builds the URLs of all pages that show runs. They contain names of runs, which need no escaping, and
 * texts, which are percent-encoded. */
#ifndef SERVE_VIEWS_H
#define SERVE_VIEWS_H

#include "buf.h"
#include "err.h"
#include "strobe_wire.h"
#include <stdbool.h>

#define VIEWS_RUNS	32u		/* limit of runs that a page aggregates */

struct views_run {
	char source[STROBE_WIRE_RUN_KEY + 1], id[STROBE_WIRE_RUN_KEY + 1];
};

/* One run, several aggregated runs, or a run compared with another one. */
struct views {
	struct views_run runs[VIEWS_RUNS], base;
	size_t run_count;
	bool has_base;
	const char *weights;		/* "2,1": whole numbers, one per run; NULL: equal weights */
	const char *function;		/* a single function; NULL: all */
	const char *column;		/* the value to show; NULL: the page's default */
	const char *sort;		/* order of tables: "total", "name"; NULL: by self */
};

/* Parses "shop/1"; false if malformed. */
bool views_parse_run(const char *text, struct views_run *ret);

/* Reads "20,30,50" or "0.2,1.5", one number per run, and appends whole numbers in the same ratio. -EINVAL with a sentence. */
int views_weights(const char *text, size_t count, struct buf *out, struct err *err);

/* Appends the URL of the page, with unescaped &. */
void views_put(const struct views *v, struct buf *out);

/* Appends the URL of its call graph; functions below `threshold` percent are omitted (NULL: the default). */
void views_put_callgraph(const struct views *v, const char *threshold, struct buf *out);

#endif

/* views.h: addresses of the pages that show runs, in one place. They hold names of runs, which need no escaping, and texts,
 * which are percent-encoded. */
#ifndef SERVE_VIEWS_H
#define SERVE_VIEWS_H

#include "buf.h"
#include "err.h"
#include "strobe_wire.h"
#include <stdbool.h>

#define VIEWS_RUNS	32u		/* that one page aggregates */

struct views_run {
	char source[STROBE_WIRE_RUN_KEY + 1], id[STROBE_WIRE_RUN_KEY + 1];
};

/* One run, several that are aggregated, or a run that is compared with another one. */
struct views {
	struct views_run runs[VIEWS_RUNS], base;
	size_t run_count;
	bool has_base;
	const char *weights;		/* "2,1": whole numbers, one per run; NULL: all count alike */
	const char *function;		/* one function of it; NULL: all */
	const char *column;		/* the values to show; NULL: as the page chooses */
	const char *sort;		/* order of tables: "total", "name"; NULL: by self */
};

/* "shop/1"; false if it is no such name. */
bool views_parse_run(const char *text, struct views_run *ret);

/* Reads "20,30,50" or "0.2,1.5", one number per run, and appends whole numbers in the same ratio. -EINVAL with a sentence. */
int views_weights(const char *text, size_t count, struct buf *out, struct err *err);

/* The address of the page, with & as it is. */
void views_put(const struct views *v, struct buf *out);

/* The address of its call graph; functions below `threshold` per cent are left out (NULL: as the picture chooses). */
void views_put_callgraph(const struct views *v, const char *threshold, struct buf *out);

#endif

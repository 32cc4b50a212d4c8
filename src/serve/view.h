/* view.h: what a request asks for: a time range, label filters, and how to show what is found.
 *
 * Parameters with the names of `view_reserved` say how; every other one is a label filter:
 *	entry=index		the label is "index"; given twice: one of the two
 *	entry=!index		it is not
 *	entry=api*		it begins with "api"
 *	entry==!odd*		it is exactly "!odd*"
 *	entry=			no filter, so that a form with nothing chosen works
 *	label.from=x		the label "from", which is reserved otherwise
 */
#ifndef SERVE_VIEW_H
#define SERVE_VIEW_H

#include "params.h"
#include "store.h"
#include <stdbool.h>

#define VIEW_DEFAULT_NS	(3600LL * 1000000000LL)		/* the last hour, unless a range is asked for */
#define VIEW_STEPS	300u				/* of a timeline, about, when no step is asked for */
#define VIEW_STEPS_MAX	10000u

struct view {
	int64_t now_ns, from_ns, to_ns;
	int64_t step_ns;			/* of a timeline: a multiple of BATCH_BUCKET_NS */
	size_t steps;				/* that cover the range */
	const char *from, *to;			/* as written, for links; "-1h" and "now" by default */
	const char *format, *column, *title;	/* NULL unless asked for */
	size_t limit;				/* rows; 0 is no limit */
	bool has_limit, reverse, inverted;
	struct label_filter filters[PARAMS_MAX];
	size_t filter_count;
	struct arena bytes;
};

extern const char *const view_reserved[];	/* ends with NULL */

/* -EINVAL with a sentence for a bad parameter. Strings point into `p`, which must live as long as `v`. Call
 * view_done in any case. */
int view_parse(struct view *v, const struct params *p, int64_t now_ns, struct err *err);
void view_done(struct view *v);

/* The filter that the parameter `key` ("host" or "label.host") with `text` (not empty) asks for; its strings are those
 * given, or in `bytes`. */
struct label_filter view_filter(struct arena *bytes, const char *key, const char *text);

struct store_query view_query(const struct view *v);

/* The value that the view is narrowed to by the only LABEL_IS filter of `key`, or NULL. */
const char *view_label(const struct view *v, const char *key);

/* "samples of entry=foo, host beginning with web between … and …" */
void view_describe(const struct view *v, struct buf *out);

#endif

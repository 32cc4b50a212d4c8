/* view.h: the parsed parameters of a request: a time range or runs, label filters, and how to show what is found.
 *
 *	run=shop/1		this run instead of a range; several are averaged
 *	weights=2,1		by these weights, one per run
 *	base=shop/0		compared with this run
 *	base_from= base_to=	compared with this range, of the same labels
 *	base.deploy=6		compared with what has this label instead of the filters of `deploy`; in the same range unless
 *				another is given
 *	side=before		of a comparison: its base only, or what is compared with it (after)
 *	scale=total		how a comparison scales its base: total, rate, requests or none
 *	width=after		widths in the graph of a comparison: after, before, difference or maximum, the larger of both sides
 *	by=class		classes, namespaces, files or packages instead of functions
 *	sort=total		tables by total, not by self
 *	function=Cart::total	one function with its callers and callees, and its source
 *	function_file=/srv/a.php	of several functions of that name those of this file
 *	lines=all		all of its file; 0 none of its source
 *	split=entry		a timeline by the values of this label
 *	chart_from= chart_to=	of a flame chart: the window, in nanoseconds since the start of the run
 *	chart_search=^Cart	of a flame chart: calls of functions that match are counted, by box; upper and lower case are equal
 *	chart_match=1		with chart_search: the place of the first match in the window or after it
 *	pixels=1000		of a flame chart: how wide the window is drawn; narrower calls are joined. The same
 *				for a flame graph's boxes, if given
 *	zoom=main;run		with pixels: the box that is so wide, by the names of frames
 *	keep=^App		only stacks through a function that matches, remove= only all others; keep-i= and remove-i= take
 *				upper and lower case as equal
 *	threshold=0.5		of a call graph: percentage below which functions are left out
 *
 * These and the other names of `view_reserved` say how; every other parameter is a label filter:
 *	entry=index		the label is "index"; given twice: one of the two
 *	entry=!index		it is not
 *	entry=api*		it begins with "api"
 *	entry==!odd*		it is exactly "!odd*"
 *	entry=			no filter, so that a form with nothing chosen works
 *	label.from=x		the label "from", which is reserved otherwise
 */
#ifndef SERVE_VIEW_H
#define SERVE_VIEW_H

#include "diff.h"
#include "params.h"
#include "render.h"
#include "report.h"
#include "store.h"
#include <stdbool.h>

#define VIEW_DEFAULT_NS	(3600LL * 1000000000LL)		/* the last hour, unless a range is given */
#define VIEW_STEPS	300u				/* steps of a timeline, approximately, when no step is given */
#define VIEW_STEPS_MAX	10000u
#define VIEW_RUNS_MAX	32u				/* averaged */
#define VIEW_STACK_FILTERS 16u
#define VIEW_PIXELS	2000u				/* width of a flame chart, when no number is given */
#define VIEW_PIXELS_MAX	20000u

struct view_run {
	char source[STROBE_WIRE_RUN_KEY + 1], id[STROBE_WIRE_RUN_KEY + 1];
	uint64_t weight;
};

struct view_stack_filter {
	const char *text;			/* a regular expression */
	bool keep, ignore_case;
};

struct view {
	int64_t now_ns, from_ns, to_ns;
	int64_t step_ns;			/* step of a timeline: a multiple of BATCH_BUCKET_NS */
	size_t steps;				/* that cover the range */
	const char *from, *to;			/* as given, for links; "-1h" and "now" by default */
	const char *format, *column, *title;	/* NULL unless requested */
	size_t limit;				/* rows; 0 is no limit */
	bool has_limit, reverse, inverted;
	enum report_sort sort;
	bool has_lines, lines, all_lines;	/* executed lines: requested or left out; all of a source */
	struct view_run runs[VIEW_RUNS_MAX];	/* none: the range */
	size_t run_count;
	bool has_base;				/* a comparison: with base_run, or with a range if that has no id */
	struct view_run base_run;
	int64_t base_from_ns, base_to_ns;
	struct label_filter base_filters[PARAMS_MAX];	/* filters of the base, if that is a range */
	size_t base_filter_count;
	bool has_base_labels;			/* they differ from `filters` */
	enum diff_scale scale;
	bool has_scale;
	enum flamegraph_width_of width_of;	/* for a comparison's graphs */
	enum report_by by;
	const char *function;			/* NULL: all */
	const char *function_file;		/* NULL: all files, or groups other than functions */
	const char *split;			/* the label that a timeline is split by; NULL: none */
	double threshold;			/* negative unless given */
	int64_t chart_from_ns, chart_to_ns;	/* part of a flame chart; to = 0: its end */
	const char *chart_search;		/* NULL: none */
	int64_t chart_match;
	bool has_chart_match;
	uint32_t pixels;
	bool has_pixels;
	const char *zoom;			/* NULL: none */
	struct view_stack_filter stack_filters[VIEW_STACK_FILTERS];
	size_t stack_filter_count;
	struct label_filter filters[PARAMS_MAX];
	size_t filter_count;
	struct arena bytes;
};

extern const char *const view_reserved[];	/* ends with NULL */
extern const char *const view_scale_names[DIFF_BY_REQUESTS + 1];	/* indexed by enum diff_scale */
bool view_is_reserved(const char *key);		/* "label.from" is not reserved: it means the label "from" */

/* -EINVAL with a sentence for a bad parameter. Strings point into `p`, which must live as long as `v`. Call
 * view_done in any case. */
int view_parse(struct view *v, const struct params *p, int64_t now_ns, struct err *err);
void view_done(struct view *v);

/* Turns it into a view of one run, for a URL like /runs/shop/1. */
void view_set_run(struct view *v, const char *source, const char *id);

/* Returns the filter for the parameter `key` ("host" or "label.host") with `text` (not empty); its strings are the
 * given ones, or allocated from `bytes`. */
struct label_filter view_filter(struct arena *bytes, const char *key, const char *text);

struct store_query view_query(const struct view *v);

/* The same for its base. */
struct store_query view_base_query(const struct view *v);

/* "deploy=6, host not web1" */
void view_describe_filters(const struct label_filter *filters, size_t count, struct buf *out);

/* Returns the value of the only LABEL_IS filter of `key`, or NULL. */
const char *view_label(const struct view *v, const char *key);

/* Appends ", weight 20 of 100" for a run of an average; nothing if all weights are equal. */
void view_put_weight(const struct view *v, size_t run, struct buf *out);

/* "samples of entry=foo, host beginning with web between … and …" */
void view_describe(const struct view *v, struct buf *out);

#endif

/* profile_query.h: shared by all data handlers: reads parameters, queries the store, reports errors. */
#ifndef SERVE_PROFILE_QUERY_H
#define SERVE_PROFILE_QUERY_H

#include "http.h"
#include "view.h"

/* A column that can be selected. */
struct profile_query_column {
	char name[64], unit[64];
	int64_t total, whole;			/* its sum, and the base of its shares (report_whole) */
	int64_t before;				/* the base's sum, for a comparison */
};

/* A query and its result. Embedded; profile_query_done frees everything, even if incomplete. */
struct profile_query {
	struct params params;
	struct view view;
	struct profile *profile;
	uint32_t column, before;		/* columns of the profile; before is UINT32_MAX except in comparisons */
	int64_t total, whole;			/* sums of the column */
	bool lines;				/* profile_query_load keeps executed lines, for a range */
	bool names_as_stored;			/* profile_query_load keeps unprintable names unchanged, for files */
	bool with_source;			/* profile_query_load fills in what source_query.h needs */
	struct profile *subject, *subject_before;	/* if so; subject_before only for a comparison */
	bool lines_left_out;			/* if so: the range has too many stacks for lines */
	bool chart;				/* profile_query_load keeps the flame chart, for a single run */
	bool is_chart;				/* only the chart is requested: stack filters do not apply */
	struct profile *outline, *outline_before;	/* both sides of a comparison, before stack filters */
	bool left_nothing, left_nothing_before;	/* stack filters removed everything on that side */
	uint32_t charted_calls;			/* calls in the flame chart of a single run; 0: no chart */
	struct store_query_stats stats;		/* for a range */
	struct store_run *runs;			/* view.run_count runs, followed by the base if that is a run */
	size_t run_count;			/* number of those that exist */
	struct profile_query_column columns[PROFILE_COLUMNS];
	uint32_t column_count, chosen;		/* the selected one is `column`, except in comparisons */
	bool is_diff, is_after;			/* is_after: the later side of a requested comparison */
	bool scales[DIFF_BY_REQUESTS + 1];	/* available scales */
	struct diff diff;			/* if set, owns the profile */
	char name_before[160], name_after[160];	/* names of both sides of a comparison, for messages */
	struct diff_warnings warnings;
	char missing[256];			/* servers of the store whose data is missing */
	char unmeasured[256];			/* values that an average omits, as a sentence */
	int64_t pruned_sum, pruned_of;		/* for runs that had to be pruned */
	bool pruned_runs;
};

/* -EINVAL with a sentence for bad parameters. */
int profile_query_parse(struct profile_query *a, const struct request *q, struct err *err);

/* The same for answers about time ranges, which a run does not have. */
int profile_query_parse_range(struct profile_query *a, const struct request *q, struct err *err);

/* Replaces a comparison by the profile of its side after, for formats that cannot represent comparisons;
 * profile_query_warn reports that. */
void profile_query_take_after(struct profile_query *a);

/* Also queries the store for a range, runs or a comparison, groups the result, and selects the column. -EINVAL if the
 * profile lacks the requested column or a comparison makes no sense, -ENOENT if there is no such run. */
int profile_query_load(struct profile_query *a, const struct server_context *s, struct err *err);
void profile_query_done(struct profile_query *a);

/* Whether the result is empty: no data, or none of the requested values. */
bool profile_query_is_empty(const struct profile_query *a);

/* "samples of entry=index between … and …", "run shop/1", "3 runs, averaged", "run shop/1 compared with run shop/0". */
void profile_query_describe(const struct profile_query *a, struct buf *out);

/* The status of a failed query: 400 for -EINVAL, 404 for -ENOENT, 503 above a limit of the store (-EOVERFLOW), else 500. */
int query_status(int code);
void profile_query_refuse(struct response *r, const struct request *q, int code, const struct err *err);

/* Returns a sentence about missing data, also sent as the header Strobe-Warning; NULL, and no header, if complete. */
const char *profile_query_warn(const struct profile_query *a, struct response *r);

/* Opens the object of every JSON answer, and writes from, to and the range covered, or the runs; "empty" is the
 * sentence of profile_query_explain_empty if there is no data. */
void profile_query_json_head(const struct profile_query *a, const struct server_context *s, struct json *j);

/* Begins a JSON answer: the warning if there is one, its type, and this head. */
void profile_query_begin_json(const struct profile_query *a, const struct server_context *s, struct response *r, struct json *j);

/* Puts "columns", those that can be selected, and "column", the index of the selected one. */
void profile_query_json_columns(const struct profile_query *a, struct json *j);

/* "no samples of entry=foo between … and …; the store holds samples from … to …, entries: index, api" */
void profile_query_explain_empty(const struct profile_query *a, const struct server_context *s, struct buf *out);

/* Puts the end of such a sentence: "; the store holds samples from … to …, entries: index, api". */
void profile_query_put_store(const struct profile_query *a, const struct server_context *s, struct buf *out);

#endif

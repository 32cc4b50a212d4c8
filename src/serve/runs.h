/* runs.h: runs over HTTP: the API below /api/v1/runs, and the pages below /runs. */
#ifndef SERVE_RUNS_H
#define SERVE_RUNS_H

#include "http.h"

void api_runs(struct server_context *s, const struct request *q, struct response *r);	/* GET the list, POST a run */
void api_run(struct server_context *s, const struct request *q, struct response *r);	/* GET and DELETE one, and its
										 * pictures */
void runs_page(struct server_context *s, const struct request *q, struct response *r);	/* /runs: GET the list, POST files */
void runs_choose(struct server_context *s, const struct request *q, struct response *r); /* /runs/choose: the runs ticked there */
void runs_remove(struct server_context *s, const struct request *q, struct response *r); /* POST /runs/delete: the same, deleted */
void run_page(struct server_context *s, const struct request *q, struct response *r);	 /* /runs/SOURCE/ID, …/flamegraph.svg */

/* --- Common to all four --- */

#define RUNS_LIMIT	100u		/* default rows of a list */
#define RUNS_LIMIT_MAX	1000u

/* Sort keys of lists (sort=KEY), in the order of the columns. */
struct runs_column {
	const char *key, *title;
	enum store_run_order order;
	bool ascending;				/* unless order=desc says otherwise */
	const char *total;			/* the total shown in it; NULL: other content */
};

#define RUNS_COLUMNS	10u
extern const struct runs_column runs_columns[RUNS_COLUMNS];

/* A request for a list. Embedded; runs_query_done frees it, even if incomplete. */
struct runs_query {
	struct params params;
	struct store_run_query query;
	const struct runs_column *sort;
	struct label_filter filters[PARAMS_MAX];
	struct arena bytes;
	struct store_runs runs;
};

/* Reads the parameters and queries the store. -EINVAL with a sentence for an invalid parameter. */
int runs_query(struct runs_query *a, const struct server_context *s, const struct request *q, struct err *err);
void runs_query_done(struct runs_query *a);

/* "no run of source shop …; there are 12 runs, of the sources blog, shop": why a list is empty. */
void runs_explain_empty(const struct runs_query *a, const struct server_context *s, struct buf *out);

/* The frame of each page of runs; between the two calls, `r` gets the rest of the header, "</header>" and "<main>". */
void runs_page_begin(const struct request *q, struct response *r, const char *title);
void runs_page_end(struct response *r);
void runs_page_error(const struct request *q, struct response *r, int status, const char *sentence);	/* instead of both */

/* Fills `err` and returns `status`, for errors with an HTTP status. */
int runs_fail(struct err *err, int status, const char *format, ...) _printf_(3, 4);

/* Redirects to another URL. */
void runs_lead_to(struct response *r, int status, const struct buf *address);

/* Files uploaded with the form of the list. */
void runs_upload(struct server_context *s, const struct request *q, struct response *r);

/* 403, with a sentence: the form's token is missing or from before a restart. */
int runs_reject_old_form(struct err *err);

/* A request for one run, by a URL that ends in SOURCE/ID or SOURCE/ID/VERB. */
struct run_query {
	struct params params;
	char source[STROBE_WIRE_RUN_KEY + 1], id[STROBE_WIRE_RUN_KEY + 1];
	const char *verb;			/* "" if there is none */
	struct store_run run;
	struct profile *profile;
	uint32_t column, stored_columns;	/* stored_columns are followed by derived ones */
	bool pruned;				/* the profile was too large */
	bool reverse, inverted;
	size_t limit;				/* rows; 0 is no limit */
};

/* Parses the path; `rest` is the part after /runs/. Fills `r` and returns false if it is invalid. */
bool run_query_address(struct run_query *a, const char *rest, const struct request *q, struct response *r);

/* Also reads the parameters, loads the run and selects the column. On failure fills `r` and returns false. */
bool run_query(struct run_query *a, const struct server_context *s, const char *rest, const struct request *q, struct response *r);
void run_query_done(struct run_query *a);

/* Returns a sentence, also sent as the header Strobe-Warning, if the run was pruned; else NULL. */
const char *run_warn(const struct run_query *a, struct response *r);

/* Returns the part of a column that is in pruned stacks. */
int64_t run_pruned_sum(struct profile *p, uint32_t column);

/* "the smallest stacks, with 3.21 % of wall_ns, are cut short at …" */
void run_put_pruned(struct profile *p, const char *column, int64_t sum, int64_t of, struct buf *out);

/* Adds derived columns of a run: time from samples, and off-CPU time from both clocks. */
void run_add_columns(struct profile *p);

const char *run_name(const struct store_run *run);	/* its name, or its URL, or its id */

/* Adds the keys of a run in a list to the open object. */
void run_put_json(struct json *j, const struct store_run *run);

/* Responds with the flame graph of a run. */
void run_picture(const struct run_query *a, const struct request *q, struct response *r);

#endif

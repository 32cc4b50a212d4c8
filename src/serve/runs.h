/* runs.h: runs over HTTP: the API below /api/v1/runs, and the pages below /runs. */
#ifndef SERVE_RUNS_H
#define SERVE_RUNS_H

#include "http.h"

void api_runs(struct site *s, const struct request *q, struct response *r);	/* GET the list, POST a run */
void api_run(struct site *s, const struct request *q, struct response *r);	/* GET and DELETE one, and its
										 * pictures */
void runs_page(struct site *s, const struct request *q, struct response *r);	/* /runs */
void run_page(struct site *s, const struct request *q, struct response *r);	/* /runs/SOURCE/ID, …/flamegraph.svg */

/* --- What the four share --- */

#define RUNS_LIMIT	100u		/* rows of a list unless asked for */
#define RUNS_LIMIT_MAX	1000u

/* A list that was asked for. Embedded; runs_ask_done frees it, also when it is half built. */
struct runs_ask {
	struct params params;
	struct store_run_query query;
	struct label_filter filters[PARAMS_MAX];
	struct arena bytes;
	struct store_runs runs;
};

/* Reads the parameters and asks the store. -EINVAL with a sentence for a parameter that makes no sense. */
int runs_ask(struct runs_ask *a, const struct site *s, const struct request *q, struct err *err);
void runs_ask_done(struct runs_ask *a);

/* "no run of source shop …; there are 12 runs, of the sources blog, shop": why a list is empty. */
void runs_why_empty(const struct runs_ask *a, const struct site *s, struct buf *out);

/* One run that was asked for, by an address that ends in SOURCE/ID or SOURCE/ID/VERB. */
struct run_ask {
	struct params params;
	char source[STROBE_WIRE_RUN_KEY + 1], id[STROBE_WIRE_RUN_KEY + 1];
	const char *verb;			/* "" if there is none */
	struct store_run run;
	struct profile *profile;
	uint32_t column, stored_columns;	/* behind those stand the ones that are computed from them */
	bool reverse, inverted;
	size_t limit;				/* rows; 0 is no limit */
};

/* Takes the address apart; `rest` is what stands behind /runs/. Fills `r` and returns false when it is none. */
bool run_ask_address(struct run_ask *a, const char *rest, const struct request *q, struct response *r);

/* Also reads the parameters, fetches the run and chooses the column. Fills `r` and returns false if it cannot. */
bool run_ask(struct run_ask *a, const struct site *s, const char *rest, const struct request *q, struct response *r);
void run_ask_done(struct run_ask *a);

/* The flame graph of a run, as the answer. */
void run_picture(const struct run_ask *a, const struct request *q, struct response *r);

#endif

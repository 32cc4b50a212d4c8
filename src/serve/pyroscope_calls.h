/* pyroscope_calls.h: the calls of querier.v1.QuerierService, which make up Grafana's data source and its app.
 *
 * Each call reads its fields and appends its response message. -EINVAL with a sentence for bad fields. */
#ifndef SERVE_PYROSCOPE_CALLS_H
#define SERVE_PYROSCOPE_CALLS_H

#include "pyroscope_selection.h"

/* The part of a request that few calls need. */
struct pyroscope_request {
	const struct server_context *context;
	const struct request *http;
	const struct pyroscope_query *query;
	const struct buf *message;		/* for nested messages */
	struct pyroscope_left_out left_out;	/* set when the response is incomplete */
};

/* Appends a text as UTF-8, unless it is empty. */
void pyroscope_put_text(struct buf *out, uint32_t number, const char *text);
void pyroscope_put_pair(struct buf *out, uint32_t number, const char *label, const char *value);

/* Tells in the response that it is incomplete, if it is. */
void pyroscope_warn(const struct pyroscope_left_out *l, struct response *r);

/* Returns the texts sorted bytewise, as in all lists of these calls. The caller frees the array. */
const char **pyroscope_sorted(const struct intern *texts);

typedef int pyroscope_answer(struct pyroscope_request *q, struct buf *out, struct err *err);

pyroscope_answer pyroscope_profile_types, pyroscope_label_names, pyroscope_label_values, pyroscope_series;
pyroscope_answer pyroscope_stats, pyroscope_analyze;
pyroscope_answer pyroscope_select_series, pyroscope_select_heatmap;
/* Appends the call graph of values in the language of Graphviz. */
int pyroscope_put_dot(const struct pyroscope_selection *a, const struct stack_values *v, struct buf *out, struct err *err);

pyroscope_answer pyroscope_stacktraces, pyroscope_span_profile, pyroscope_merge_profile, pyroscope_diff;

#endif

/* pyroscope_selection.h: the common part of Pyroscope's requests: a time range, a selector, a profile type, and the matching series
 * and runs.
 *
 * A series has one row per profile type. Beside its labels a row has service_name, which is the first of the service labels that the
 * series has (PYROSCOPE_SERVICES unless others are chosen), and the labels that its type is made of. Ids of spans and traces are labels
 * of runs only.
 */
#ifndef SERVE_PYROSCOPE_SELECTION_H
#define SERVE_PYROSCOPE_SELECTION_H

#include "http.h"
#include "profile_type.h"
#include "pyroscope_query.h"
#include "selector.h"

#define PYROSCOPE_SERVICES	"service_name", "service", "entry"
#define PYROSCOPE_UNKNOWN	"unknown_service"
#define PYROSCOPE_RUNS		200u		/* selected runs that are merged; the latest ones */
#define PYROSCOPE_RUNS_SUMMED	5000u		/* selected runs that are summed over time; the latest ones */
#define PYROSCOPE_RUN_ROWS	5000u		/* different runs whose labels are listed; the latest ones */
#define PYROSCOPE_NODES		8192u		/* shown by default … */
#define PYROSCOPE_NODES_MAX	1048576u	/* … and at most */

/* One series or run with one type. */
struct pyroscope_row {
	struct labels labels;
	struct profile_type type;
	char column[64];
};

struct pyroscope_rows {
	struct pyroscope_row *items;
	size_t count, capacity;
	struct intern seen;
};

/* The data that an answer leaves out. */
struct pyroscope_left_out {
	bool pruned;			/* stacks, for lack of memory */
	uint32_t runs, rows;		/* all selected runs, or sets of their labels, but this many; 0: none */
};

struct pyroscope_selection {
	const struct server_context *context;
	const struct pyroscope_query *query;
	int64_t now_ns, from_ns, to_ns;
	struct selector selector;
	struct profile_type type;
	struct pyroscope_left_out *left_out;	/* filled in; not NULL */
};

/* Begins with the range and the matchers of the query; -EINVAL with a sentence. Call _done in any case. */
int pyroscope_selection_init(struct pyroscope_selection *a, const struct server_context *s, const struct pyroscope_query *q, int64_t now_ns,
			     struct pyroscope_left_out *left_out, struct err *err);
void pyroscope_selection_done(struct pyroscope_selection *a);

/* Reads the type, which calls for values require. */
int pyroscope_selection_type(struct pyroscope_selection *a, struct err *err);

/* The number of nodes to show. */
int pyroscope_selection_nodes(const struct pyroscope_selection *a, uint32_t *ret, struct err *err);

/* Returns a label of a row, "" if it is missing. `type` may be NULL; `id` is a buffer for the type's id. */
const char *pyroscope_label(const struct server_context *s, const struct labels *labels, const struct profile_type *type,
			    const char *name, char id[PROFILE_TYPE_ID]);

/* Returns the index of the first service label that the series has, or their number if it has none. */
size_t pyroscope_service_of(const struct server_context *s, const struct labels *labels);
const char *pyroscope_service_label(const struct server_context *s, size_t i);	/* NULL after the last one */

/* Whether the selector matches a row. */
bool pyroscope_matches(const struct pyroscope_selection *a, const struct labels *labels, const struct profile_type *type);

/* Whether clients may see this label of a series or run. */
bool pyroscope_label_is_visible(const char *label);

/* Loads all matching rows of series, and of runs if requested. */
int pyroscope_rows_load(const struct pyroscope_selection *a, bool with_runs, struct pyroscope_rows *ret, struct err *err);
void pyroscope_rows_done(struct pyroscope_rows *r);

/* --- pyroscope_values.c --- */

/* Returns the values of the type for everything selected; spans and traces come from runs. `lines`: with executed
 * lines. Free with stack_values_done. */
int pyroscope_values(const struct pyroscope_selection *a, bool lines, struct stack_values *ret, struct err *err);

/* --- pyroscope_runs.c --- */

/* Conditions of the store for the matchers of a selector. */
struct pyroscope_conditions {
	struct store_run_condition items[SELECTOR_MATCHERS];
	size_t count;
	const char **services;		/* the labels that service_name is taken from */
	size_t service_count;
	struct arena bytes;
};

/* `by_id`: the request has a type, and its selector may name spans, traces and profiles; else conditions about types
 * are left out. Call _done in any case. */
void pyroscope_conditions_init(struct pyroscope_conditions *c, const struct pyroscope_selection *a, bool by_id);
void pyroscope_conditions_done(struct pyroscope_conditions *c);

/* Returns a part that the name of each column of this type has, for the store's `total_part`; NULL if there is none. */
const char *pyroscope_total_part(const struct profile_type *type, char ret[64]);

bool pyroscope_asks_runs(const struct pyroscope_selection *a);	/* by its type, or because it names spans, traces or runs */

/* Returns the latest selected runs, at most `limit`; `next` is not empty if there are more. Free with store_runs_done. */
int pyroscope_runs_list(const struct pyroscope_selection *a, size_t limit, struct store_runs *ret, struct err *err);

/* Returns the value of a run in the requested type; false if it has none. */
bool pyroscope_run_value(const struct pyroscope_selection *a, const struct store_run *run, int64_t *ret);

int pyroscope_runs_values(const struct pyroscope_selection *a, bool lines, struct stack_values *ret, struct err *err);

/* Returns the labels of a run as in rows, including its source. Free with labels_done. */
void pyroscope_run_labels(const struct store_run *run, struct labels *ret);

#endif

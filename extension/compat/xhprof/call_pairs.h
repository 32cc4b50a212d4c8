/* call_pairs.h: a call tree as xhprof's array.
 *
 * One entry for each pair of caller and callee, "caller==>callee", and "main()" for the whole: calls, wall time in
 * microseconds and what else was requested. A function that is called again while it runs gets the number of its calls
 * above as a suffix: "foo==>foo@1". Functions that are not shown, because the API has no name for their kind or
 * because the user ignores them, are transparent: their callees belong to the nearest caller that is shown. A pair
 * without a call counts how often a fiber was resumed there ("Fiber::resume==>job"), since tools divide by the calls.
 *
 * The APIs that share this format differ in the names of anything but plain functions; each has a constant with its
 * rules.
 */
#ifndef STROBE_CALL_PAIRS_H
#define STROBE_CALL_PAIRS_H

#include "call_tree.h"

#define EDGES_ROOT "main()"

struct edge_names {
	const char *load;		/* prefix for compiling a file; NULL: not shown */
	const char *load_eval;		/* prefix for compiling an eval's code; NULL: not shown */
	const char *file;		/* prefix for code of a file or an eval; NULL: not shown */
	bool closure_lines;		/* closures have file and lines: "{closure}::dir/file.php/3-5",
					 * "A::{closure}/3-5" */
};

struct edge_column {
	const char *key;
	enum tree_column column;	/* nanoseconds are written as whole microseconds */
};

#define EDGE_COLUMNS_MAX 8

struct edge_format {
	const struct edge_names *names;
	struct edge_column columns[EDGE_COLUMNS_MAX];	/* in the order of the array */
	unsigned column_count;
	bool function_info;		/* adds "filename" and "lineno" of functions written in PHP */
	HashTable *ignored;		/* names as keys; NULL: none */
};

/* Returns the name of a function, with a reference for the caller; NULL if it is not shown. A composed name is in the
 * C library's memory, so PHP arrays must not keep it. */
zend_string *edge_name(const struct edge_names *names, const struct call_function *f);

/* Whether the user ignores functions with this name; never true for "main()". */
bool edge_ignored(const HashTable *ignored, const zend_string *name);

/* Sums over any number of trees, in the C library's memory. */
struct edges;

/* `format` must outlive the result. NULL without memory. */
struct edges *edges_new(const struct edge_format *format);

/* NULL is fine. */
void edges_free(struct edges *e);

/* Adds a tree. The last one provides the call of main(), which counts only once. False without memory; the sums are
 * then useless. */
bool edges_add(struct edges *e, const struct call_tree *t, bool last);

/* Fills `ret`, an empty array, with the sums. memory_limit may end the request in between. */
void edges_export(const struct edges *e, zval *ret);

/* Does all of this for one tree. False without memory; `ret` is then an empty array. */
bool edges_build(zval *ret, const struct call_tree *t, const struct edge_format *format);

#endif

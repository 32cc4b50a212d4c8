/* call_pairs.h: a call tree as xhprof's array.
 *
 * One entry for each pair of caller and callee, "caller==>callee", and "main()" for the whole: calls, wall time in
 * microseconds and what else was requested. A function that is called again while it runs gets the number of its calls
 * above as a suffix: "foo==>foo@1". Functions that are not shown, because their kind has no name in an API or because
 * the user ignores them, are transparent: what they call belongs to the nearest caller that is shown. A pair without a
 * call counts how often a fiber was resumed there ("Fiber::resume==>job"), since tools divide by the calls.
 *
 * The APIs that share this form differ in naming anything but plain functions; such a set of rules is a
 * constant.
 */
#ifndef STROBE_EDGES_H
#define STROBE_EDGES_H

#include "call_tree.h"

#define EDGES_ROOT "main()"

struct edge_names {
	const char *load;		/* prefix for the compilation of a file; NULL: not shown */
	const char *load_eval;		/* prefix for that of an eval's code; NULL: not shown */
	const char *file;		/* prefix for the code of a file or an eval; NULL: not shown */
	bool closure_lines;		/* closures carry file and lines: "{closure}::dir/file.php/3-5",
					 * "A::{closure}/3-5" */
};

struct edge_column {
	const char *key;
	enum tree_column column;	/* nanoseconds are shown as whole microseconds */
};

#define EDGE_COLUMNS_MAX 8

struct edge_format {
	const struct edge_names *names;
	struct edge_column columns[EDGE_COLUMNS_MAX];	/* in the order of the array */
	unsigned column_count;
	bool function_info;		/* also "filename" and "lineno" of functions written in PHP */
	HashTable *ignored;		/* names as keys; NULL: none */
};

/* The name of a function, with a reference for the caller; NULL if it is not shown. A composed name is in the C
 * library's memory, so no PHP array may keep it. */
zend_string *edge_name(const struct edge_names *names, const struct call_function *f);

/* Whether the user ignores functions of this name. "main()" never is. */
bool edge_ignored(const HashTable *ignored, const zend_string *name);

/* The sums of any number of trees. They are kept in the C library's memory, without PHP's. */
struct edges;

/* `format` must outlive it. NULL without memory. */
struct edges *edges_new(const struct edge_format *format);

/* NULL is fine. */
void edges_free(struct edges *e);

/* Adds a tree. The last one provides the call of main(), which is counted once for the whole.
 * False, with the sums worth nothing, without memory. */
bool edges_add(struct edges *e, const struct call_tree *t, bool last);

/* Fills `ret`, an empty array, with the sums. memory_limit may end the request meanwhile. */
void edges_export(const struct edges *e, zval *ret);

/* All of these for one tree. False if there is no memory for the work: `ret` is an empty array then. */
bool edges_build(zval *ret, const struct call_tree *t, const struct edge_format *format);

#endif

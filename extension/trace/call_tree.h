/* call_tree.h: one finished profile inside PHP: a calling context tree with values.
 *
 * This is the seam between measurement (trace/, sample/) and output (compat/, api/, send/). It is plain arrays:
 * a parent always has a smaller index than its children, so that each walk is a loop and no depth of recursion in PHP
 * can overflow our stack. Values are inclusive; what a node took itself is its value less those of its children.
 *
 * A tree keeps its own references to strings and to nothing else of PHP's. It lives in the C library's memory, so
 * that it neither counts against memory_limit nor shows in the memory that it reports; its strings are of the request,
 * so that it must be freed before the request's memory is.
 */
#ifndef STROBE_CALL_TREE_H
#define STROBE_CALL_TREE_H

#include "php.h"

/* The values a node has, always in this order. `call_tree.columns` says which of them were measured. */
enum tree_column {
	TREE_CALLS,		/* calls; a generator's resumption is a call, a fiber's is none */
	TREE_WALL_NS,		/* elapsed time */
	TREE_CPU_NS,		/* CPU time of the PHP thread; wall less CPU is time off the CPU */
	TREE_MEMORY_BYTES,	/* growth of memory_get_usage(), may be negative */
	TREE_PEAK_BYTES,	/* growth of memory_get_peak_usage() */
	TREE_ALLOCATIONS,	/* calls of PHP's allocator; a reallocation is an allocation and a free */
	TREE_FREES,
	TREE_ALLOCATED_BYTES,	/* bytes requested, by a reallocation its whole new size */
	TREE_SAMPLES,		/* periods of a sampling profile in which it was seen */
	TREE_COLUMNS
};

#define TREE_HAS(column) (1u << (column))

/* The name and unit of a column as the wire and the daemon know it: "wall_ns" in "nanoseconds". */
const char *tree_column_name(enum tree_column c);
const char *tree_column_unit(enum tree_column c);

enum call_kind {
	CALL_ROOT,		/* node 0 only; "main()" where a name is wanted */
	CALL_FUNCTION,		/* a function, method or closure */
	CALL_FILE,		/* the file scope of `file`, run by include, require or as the main script */
	CALL_EVAL,		/* the code of an eval; `file` is "path(line) : eval()'d code" */
	CALL_LOAD,		/* compilation of `file`, or its look-up in opcache */
	CALL_LOAD_EVAL,		/* compilation of the code of an eval; `file` as with CALL_EVAL */
	CALL_FOLDED,		/* "[folded]": all calls below its parent, at any depth, for which the node budget had no room */
	CALL_ELIDED,		/* "[elided]": the middle of a stack that was deeper than allowed (sampling only) */
};

struct call_function {
	enum call_kind kind;
	bool internal;		/* implemented in C */
	bool closure;
	zend_string *name;	/* as declared, without class; NULL unless kind is CALL_FUNCTION */
	zend_string *class_name; /* class that declares the method (anonymous: with NUL and path behind), or NULL */
	zend_string *written_in;/* the class that a closure was written in, which need not be its scope, or NULL */
	uint32_t order;		/* number of a closure among those on its line, as closure_home.h has it */
	zend_string *file;	/* NULL for internal functions and the kinds without file */
	uint32_t line, end_line; /* lines of the definition; 0 for internal functions and file scope */
};

struct call_node {
	uint32_t parent;	/* index; 0 for the root itself */
	uint32_t function;	/* index */
};

/* A call of the flame chart. Where a call has several (a fiber that was resumed), together they are the time in which it ran. */
struct call_record {
	uint32_t node;			/* index */
	uint64_t start_ns;		/* since the start of the tree */
	uint64_t duration_ns;		/* the calls within it end with it at the latest */
};

struct call_tree {
	struct call_node *nodes;		/* node 0 is the root: what passed between start and stop. The rows lie behind them */
	uint32_t node_count;
	struct call_function *functions;	/* each function once; two nodes with equal index are the same one */
	uint32_t function_count;
	unsigned columns;			/* TREE_HAS bits: set with call_tree_reserve */
	unsigned width;				/* number of these columns */
	uint8_t at[TREE_COLUMNS];		/* the place of a column in a row */
	int64_t *values;			/* a row of `width` for each node */
	bool own_values;			/* they are self values: only for a tree that is sent at once */
	uint64_t *resumptions;			/* by node, how often a fiber was resumed there that had been suspended: the function
						 * was called elsewhere. NULL: never */
	uint64_t folded_calls;			/* calls beyond the node budget */
	bool charted;				/* it was to have a flame chart */
	struct call_record *calls;		/* the chart: calls by start, each behind the one that it lies in; NULL: none */
	uint32_t call_count;
	uint64_t uncharted_calls;		/* calls that the tree knows and the chart does not */
	uint64_t start_ns, end_ns;		/* since 1970-01-01 UTC */
	uint64_t period_ns;			/* between samples; 0 for an exact trace */
	bool cpu_clock;				/* the samples were taken by CPU time */
};

/* Says which columns the tree has, and makes room for so many nodes, which are not filled in. False without memory. */
bool call_tree_reserve(struct call_tree *t, unsigned columns, size_t nodes);

/* Shrinks `nodes` and `functions` to fit, for a tree that is kept for a while. */
void call_tree_shrink(struct call_tree *t);

static inline int64_t *call_tree_row(const struct call_tree *t, uint32_t node)
{
	return t->values + (size_t)node * t->width;
}

/* 0 of a column that was not measured. */
static inline int64_t call_tree_value(const struct call_tree *t, uint32_t node, enum tree_column c)
{
	return t->columns & TREE_HAS(c) ? call_tree_row(t, node)[t->at[c]] : 0;
}

/* Makes a tree of own values one of inclusive values, as all others are. */
void call_tree_include(struct call_tree *t);

/* Frees a tree; NULL is fine. */
void call_tree_free(struct call_tree *t);

/* Writes the name of a function as it stands in a profile: "strlen", "App\Cart::price", "{closure:/srv/a.php(41)}",
 * "App\Cart::{closure:/srv/a.php(41)#2}", "/srv/a.php", "compile /srv/a.php", "main()", "[folded]", "[elided]". Cut to `size`
 * bytes, without a NUL. Returns the length. */
size_t call_function_text(const struct call_function *f, char *out, size_t size);

#endif

/* call_tree.h: one finished profile inside PHP: a calling context tree with values.
 *
 * This is the seam between measurement (trace/, sample/) and output (compat/, api/, send/). It consists of plain
 * arrays: a parent always has a smaller index than its children, so that each walk is a loop and no depth of
 * recursion in PHP can overflow our stack. Values are inclusive; a node's self value is its value minus those of its
 * children.
 *
 * A tree references PHP's strings and nothing else of PHP. It is in the C library's memory, so that it neither counts
 * against memory_limit nor appears in the memory that it reports. Its strings belong to the request, so it must be
 * freed before the request's memory is.
 */
#ifndef STROBE_CALL_TREE_H
#define STROBE_CALL_TREE_H

#include "php.h"

/* The values of a node, always in this order. `call_tree.columns` tells which of them were measured. */
enum tree_column {
	TREE_CALLS,		/* calls; resuming a generator is a call, resuming a fiber is not */
	TREE_WALL_NS,		/* elapsed time */
	TREE_CPU_NS,		/* CPU time of the PHP thread; wall minus CPU is off-CPU time */
	TREE_MEMORY_BYTES,	/* growth of memory_get_usage(), may be negative */
	TREE_PEAK_BYTES,	/* growth of memory_get_peak_usage() */
	TREE_ALLOCATIONS,	/* calls of PHP's allocator; a reallocation is an allocation and a free */
	TREE_FREES,
	TREE_ALLOCATED_BYTES,	/* bytes requested; for a reallocation, its whole new size */
	TREE_SAMPLES,		/* sampled periods in which it was on the stack */
	TREE_COLUMNS
};

#define TREE_HAS(column) (1u << (column))

/* Returns the name and unit of a column as used by the wire and the daemon: "wall_ns" in "nanoseconds". */
const char *tree_column_name(enum tree_column c);
const char *tree_column_unit(enum tree_column c);

enum call_kind {
	CALL_ROOT,		/* node 0 only; its name is "main()" */
	CALL_FUNCTION,		/* a function, method or closure */
	CALL_FILE,		/* the file scope of `file`, run by include, require or as the main script */
	CALL_EVAL,		/* the code of an eval; `file` is "path(line) : eval()'d code" */
	CALL_LOAD,		/* compilation of `file`, or its lookup in opcache */
	CALL_LOAD_EVAL,		/* compilation of an eval's code; `file` as with CALL_EVAL */
	CALL_FOLDED,		/* "[folded]": all calls below its parent, at any depth, beyond the node budget */
	CALL_ELIDED,		/* "[elided]": the middle of a stack that was deeper than allowed (sampling only) */
};

struct call_function {
	enum call_kind kind;
	bool internal;		/* implemented in C */
	bool closure;
	zend_string *name;	/* as declared, without class; NULL unless kind is CALL_FUNCTION */
	zend_string *class_name; /* class that declares the method (anonymous: followed by NUL and path), or NULL */
	zend_string *written_in; /* class in which a closure is defined, which may differ from its scope, or NULL */
	uint32_t order;		/* number of a closure on its line, as in closure_home.h */
	zend_string *file;	/* NULL for internal functions and the kinds without file */
	uint32_t line, end_line; /* lines of the definition; 0 for internal functions and file scope */
};

struct call_node {
	uint32_t parent;	/* index; 0 for the root itself */
	uint32_t function;	/* index */
};

/* A call of the flame chart. If a call has several (a fiber that was resumed), together they cover the time during
 * which it ran. */
struct call_record {
	uint32_t node;			/* index */
	uint64_t start_ns;		/* since the start of the tree */
	uint64_t duration_ns;		/* calls within it end no later */
};

struct call_tree {
	struct call_node *nodes;		/* node 0 is the root: what passed between start and stop. The rows lie behind them */
	uint32_t node_count;
	struct call_function *functions;	/* each function once; nodes with equal index have the same one */
	uint32_t function_count;
	unsigned columns;			/* TREE_HAS bits, set by call_tree_reserve */
	unsigned width;				/* number of these columns */
	uint8_t at[TREE_COLUMNS];		/* position of a column in a row */
	int64_t *values;			/* a row of `width` values for each node */
	bool own_values;			/* values are exclusive: only for a tree that is sent immediately */
	uint64_t *resumptions;			/* by node: how often a suspended fiber was resumed there, whose
						 * function was called elsewhere. NULL: never */
	uint64_t folded_calls;			/* calls beyond the node budget */
	bool charted;				/* a flame chart was requested */
	struct call_record *calls;		/* the chart: calls by start, each after its caller; NULL: none */
	uint32_t call_count;
	uint64_t uncharted_calls;		/* calls in the tree but not in the chart */
	uint64_t start_ns, end_ns;		/* since 1970-01-01 UTC */
	uint64_t period_ns;			/* between samples; 0 for an exact trace */
	bool cpu_clock;				/* samples were taken by CPU time */
};

/* Sets the columns of the tree, and makes room for `nodes` nodes, which are uninitialized. False without memory. */
bool call_tree_reserve(struct call_tree *t, unsigned columns, size_t nodes);

/* Shrinks `nodes` and `functions` to fit, for a tree that is kept for a while. */
void call_tree_shrink(struct call_tree *t);

static inline int64_t *call_tree_row(const struct call_tree *t, uint32_t node)
{
	return t->values + (size_t)node * t->width;
}

/* Returns 0 for a column that was not measured. */
static inline int64_t call_tree_value(const struct call_tree *t, uint32_t node, enum tree_column c)
{
	return t->columns & TREE_HAS(c) ? call_tree_row(t, node)[t->at[c]] : 0;
}

/* Converts exclusive values to inclusive ones, which all other trees have. */
void call_tree_include(struct call_tree *t);

/* Frees a tree; NULL is fine. */
void call_tree_free(struct call_tree *t);

/* Writes the name of a function as used in profiles: "strlen", "App\Cart::price", "{closure:/srv/a.php(41)}",
 * "App\Cart::{closure:/srv/a.php(41)#2}", "/srv/a.php", "compile /srv/a.php", "main()", "[folded]", "[elided]". Cut
 * to `size` bytes, without a NUL. Returns the length. */
size_t call_function_text(const struct call_function *f, char *out, size_t size);

#endif

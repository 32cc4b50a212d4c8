/* tree_values.h: the values of a tree by name: its columns, and off-CPU time, which is wall time minus CPU time. */
#ifndef STROBE_TREE_VALUES_H
#define STROBE_TREE_VALUES_H

#include "call_tree.h"

#define METRIC_OFF_CPU	TREE_COLUMNS
#define METRICS		(TREE_COLUMNS + 1)

bool metric_exists(const struct call_tree *t, int metric);
const char *metric_name(int metric);
const char *metric_unit(int metric);

/* Returns the default metric: wall time, else CPU time, samples, calls. */
int metric_default(const struct call_tree *t);

/* Finds a metric by name; NULL means the default. If it was not measured, throws a ValueError for argument `argument`
 * and returns -1. */
int metric_find(const struct call_tree *t, const zend_string *name, uint32_t argument);

static inline int64_t metric_value(const struct call_tree *t, uint32_t node, int metric)
{
	if (metric == METRIC_OFF_CPU)
		return call_tree_value(t, node, TREE_WALL_NS) - call_tree_value(t, node, TREE_CPU_NS);
	return call_tree_value(t, node, (enum tree_column)metric);
}

/* Calls are exclusive; all other values include the children. */
static inline bool metric_is_inclusive(int metric)
{
	return metric != TREE_CALLS;
}

#endif

/* tree_values.c: maps names to values. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "tree_values.h"

#include "zend_smart_str.h"

bool metric_exists(const struct call_tree *t, int metric)
{
	const unsigned both = TREE_HAS(TREE_WALL_NS) | TREE_HAS(TREE_CPU_NS);

	return metric == METRIC_OFF_CPU ? (t->columns & both) == both : (t->columns & TREE_HAS(metric)) != 0;
}

const char *metric_name(int metric)
{
	return metric == METRIC_OFF_CPU ? "off_cpu_ns" : tree_column_name(metric);
}

const char *metric_unit(int metric)
{
	return metric == METRIC_OFF_CPU ? "nanoseconds" : tree_column_unit(metric);
}

int metric_default(const struct call_tree *t)
{
	static const int order[] = { TREE_WALL_NS, TREE_CPU_NS, TREE_SAMPLES };

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (metric_exists(t, order[i]))
			return order[i];
	return TREE_CALLS;
}

int metric_find(const struct call_tree *t, const zend_string *name, uint32_t argument)
{
	smart_str known = { 0 };

	if (!name)
		return metric_default(t);
	for (int m = 0; m < METRICS; m++) {
		if (!metric_exists(t, m))
			continue;
		if (zend_string_equals_cstr(name, metric_name(m), strlen(metric_name(m)))) {
			smart_str_free(&known);
			return m;
		}
		if (known.s)
			smart_str_appends(&known, ", ");
		smart_str_appendc(&known, '"');
		smart_str_appends(&known, metric_name(m));
		smart_str_appendc(&known, '"');
	}
	smart_str_0(&known);
	zend_argument_value_error(argument, "must be a metric of this profile: %s", ZSTR_VAL(known.s));
	smart_str_free(&known);
	return -1;
}

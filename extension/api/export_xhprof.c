/* export_xhprof.c: makes xhprof's array with the most detailed names: files and compilation, and lines of closures. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "call_pairs.h"
#include "tree_export.h"

static const struct edge_names names = {
	.load = "load::", .load_eval = "eval::", .file = "run_init::", .closure_lines = true,
};

bool export_xhprof(const struct call_tree *t, zval *out)
{
	static const struct edge_column columns[] = {
		{ "ct", TREE_CALLS }, { "ct", TREE_SAMPLES }, { "wt", TREE_WALL_NS }, { "cpu", TREE_CPU_NS },
		{ "mu", TREE_MEMORY_BYTES }, { "pmu", TREE_PEAK_BYTES }, { "mem.na", TREE_ALLOCATIONS },
		{ "mem.nf", TREE_FREES }, { "mem.aa", TREE_ALLOCATED_BYTES },
	};
	struct edge_format format = { .names = &names };

	/* A tree has either calls or samples. */
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		if (metric_exists(t, columns[i].column))
			format.columns[format.column_count++] = columns[i];
	return edges_build(out, t, &format);
}

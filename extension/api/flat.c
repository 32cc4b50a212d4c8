/* flat.c: computes totals, and the values of each function. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "strobe_assert.h"
#include "tree_export.h"
#include "tree_walk.h"

#include "zend_sort.h"

struct function_values {
	uint32_t function;
	uint32_t active;	/* number of its calls on the current stack */
	uint64_t order;		/* index of its first call; breaks ties in the order of the program */
	int64_t calls;
	int64_t inclusive[METRICS], exclusive[METRICS];
};

struct flat {
	const struct call_tree *tree;
	struct function_values *functions;
	int metrics[METRICS];
	unsigned metric_count;
	uint64_t order;
};

void export_totals(const struct call_tree *t, zval *out)
{
	zend_long calls = 0;

	array_init(out);
	for (uint32_t n = 0; n < t->node_count; n++)
		calls += call_tree_value(t, n, TREE_CALLS);
	for (int m = 0; m < METRICS; m++)
		if (metric_exists(t, m))
			add_assoc_long(out, metric_name(m), metric_is_inclusive(m) ? metric_value(t, 0, m) : calls);
}

/* A recursive function contains itself, so only its outermost call adds inclusive values. */
static void enter_node(void *data, uint32_t n, uint32_t depth)
{
	struct flat *f = data;
	const struct call_node *node = &f->tree->nodes[n];
	const struct call_node *parent = &f->tree->nodes[node->parent];
	struct function_values *v = &f->functions[node->function];

	STROBE_ASSERT(node->function < f->tree->function_count && f->metric_count <= METRICS);
	if (!v->order)
		v->order = ++f->order;
	v->calls += call_tree_value(f->tree, n, TREE_CALLS);
	for (unsigned k = 0; k < f->metric_count; k++) {
		int64_t value = metric_value(f->tree, n, f->metrics[k]);

		v->exclusive[k] += value;
		if (n)
			f->functions[parent->function].exclusive[k] -= value;
		if (!v->active)
			v->inclusive[k] += value;
	}
	v->active++;
}

static void leave_node(void *data, uint32_t n, uint32_t depth)
{
	struct flat *f = data;

	STROBE_ASSERT(f->functions[f->tree->nodes[n].function].active > 0);
	f->functions[f->tree->nodes[n].function].active--;
}

static int compare_at(const struct function_values *a, const struct function_values *b, unsigned k)
{
	if (a->exclusive[k] != b->exclusive[k])
		return a->exclusive[k] < b->exclusive[k] ? 1 : -1;
	return (a->order > b->order) - (a->order < b->order);
}

/* Sorts by the default metric, which comes first. */
static int compare(const void *a, const void *b)
{
	return compare_at(a, b, 0);
}

static int compare_calls(const void *a, const void *b)
{
	const struct function_values *v = a, *w = b;

	if (v->calls != w->calls)
		return v->calls < w->calls ? 1 : -1;
	return (v->order > w->order) - (v->order < w->order);
}

static void swap_values(void *a, void *b)
{
	struct function_values v = *(struct function_values *)a;

	*(struct function_values *)a = *(struct function_values *)b;
	*(struct function_values *)b = v;
}

static void add_values(zval *row, const char *key, const struct flat *f, const int64_t *values)
{
	zval out;

	array_init(&out);
	for (unsigned k = 0; k < f->metric_count; k++)
		add_assoc_long(&out, metric_name(f->metrics[k]), values[k]);
	add_assoc_zval(row, key, &out);
}

static void make_row(zval *row, const struct flat *f, const struct function_values *v, zend_string *name)
{
	const struct call_function *function = &f->tree->functions[v->function];

	array_init(row);
	add_assoc_str(row, "name", zend_string_copy(name));
	if (function->file)
		add_assoc_str(row, "file", zend_string_copy(function->file));
	else
		add_assoc_null(row, "file");
	add_assoc_long(row, "line", function->line);
	if (metric_exists(f->tree, TREE_CALLS))
		add_assoc_long(row, "calls", v->calls);
	else
		add_assoc_null(row, "calls");
	add_values(row, "inclusive", f, v->inclusive);
	add_values(row, "exclusive", f, v->exclusive);
}

static void choose_metrics(struct flat *f)
{
	int first = metric_default(f->tree);

	if (first != TREE_CALLS)
		f->metrics[f->metric_count++] = first;
	for (int m = 0; m < METRICS; m++)
		if (m != first && m != TREE_CALLS && metric_exists(f->tree, m))
			f->metrics[f->metric_count++] = m;
}

void export_functions(const struct call_tree *t, zval *out)
{
	const struct tree_visitor visitor = { enter_node, leave_node };
	struct flat f = { .tree = t, .functions = ecalloc(t->function_count, sizeof(*f.functions)) };
	zend_string **names = names_new(t);
	zval row;

	for (uint32_t i = 0; i < t->function_count; i++)
		f.functions[i].function = i;
	choose_metrics(&f);
	tree_walk(t, &visitor, &f);
	zend_sort(f.functions, t->function_count, sizeof(*f.functions), f.metric_count ? compare : compare_calls,
		  swap_values);
	array_init(out);
	for (uint32_t i = 0; i < t->function_count; i++) {
		const struct function_values *v = &f.functions[i];

		/* The root of a sampled tree is not a function. */
		if (!v->order || (t->period_ns && t->functions[v->function].kind == CALL_ROOT))
			continue;
		make_row(&row, &f, v, names[v->function]);
		zend_hash_next_index_insert(Z_ARRVAL_P(out), &row);
	}
	names_free(names, t);
	efree(f.functions);
}

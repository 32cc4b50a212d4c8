/* call_tree.c: reads and frees finished trees. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "call_tree.h"
#include "strobe_assert.h"

#include <stdlib.h>

static const struct {
	const char *name, *unit;
} columns[TREE_COLUMNS] = {
	[TREE_CALLS] = { "calls", "count" },
	[TREE_WALL_NS] = { "wall_ns", "nanoseconds" },
	[TREE_CPU_NS] = { "cpu_ns", "nanoseconds" },
	[TREE_MEMORY_BYTES] = { "memory_bytes", "bytes" },
	[TREE_PEAK_BYTES] = { "peak_memory_bytes", "bytes" },
	[TREE_ALLOCATIONS] = { "allocations", "count" },
	[TREE_FREES] = { "frees", "count" },
	[TREE_ALLOCATED_BYTES] = { "allocated_bytes", "bytes" },
	[TREE_SAMPLES] = { "samples", "count" },
};

const char *tree_column_name(enum tree_column c)
{
	STROBE_ASSERT((unsigned)c < TREE_COLUMNS);
	return columns[c].name;
}

const char *tree_column_unit(enum tree_column c)
{
	STROBE_ASSERT((unsigned)c < TREE_COLUMNS);
	return columns[c].unit;
}

/* Allocates one piece of twice the size, whose second half is never touched and so takes no memory. The C library
 * returns free memory to the kernel once it is twice as much as the largest piece freed so far; without this, the
 * next trace would need hundreds of page faults to get it back. Trees that are kept are shrunk. */
bool call_tree_reserve(struct call_tree *t, unsigned columns, size_t nodes)
{
	t->columns = columns;
	t->width = 0;
	for (int c = 0; c < TREE_COLUMNS; c++)
		if (columns & TREE_HAS(c))
			t->at[c] = (uint8_t)t->width++;
	t->nodes = malloc(2 * nodes * (sizeof(*t->nodes) + t->width * sizeof(*t->values)));
	t->values = (int64_t *)(t->nodes + nodes);
	return t->nodes != NULL;
}

void call_tree_shrink(struct call_tree *t)
{
	size_t values = (size_t)t->node_count * t->width * sizeof(*t->values), nodes = t->node_count * sizeof(*t->nodes);
	void *smaller;

	memmove(t->nodes + t->node_count, t->values, values);
	smaller = realloc(t->nodes, nodes + values);
	if (smaller)
		t->nodes = smaller;
	t->values = (int64_t *)(t->nodes + t->node_count);
	smaller = realloc(t->functions, (size_t)t->function_count * sizeof(*t->functions));
	if (smaller)
		t->functions = smaller;
}

void call_tree_include(struct call_tree *t)
{
	const unsigned first = (t->columns & TREE_HAS(TREE_CALLS)) != 0;

	for (uint32_t i = t->node_count; t->own_values && i-- > 1;) {
		const int64_t *v = call_tree_row(t, i);
		int64_t *parent = call_tree_row(t, t->nodes[i].parent);

		for (unsigned k = first; k < t->width; k++)
			parent[k] += v[k];
	}
	t->own_values = false;
}

void call_tree_free(struct call_tree *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->function_count; i++) {
		const struct call_function *f = &t->functions[i];

		if (f->name)
			zend_string_release(f->name);
		if (f->class_name)
			zend_string_release(f->class_name);
		if (f->written_in)
			zend_string_release(f->written_in);
		if (f->file)
			zend_string_release(f->file);
	}
	free(t->functions);
	free(t->nodes);
	free(t->resumptions);
	free(t->calls);
	free(t);
}

size_t call_function_text(const struct call_function *f, char *out, size_t size)
{
	const zend_string *class = f->closure ? f->written_in : f->class_name;
	const char *colons = class ? "::" : "";
	char order[16] = "";
	int n;

	switch (f->kind) {
	case CALL_ROOT:
		n = snprintf(out, size, "main()");
		break;
	case CALL_FOLDED:
		n = snprintf(out, size, "[folded]");
		break;
	case CALL_ELIDED:
		n = snprintf(out, size, "[elided]");
		break;
	case CALL_LOAD:
	case CALL_LOAD_EVAL:
		n = snprintf(out, size, "compile %s", ZSTR_VAL(f->file));
		break;
	case CALL_FUNCTION:
		if (f->order)
			snprintf(order, sizeof(order), "#%u", (unsigned)f->order);
		/* The name of an anonymous class ends at its NUL. */
		if (f->closure)
			n = snprintf(out, size, "%s%s{closure:%s(%u)%s}", class ? ZSTR_VAL(class) : "", colons,
				     f->file ? ZSTR_VAL(f->file) : "", (unsigned)f->line, order);
		else
			n = snprintf(out, size, "%s%s%s", class ? ZSTR_VAL(class) : "", colons, ZSTR_VAL(f->name));
		break;
	default:
		STROBE_ASSERT(f->kind == CALL_FILE || f->kind == CALL_EVAL);
		n = snprintf(out, size, "%s", ZSTR_VAL(f->file));
		break;
	}
	if (n < 0)
		return 0;
	return (size_t)n < size ? (size_t)n : size ? size - 1 : 0;
}

/* edge_list.c: collects functions and pairs found by a reader. */
#include "edge_list.h"
#include "edge_list_private.h"
#include "mem.h"
#include "saturate.h"
#include <assert.h>
#include <errno.h>
#include <string.h>

#define ARROW		"==>"

const struct edge_list_column edge_list_xhprof[EDGE_VALUES] = {
	[EDGE_CALLS] = { "calls", "count", 1, true, "ct" },
	[EDGE_WALL] = { "wall_ns", "nanoseconds", 1000, true, "wt" },
	[EDGE_CPU] = { "cpu_ns", "nanoseconds", 1000, true, "cpu" },
	[EDGE_MEMORY] = { "memory_bytes", "bytes", 1, false, "mu" },
	[EDGE_PEAK] = { "peak_memory_bytes", "bytes", 1, false, "pmu" },
	[EDGE_ALLOCATIONS] = { "allocations", "count", 1, false, "mem.na" },
	[EDGE_FREES] = { "frees", "count", 1, false, "mem.nf" },
	[EDGE_ALLOCATED] = { "allocated_bytes", "bytes", 1, false, "mem.aa" },
	[EDGE_SAMPLES] = { "samples", "count", 1, true, "samples" },
};

struct edge_list *edge_list_new(const struct edge_list_column *columns, unsigned count)
{
	struct edge_list *e = xcalloc(1, sizeof(*e));

	assert(count && count <= EDGE_LIST_COLUMNS);
	e->columns = columns;
	e->column_count = count;
	intern_init(&e->strings);
	e->no_file = intern_add(&e->strings, "", 0);
	map_init(&e->by_name);
	map_init(&e->places);
	return e;
}

struct edge_list *edge_list_free(struct edge_list *e)
{
	if (!e)
		return NULL;
	intern_done(&e->strings);
	map_done(&e->by_name);
	map_done(&e->places);
	free(e->items);
	free(e->functions);
	free(e->own);
	free(e);
	return NULL;
}

enum edge_value edge_list_value(struct str key)
{
	enum edge_value v = 0;

	while (v < EDGE_VALUES && (strlen(edge_list_xhprof[v].key) != key.n || memcmp(edge_list_xhprof[v].key, key.p, key.n)))
		v++;
	return v;
}

enum edge_value edge_list_value_of_column(const char *column)
{
	enum edge_value v = 0;

	while (v < EDGE_VALUES && strcmp(edge_list_xhprof[v].column, column))
		v++;
	return v;
}

size_t edge_list_count(const struct edge_list *e)
{
	return e->count;
}

int edge_list_add_pair(struct edge_list *e, uint32_t caller, uint32_t callee, const int64_t *value, unsigned set)
{
	uint32_t *slot;

	if (e->count == EDGE_LIST_MAX)
		return -E2BIG;
	e->set |= set;
	slot = map_slot(&e->places, map_pair(caller, callee));
	if (*slot == MAP_NONE) {
		*slot = (uint32_t)e->count;
		GROW(&e->items, &e->capacity, e->count + 1);
		e->items[e->count++] = (struct edge){ .caller = caller, .callee = callee };
	}
	for (unsigned v = 0; v < e->column_count; v++)
		saturating_add(&e->items[*slot].value[v], saturating_product(value[v], e->columns[v].scale));
	return 0;
}

uint32_t edge_list_string(struct edge_list *e, struct str s)
{
	return intern_add(&e->strings, s.p, s.n);
}

uint32_t edge_list_function(struct edge_list *e, uint32_t name, uint32_t file)
{
	uint32_t *slot = map_slot(&e->by_name, map_pair(name, file));

	if (*slot == MAP_NONE) {
		*slot = (uint32_t)e->function_count;
		GROW(&e->functions, &e->function_capacity, e->function_count + 1);
		e->functions[e->function_count++] = (struct edge_list_function){ name, file, 0 };
	}
	return *slot;
}

int edge_list_add(struct edge_list *e, struct str pair, const int64_t *value, unsigned set)
{
	const char *arrow = memmem(pair.p, pair.n, ARROW, 3);
	size_t caller_size = arrow ? (size_t)(arrow - pair.p) : 0;
	uint32_t caller = UINT32_MAX, callee;

	if (e->count == EDGE_LIST_MAX)
		return -E2BIG;
	if (arrow) {
		caller = edge_list_function(e, edge_list_string(e, profile_given_name((struct str){ pair.p, caller_size })), e->no_file);
		pair = (struct str){ arrow + 3, pair.n - caller_size - 3 };
	}
	callee = edge_list_function(e, edge_list_string(e, profile_given_name(pair)), e->no_file);
	return edge_list_add_pair(e, caller, callee, value, set);
}

void edge_list_set_line(struct edge_list *e, uint32_t function, uint32_t line)
{
	assert(function < e->function_count);
	if (!e->functions[function].line)
		e->functions[function].line = line;
}

void edge_list_add_own(struct edge_list *e, uint32_t function, const int64_t *value)
{
	if (function >= e->own_count) {
		GROW(&e->own, &e->own_capacity, (size_t)function + 1);
		memset(e->own + e->own_count, 0, (function + 1 - e->own_count) * sizeof(*e->own));
		e->own_count = function + 1;
	}
	for (unsigned v = 0; v < e->column_count; v++)
		saturating_add(&e->own[function][v], saturating_product(value[v], e->columns[v].scale));
}

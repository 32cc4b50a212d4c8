/* edge_list_private.h: turns the pairs of edge_list.c into a profile. */
#ifndef FORMATS_EDGE_LIST_PRIVATE_H
#define FORMATS_EDGE_LIST_PRIVATE_H

#include "edge_list.h"

struct edge {
	uint32_t caller, callee;	/* UINT32_MAX: no caller */
	int64_t value[EDGE_LIST_COLUMNS];
};

struct edge_list {
	const struct edge_list_column *columns;
	unsigned column_count;
	struct intern strings;
	struct edge_list_function {
		uint32_t name, file;	/* strings */
		uint32_t line;		/* 0: unknown */
	} *functions;
	size_t function_count, function_capacity;
	struct map by_name;		/* functions, by name and file */
	uint32_t no_file;		/* index of the string "" */
	int64_t (*own)[EDGE_LIST_COLUMNS];	/* by function; NULL if unknown */
	size_t own_capacity, own_count;
	struct edge *items;
	size_t count, capacity;
	struct map places;		/* by caller and callee */
	unsigned set;
};

/* Facts that the tree itself does not contain; the caller frees both arrays. */
struct edge_tree {
	uint32_t *frames;		/* by function: its frame, with the level in the name */
	bool *is_top;			/* by function: a top-level function: called by nothing, or nothing outside its cycle */
	bool has_off_cpu;		/* has a column for the difference of both clocks */
	bool estimated;			/* something was divided among several places, or folded */
};

/* Adds the tree to `p`, which must have no nodes. Returns -E2BIG if it has no room for the columns. */
int edge_tree_build(const struct edge_list *e, struct profile *p, struct edge_tree *ret);

#endif

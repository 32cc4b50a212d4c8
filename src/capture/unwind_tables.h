/* unwind_tables.h: writes the tables for unwinding native stacks (bpf/unwind_layout.h).
 *
 * Input is rows of files and layouts of processes, output is pages, rules and layouts for a sink: the maps of the BPF
 * programs, or arrays in a test. Equal rules of different files are shared, as are equal layouts. Tables are not kept
 * in memory.
 */
#ifndef CAPTURE_UNWIND_TABLES_H
#define CAPTURE_UNWIND_TABLES_H

#include "bpf/unwind_layout.h"
#include "cfi.h"

/* The tables' destination. Each returns 0 or a negative errno. */
struct unwind_sink {
	int (*page)(void *arg, uint32_t number, const struct unwind_page *p);
	int (*rule)(void *arg, uint32_t number, const struct unwind_rule *r);
	int (*layout)(void *arg, uint32_t number, const struct unwind_layout *l);
	void *arg;
	uint32_t pages, rules, layouts;		/* capacities */
};

/* The location of a file's rows; no pages: none. */
struct unwind_place {
	uint32_t page, pages;
};

struct unwind_tables *unwind_tables_new(const struct unwind_sink *sink);
struct unwind_tables *unwind_tables_free(struct unwind_tables *t);

/* Adds the rows of a file. Returns -ENOSPC if they do not fit: the file then cannot be unwound. */
int unwind_tables_add(struct unwind_tables *t, const struct cfi_table *rows, struct unwind_place *ret, struct err *err);

/* Ranges may be in any order; those beyond UNWIND_RANGES are left out, the smallest first. */
struct unwind_part {
	uint64_t start;
	struct unwind_range range;
};

/* Returns the number of the layout with these ranges, and sorts `parts`. Returns -ENOSPC if there is no room for
 * another layout. */
int unwind_tables_add_layout(struct unwind_tables *t, struct unwind_part *parts, size_t n, uint32_t *ret, struct err *err);

/* Tables that no process uses may be overwritten. `used` has a byte for each. */
void unwind_tables_drop_unused(struct unwind_tables *t, const uint8_t *used);

/* Adds a rule that is not from a file; returns 0 if there is no room. */
uint32_t unwind_tables_add_rule(struct unwind_tables *t, const struct unwind_rule *rule);

#endif

/* unwind_tables.h: writes the tables that native stacks are unwound by (bpf/unwind_layout.h).
 *
 * Rows of files and layouts of processes come in, pages, rules and layouts go out to a sink: the maps of the BPF programs,
 * or arrays of a test. Equal rules of different files are one, as are equal layouts. Tables are not kept here.
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
	uint32_t pages, rules, layouts;		/* room for so many */
};

/* The place of a file's rows; no pages: nowhere. */
struct unwind_place {
	uint32_t page, pages;
};

struct unwind_tables *unwind_tables_new(const struct unwind_sink *sink);
struct unwind_tables *unwind_tables_free(struct unwind_tables *t);

/* Adds the rows of a file. -ENOSPC if there is no room for them: it cannot be unwound then. */
int unwind_tables_add(struct unwind_tables *t, const struct cfi_table *rows, struct unwind_place *ret, struct err *err);

/* Ranges may come in any order; those beyond UNWIND_RANGES are left out, the smallest first. */
struct unwind_part {
	uint64_t start;
	struct unwind_range range;
};

/* The number of the layout with these ranges. -ENOSPC if there is no room for another one. `parts` are sorted by it. */
int unwind_tables_add_layout(struct unwind_tables *t, struct unwind_part *parts, size_t n, uint32_t *ret, struct err *err);

/* Tables that no process uses may be overwritten. `used` has a byte for each. */
void unwind_tables_drop_unused(struct unwind_tables *t, const uint8_t *used);

/* A rule beside those of files; 0 if there is no room for it. */
uint32_t unwind_tables_add_rule(struct unwind_tables *t, const struct unwind_rule *rule);

#endif

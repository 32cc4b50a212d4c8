/* top_rows.h: the rows of a table: the time on and off CPU of each function, class, script or pool. */
#ifndef TOP_TOP_ROWS_H
#define TOP_TOP_ROWS_H

#include "arena.h"
#include "live.h"

#include <regex.h>

enum top_by {
	TOP_BY_FUNCTION,
	TOP_BY_CLASS,
	TOP_BY_FILE,
	TOP_BY_NAMESPACE,
	TOP_BY_PACKAGE, /* properties of frames */
	TOP_BY_ENTRY,
	TOP_BY_POOL,
	TOP_BY_CONTAINER,
	TOP_BY_PID, /* labels */
	TOP_BYS
};

enum top_sort { TOP_SELF, TOP_TOTAL, TOP_OFF_SELF, TOP_OFF_TOTAL, TOP_NAME, TOP_SORTS };

/* In nanoseconds. For labels, self equals total: a script's time is that of everything that ran in it. */
struct top_row {
	struct str name, file;
	uint32_t line;			/* 0: unknown */
	int64_t self, total;		/* on CPU */
	int64_t off_self, off_total;
};

struct top_rows {
	struct top_row *rows;
	size_t count;
	size_t left_out;		/* excluded by the filter */
	int64_t on_cpu, off_cpu;	/* sums of all rows, independent of the filter */
	struct arena names;
};

void top_rows_init(struct top_rows *r);
void top_rows_done(struct top_rows *r);

/* Makes the rows of a period; those without any time are left out. */
void top_rows_fill(struct top_rows *r, const struct live *l, enum live_period period, const struct live_scope *scope,
		   enum top_by by);

/* Tells whether the expression matches a part of the text. */
bool top_rows_match(const regex_t *filter, struct str s);

/* Keeps the rows whose name or file matches the expression. */
void top_rows_filter(struct top_rows *r, const regex_t *filter);

/* Sorts by largest value first, names from A to Z; ties by the same value of the other time (on CPU, off), then by
 * their other values, then by name. */
void top_rows_sort(struct top_rows *r, enum top_sort sort);

/* Returns "function", "entry", … */
const char *top_by_name(enum top_by by);
bool top_by_parse(const char *name, enum top_by *ret);
const char *top_by_label(enum top_by by);		/* the key of a label, or NULL */

const char *top_sort_name(enum top_sort sort);		/* "self", "total", "off", "off-total", "name" */
bool top_sort_parse(const char *name, enum top_sort *ret);

#endif

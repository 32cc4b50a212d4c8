/* report.h: tables of a profile. Pure: profile and options in, bytes out. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "buf.h"
#include "err.h"
#include "profile.h"

/* One function over all its stacks. Total counts a recursive function once per stack. */
struct flat_row {
	uint32_t frame;
	int64_t self, total;
};

/* Rows of every frame, most self first (ties: most total, then name), or most total first. The caller frees. */
struct flat_row *report_flat(const struct profile *p, uint32_t column, bool by_total, size_t *ret_count);

/* What shares are of: everything that was taken. Where nodes have negative values, as of memory that was given back,
 * it is more than the profile's sum, which could be nothing or less. */
int64_t report_whole(const struct profile *p, uint32_t column);

struct report_options {
	uint32_t column;
	size_t limit;			/* rows; 0 is all */
	bool by_total, json, color;
	size_t width;			/* of the terminal; 0 is no limit */
};

/* Appends the table: self %, total %, self, total, function, and file:line where known. */
int report_flat_table(const struct profile *p, const struct report_options *o, struct buf *out, struct err *err);

/* --- Several columns at once, as of a trace --- */

/* One function over all its stacks, in every column. Of calls, `self` is how often it was called. */
struct wide_row {
	uint32_t frame;
	int64_t self[PROFILE_COLUMNS], total[PROFILE_COLUMNS];
};

/* Rows of every frame, sorted by one column as report_flat does. The caller frees. */
struct wide_row *report_wide(const struct profile *p, uint32_t column, bool by_total, size_t *ret_count);

/* The columns that a table of a trace shows, in their order: calls, wall, CPU, off-CPU, memory, as far as there are
 * any; then the others. Returns how many. */
size_t report_wide_columns(const struct profile *p, uint32_t ret[PROFILE_COLUMNS]);

/* What a column is called above a table: "wall" of "wall_ns". */
const char *report_column_title(const char *name);

/* Appends the table: self % and self of each column, total of the time, function and file:line. `json` is not known. */
int report_wide_table(const struct profile *p, const struct report_options *o, struct buf *out, struct err *err);

#endif

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

#endif

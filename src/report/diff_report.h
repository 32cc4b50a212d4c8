/* diff_report.h: a difference as a table: which functions changed, by how much, and whether that exceeds the noise. */
#ifndef REPORT_DIFF_REPORT_H
#define REPORT_DIFF_REPORT_H

#include "buf.h"
#include "diff.h"
#include "report.h"

/* One metric of one function. `before` and `after` are whole numbers; a scaled `before` is rounded per function, so
 * that it is the same in every view and grouping. Shares and changes are exact; changes are in percent of the whole
 * before. */
struct diff_cell {
	int64_t before, after;
	double before_percent, after_percent;	/* each in percent of its side */
	double change, noise;		/* percent of the whole before; a change below the noise may be random */
	bool changed;			/* changed by more than the noise */
	bool at_most;			/* before and after are upper limits, see report.h, and the change is that of
					 * the limits */
};

struct diff_row {
	uint32_t frame;
	struct diff_cell self, total;	/* total counts a recursive function once per stack */
	int64_t self_measured, total_measured;	/* before scaling */
};

struct diff_report_options {
	const char *name_before, *name_after, *column, *compared;	/* "by total", "as they are", … */
	size_t limit;			/* rows; 0 is all */
	enum report_sort sort;		/* most changed in self first, or in total; or by name */
	bool all;			/* also show unchanged functions, and changes within the noise */
	double sigma;			/* standard errors of noise; 0: depends on the number of functions */
	bool color;
	size_t width;			/* columns of the terminal; 0 is no limit */
};

struct diff_report {
	const struct diff *diff;
	const struct diff_report_options *options;
	struct diff_row *rows;		/* most changed first */
	size_t count, compared, quiet;	/* rows; functions with values; functions that changed by noise or not at all */
	double sigma;
	int64_t before, after;		/* the base of shares; differs from the sum if values are negative */
	int64_t whole_measured;		/* `before` without scaling */
	double base;			/* the base of changes: the whole before, or after if that is 0 */
	struct diff_cell all;		/* the sums, as if of one function */
};

/* Options and difference must outlive the report. */
void diff_report_init(struct diff_report *r, const struct diff *d, const struct diff_report_options *o);
void diff_report_done(struct diff_report *r);

/* Finds a regression: growth of more than `percent` of the total before and more than the noise. Returns the function
 * that grew most in total (in self, if totals are only limits), or UINT32_MAX for the sum of everything. False if
 * nothing did. */
bool diff_report_grew(const struct diff_report *r, double percent, uint32_t *ret_frame, double *ret_change);

void diff_report_put_table(const struct diff_report *r, struct buf *out);
void diff_report_put_json(const struct diff_report *r, struct buf *out);
void diff_report_put_csv(const struct diff_report *r, struct buf *out);

#endif

/* line_sort.h: sorts the lines of a log bytewise, in bounded memory.
 *
 * Equal lines are stored once with their count: a day of three million lines has only tens of thousands of distinct
 * ones. Whenever memory is full, the lines go to a sorted temporary file; these files are merged at the end.
 */
#ifndef ARCLAMP_LINE_SORT_H
#define ARCLAMP_LINE_SORT_H

#include "err.h"
#include "line_set.h"

#define LINE_SORT_RUNS_MAX	256u

struct line_sort {
	struct line_set lines;
	size_t memory_bytes;			/* approximate limit of `lines` */
	int dir;				/* directory of temporary files, which have no name */
	FILE *runs[LINE_SORT_RUNS_MAX];
	unsigned run_count;
};

/* `dir` stays the caller's. */
void line_sort_init(struct line_sort *s, size_t memory_bytes, int dir);
void line_sort_done(struct line_sort *s);

/* Copies the line, which has no newline. */
int line_sort_add(struct line_sort *s, struct str line, struct err *err);

/* Passes all lines to `put` in order, each with its newline and as often as it was added, in large pieces. */
int line_sort_write(struct line_sort *s, int (*put)(void *data, const void *bytes, size_t n, struct err *err),
		    void *data, struct err *err);

#endif

/* line_sort.h: the lines of a log in the order of their bytes, in bounded memory.
 *
 * Equal lines are kept once with their number: a day of three million lines has a few ten thousand different ones.
 * Lines that do not fit go to a sorted temporary file, as often as needed, and these files are merged at the end.
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

/* Gives all lines in order, each with its newline and as often as it came, to `put`, in large pieces. */
int line_sort_write(struct line_sort *s, int (*put)(void *data, const void *bytes, size_t n, struct err *err),
		    void *data, struct err *err);

#endif

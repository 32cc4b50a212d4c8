/* folded_line.h: one line of folded stacks, taken apart. */
#ifndef FORMATS_FOLDED_LINE_H
#define FORMATS_FOLDED_LINE_H

#include "intern.h"

enum folded_line_kind {
	FOLDED_BLANK,		/* nothing but spaces */
	FOLDED_STACK,
	FOLDED_NO_COUNT,	/* does not end with a number, or nothing stands before it */
	FOLDED_LARGE_COUNT,	/* above what fits into 63 bits */
};

struct folded_line {
	struct str stack;	/* "root;…;leaf", into the line; no ; at its end */
	int64_t count;
	double fraction;	/* what the count has behind the point: 0 ≤ fraction < 1, negative for negative counts */
};

/* Takes a line without its newline; a CR at its end is no part of it. */
enum folded_line_kind folded_line_parse(const char *line, size_t n, struct folded_line *ret);

#endif

/* folded_line.h: parses one line of folded stacks; files and the messages of Arc Lamp consist of such lines. */
#ifndef PROFILE_FOLDED_LINE_H
#define PROFILE_FOLDED_LINE_H

#include "intern.h"
#include <stdbool.h>

enum folded_line_kind {
	FOLDED_BLANK,		/* only spaces */
	FOLDED_STACK,
	FOLDED_NO_COUNT,	/* does not end with a number, or has nothing before it */
	FOLDED_ONE_COUNT,	/* only one count, though two were requested */
	FOLDED_LARGE_COUNT,	/* does not fit into 63 bits */
};

struct folded_count {
	int64_t whole;
	double fraction;	/* the decimals: 0 ≤ fraction < 1, negative for negative counts */
};

struct folded_line {
	struct str stack;		/* "root;…;leaf", points into the line; without a trailing ; */
	struct folded_count count;	/* the last number */
	struct folded_count before;	/* the one before it, if two were requested */
};

/* Parses a line without its newline; a trailing CR is ignored. With `two` the line is one of a difference, "root;leaf
 * 10 12"; otherwise the 10 would be part of the name. */
enum folded_line_kind folded_line_parse(const char *line, size_t n, bool two, struct folded_line *ret);

#endif

/* annotate.h: source annotated with the values of each line. Pure: the caller reads the source. */
#ifndef REPORT_ANNOTATE_H
#define REPORT_ANNOTATE_H

#include "report.h"
#include "source_text.h"

/* Values of a line in one column. `self` includes callees without source (PHP's own functions, native code); `total`
 * includes all callees. A stack that contains the line several times counts once in the total. */
struct annotate_line {
	uint32_t line;
	int64_t self, total;
};

struct annotate_lines {
	struct annotate_line *list;	/* lines with values, ascending */
	size_t count;
	int64_t self, total, whole;	/* sums over all lines; `whole` is the profile's */
};

/* `lines` is a result of report_lines(); `of` selects its frames. */
void annotate_lines_of(const struct profile *lines, uint32_t column, const bool *of, struct annotate_lines *ret);
void annotate_lines_done(struct annotate_lines *l);

struct annotate_options {
	uint32_t column;
	struct str file, function;	/* for headings; .n 0: the whole file */
	uint32_t start;			/* the function's first line; 0: unknown */
	long context;			/* lines shown around those with values; negative: all */
	bool json, color;
	size_t width;			/* columns of the terminal; 0 is no limit */
};

/* --- Lines of the source, one after another --- */

struct annotate_walk {
	const struct annotate_lines *lines;
	long context;
	uint32_t start;
	struct str rest;		/* unread part of the source */
	uint32_t number;		/* number of the last line returned */
	size_t next;			/* index in `lines`: the first at or after it */
};

struct annotate_shown {
	uint32_t number;
	const struct annotate_line *took;	/* NULL: nothing */
	struct str text;			/* .p is NULL if the source has no such line */
	bool after_gap;
};

/* Walks the lines around those with values, and around `start` (0: none); `context` as in the options. */
struct annotate_walk annotate_walk_of(const struct annotate_lines *l, struct str source, long context, uint32_t start);

/* Returns the next line to show; false after the last one. Lines beyond the end of the source come last. */
bool annotate_next(struct annotate_walk *w, struct annotate_shown *ret);

/* --- Output --- */

/* Appends the lines: self %, total %, self, total, number, text. Control bytes of the source become U+FFFD. */
void annotate_put(const struct profile *p, const struct annotate_lines *l, const struct source_text *s,
		  const struct annotate_options *o, struct buf *out);

#endif

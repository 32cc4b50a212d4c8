/* annotate.h: source with what each of its lines took beside it. Pure: the source is bytes that somebody else has read. */
#ifndef REPORT_ANNOTATE_H
#define REPORT_ANNOTATE_H

#include "report.h"

/* The values of a line in one column: self, including callees without source (PHP's own functions, native code), and with all
 * functions that it called. A stack on which the line stands several times counts once for its total. */
struct annotate_line {
	uint32_t line;
	int64_t self, total;
};

struct annotate_lines {
	struct annotate_line *list;	/* ascending, those that took anything */
	size_t count;
	int64_t self, total, whole;	/* of all of them, and of the profile */
};

/* `lines` is one of report_lines(), `of` says by its frames which are meant. */
void annotate_lines_of(const struct profile *lines, uint32_t column, const bool *of, struct annotate_lines *ret);
void annotate_lines_done(struct annotate_lines *l);

enum annotate_state {
	ANNOTATE_UNKNOWN,		/* whether it changed */
	ANNOTATE_SAME, ANNOTATE_CHANGED, ANNOTATE_MISSING
};

struct annotate_source {
	struct str text;		/* .p NULL: there is none */
	enum annotate_state state;
	const char *why;		/* a sentence without a full stop, when it is missing or has changed */
};

struct annotate_options {
	uint32_t column;
	struct str file, function;	/* for headings; .n 0: the whole file */
	uint32_t start;			/* the function's first line, 0 unknown */
	long context;			/* lines around those that took something; below 0 all */
	bool json, color;
	size_t width;			/* of the terminal; 0 is no limit */
};

/* Appends the lines: self %, total %, self, total, number, text. Bytes of the source that a terminal would obey are U+FFFD. */
void annotate_put(const struct profile *p, const struct annotate_lines *l, const struct annotate_source *s,
		  const struct annotate_options *o, struct buf *out);

#endif

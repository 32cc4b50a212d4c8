/* source_query.h: annotated source lines of a function, a file or a line, for pages and the API.
 *
 * Only the frames of the profile determine the file. A comparison has two sides; lines of the earlier one are
 * shifted to the function's start in the later one, so a function that moved as a whole is compared line by line. */
#ifndef SERVE_SOURCE_QUERY_H
#define SERVE_SOURCE_QUERY_H

#include "annotate.h"
#include "profile_query.h"

#define SOURCE_ASK_CONTEXT	8	/* lines around those with values */
#define SOURCE_ASK_DEFINITION	30	/* lines around the definition of a function without executed lines */
#define SOURCE_ASK_ROWS		10000u	/* rows shown of a file */
#define SOURCE_ASK_OTHERS	8u	/* further files listed */
#define SOURCE_ASK_WIDTH	2000u	/* code points of a line */

/* The sides, as in the columns of api_function: 0 is before and 1 after in a comparison; otherwise only 0 exists. */
#define SOURCE_SIDES 2

struct source_line {
	uint32_t number;
	int64_t self[SOURCE_SIDES], total[SOURCE_SIDES];
	bool hot;			/* its self value is at least half of the largest */
	bool after_gap;
	struct str text;		/* .p NULL: the source has no such line */
};

struct source_query {
	const struct profile_query *query;
	size_t sides;
	struct str file;		/* .n 0: unknown */
	uint32_t start;			/* the function's first line; 0: unknown */
	int64_t self[SOURCE_SIDES], total[SOURCE_SIDES], whole[SOURCE_SIDES];
	struct source_text source;
	struct str others[SOURCE_ASK_OTHERS];	/* further files that contain the name */
	size_t other_count;		/* including those that do not fit */
	const char *why;		/* a warning without a full stop; NULL: none */

	struct annotate_walk walk;	/* the following members are private */
	struct annotate_lines lines;	/* lines of both sides; values are those of the later one */
	int64_t *values;		/* by line of `lines`: self before, total before */
	int64_t hot_from;
	size_t shown;
	struct profile *of_lines[SOURCE_SIDES];
	struct buf words;
};

/* Whether a view can show source. ask.with_source and ask.subject are set before profile_query_load if so. */
bool source_query_fits(const struct view *v);

/* Returns the stacks of `p` with a selected frame; functions, files and lines are unchanged. The caller frees. */
struct profile *source_query_subject(const struct profile_query *a, const struct profile *p);

/* Reads the source, only below the directories of `context`. Call source_query_done in any case. */
void source_query(struct source_query *s, const struct profile_query *a, const struct server_context *context);
void source_query_done(struct source_query *s);

/* Returns the next line; false after the last one. */
bool source_query_next(struct source_query *s, struct source_line *ret);

/* Appends the text of a line: tabs stay, characters that would move or hide text become U+FFFD, and very long lines
 * are cut. */
void source_query_text(struct buf *out, struct str text);

#endif

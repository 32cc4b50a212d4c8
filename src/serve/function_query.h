/* function_query.h: one function of a profile with its callers and its callees, for its page and for the API. */
#ifndef SERVE_FUNCTION_QUERY_H
#define SERVE_FUNCTION_QUERY_H

#include "profile_query.h"

struct function_query {
	const struct profile_query *query;
	bool *of;				/* by frame: has that name */
	uint32_t first;				/* the first of them by file and line, preferably one with a file */
	size_t places;				/* number of those frames */
	struct str *files;			/* distinct files of all functions of that name, whatever the file */
	size_t file_count;
	struct report_edges callers, callees;
};

/* Finds the frames whose whole name is view.function (in view.function_file, if given). Names are compared as shown
 * by pages and JSON, since links also have U+FFFD for bytes that cannot be shown. -ENOENT with a sentence if there is
 * none. function_query_done in any case. */
int function_query(struct function_query *f, const struct profile_query *a, struct err *err);
void function_query_done(struct function_query *f);

/* Whether a column counts calls, for which totals and "itself" are meaningless. */
bool function_of_calls(const struct profile_query *a);

#endif

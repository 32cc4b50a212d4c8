/* function_query.h: one function of a profile with its callers and its callees, for its page and for the API. */
#ifndef SERVE_FUNCTION_QUERY_H
#define SERVE_FUNCTION_QUERY_H

#include "profile_query.h"

struct function_query {
	const struct profile_query *query;
	bool *of;				/* by frame: those of that name */
	uint32_t first;				/* first of them, by file and line; one with a file if there is one */
	size_t places;				/* their number */
	struct str *files;			/* different ones, of all functions of that name, also of those left out by file */
	size_t file_count;
	struct report_edges callers, callees;
};

/* Finds the frames whose whole name is view.function, in view.function_file if that is given, as pages and JSON show it: a byte that cannot be shown is U+FFFD in
 * links as well. -ENOENT with a sentence if there is none. function_query_done in any case. */
int function_query(struct function_query *f, const struct profile_query *a, struct err *err);
void function_query_done(struct function_query *f);

/* Whether a column counts calls, for which totals and "itself" are meaningless. */
bool function_of_calls(const struct profile_query *a);

#endif

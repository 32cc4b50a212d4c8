/* function_ask.h: one function of a profile with its callers and its callees, for its page and for the API. */
#ifndef SERVE_FUNCTION_ASK_H
#define SERVE_FUNCTION_ASK_H

#include "ask.h"

struct function_ask {
	const struct ask *ask;
	bool *of;				/* by frame: those of that name */
	uint32_t first;				/* of them */
	size_t places;				/* how many they are */
	struct report_edges callers, callees;
};

/* Finds the frames whose whole name is view.function, as pages and JSON show it: a byte that cannot be shown is U+FFFD in
 * links as well. -ENOENT with a sentence if there is none. function_ask_done in any case. */
int function_ask(struct function_ask *f, const struct ask *a, struct err *err);
void function_ask_done(struct function_ask *f);

/* Whether a column counts calls, of which totals and "itself" mean nothing. */
bool function_of_calls(const struct ask *a);

#endif

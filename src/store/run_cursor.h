/* run_cursor.h: the cursor of a list of runs: "VALUE.ID" of the last run of a page; text values are written as "x"
 * and their bytes in hexadecimal. */
#ifndef STORE_RUN_CURSOR_H
#define STORE_RUN_CURSOR_H

#include "store.h"

#define RUN_KEY_MAX	200u

struct run_cursor {
	int64_t number, id;
	char bytes[RUN_KEY_MAX];
	size_t n;
};

/* Parses `after` of the query, if any; returns -EINVAL with a sentence for an invalid cursor. */
int run_cursor_parse(const struct store_run_query *q, bool is_number, struct run_cursor *ret, struct err *err);
void run_cursor_format(const struct run_cursor *p, bool is_number, char ret[STORE_RUNS_NEXT]);

#endif

/* callgrind.h: writes the format described in callgrind.c. */
#ifndef FORMATS_CALLGRIND_H
#define FORMATS_CALLGRIND_H

#include "profile.h"

#define CALLGRIND_ROOT		"(root)"			/* the function that represents the root */
#define CALLGRIND_NO_CALLS	"calls: not counted"		/* desc: the column of calls is missing */
#define CALLGRIND_NO_LEVELS	"recursion: not separated"	/* desc: a function may call itself under the same name */
#define CALLGRIND_LINES_RAN	"lines: those that ran"		/* desc: only calls= lines have functions' first lines */

int callgrind_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err);

#endif

/* callgrind.h: writes what callgrind.c draws. */
#ifndef FORMATS_CALLGRIND_H
#define FORMATS_CALLGRIND_H

#include "profile.h"

#define CALLGRIND_ROOT		"(root)"			/* the function that stands for the root */
#define CALLGRIND_NO_CALLS	"calls: not counted"		/* desc: there is no column of calls */
#define CALLGRIND_NO_LEVELS	"recursion: not separated"	/* desc: a function may stand within itself under one name */
#define CALLGRIND_LINES_RAN	"lines: those that ran"		/* desc: where a function begins is behind calls= alone */

int callgrind_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err);

#endif

/* downloads.h: download formats of profiles, in addition to those that handlers write themselves. */
#ifndef SERVE_DOWNLOADS_H
#define SERVE_DOWNLOADS_H

#include "http.h"
#include "profile.h"

#define DOWNLOADS "pprof, speedscope, callgrind, xhprof, xhprof-json or chrome"

struct download;

/* Looks up the parameter `format`; NULL if it is missing or unknown. */
const struct download *download_by_name(const char *format);

/* Whether the format can hold several columns with any names, and thus both sides of a comparison. */
bool download_has_sides(const struct download *d);

/* Whether the format can hold executed lines. */
bool download_has_chart(const struct download *d);	/* the order of calls, if known */
bool download_has_lines(const struct download *d);

/* Responds with `p` as the file "NAME.SUFFIX": with all columns that the format can hold, unless `column` selects
 * one. Negative with a sentence if that is not possible. */
int download_put(const struct download *d, const struct profile *p, uint32_t column, const char *name,
		 struct response *r, struct err *err);

#endif

/* downloads.h: download formats of profiles, beside those that a handler writes itself. */
#ifndef SERVE_DOWNLOADS_H
#define SERVE_DOWNLOADS_H

#include "http.h"
#include "profile.h"

#define DOWNLOADS "pprof, speedscope, callgrind, xhprof, xhprof-json or chrome"

struct download;

/* By the parameter `format`; NULL for any other value, or without one. */
const struct download *download_by_name(const char *format);

/* Whether the format has several columns of any name, and so both sides of a comparison. */
bool download_has_sides(const struct download *d);

/* Whether the format can hold executed lines. */
bool download_has_chart(const struct download *d);	/* the order of calls, where known */
bool download_has_lines(const struct download *d);

/* Responds with `p` as the file "NAME.SUFFIX", with all columns that the format holds unless `column` is one. Negative
 * with a sentence if it cannot. */
int download_put(const struct download *d, const struct profile *p, uint32_t column, const char *name,
		 struct response *r, struct err *err);

#endif

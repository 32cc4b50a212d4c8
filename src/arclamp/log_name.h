/* log_name.h: the names of trace logs: "<time>.<tag>.log", the time written by an operator's strftime format, in UTC.
 *
 * The format is parsed once, so that it is known which names it can produce: retention must never touch another
 * profiler's "2026-11-21_18.excimer-wall.index.log" beside our "2026-11-21_18.index.log". The format may hold any
 * conversion of strftime but for %s and those that C does not know (%f), with the flags - _ 0 ^ # and no width. Its
 * result must be a plain part of a file name: not empty, no '/', no control characters, no '.' in front, LOG_TIME_MAX
 * bytes at most.
 */
#ifndef ARCLAMP_LOG_NAME_H
#define ARCLAMP_LOG_NAME_H

#include "err.h"
#include "intern.h"
#include <stdbool.h>

#define LOG_TIME_MAX	100u
#define LOG_TAG_MAX	64u
#define LOG_NAME_PARTS	LOG_TIME_MAX
#define LOG_NAME_TAGS	8u

struct log_name {
	char *format;			/* plain conversions only */
	struct log_name_part { unsigned char kind, literal, min, max; } parts[LOG_NAME_PARTS];
	unsigned count;
};

/* -EINVAL with a sentence for a format that makes no such name. The caller frees with log_name_done, also then. */
int log_name_init(struct log_name *n, const char *format, struct err *err);
void log_name_done(struct log_name *n);

/* The time of a name, with a NUL. Returns its length. */
size_t log_name_time(const struct log_name *n, int64_t seconds, char out[LOG_TIME_MAX + 1]);

/* The tags for which `file` ("2026-11-21_18.index.log", also .log.gz and .log.zst) could be a log of this format;
 * mostly none or one. They point into `file`. */
size_t log_name_tags(const struct log_name *n, const char *file, struct str ret[LOG_NAME_TAGS]);

/* Whether these bytes may be a tag in a name: [A-Za-z0-9._-]{1,64}, and nothing that other names are made of: "." and
 * "..", what ends with ".reversed" or holds ".fn-" (pictures), and "all" and "other", which are ours. */
bool log_tag_is_fit(const char *bytes, size_t n);

#endif

/* log_name.h: the names of trace logs: "<time>.<tag>.log", the time written by an operator's strftime format, in UTC.
 *
 * The format is parsed once, to know which names it can produce: retention must never touch another
 * profiler's "2026-11-21_18.excimer-wall.index.log" beside our "2026-11-21_18.index.log". The format may contain all
 * conversions of strftime except %s and those that C lacks (%f), with the flags - _ 0 ^ # and no width. Its result
 * must be a plain file name component: not empty, no '/', no control characters, no '.' in front, LOG_TIME_MAX bytes
 * at most.
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

/* -EINVAL with a sentence for a format that cannot make such names. Free with log_name_done, also after an error. */
int log_name_init(struct log_name *n, const char *format, struct err *err);
void log_name_done(struct log_name *n);

/* Writes the time part of a name, NUL-terminated. Returns its length. */
size_t log_name_time(const struct log_name *n, int64_t seconds, char out[LOG_TIME_MAX + 1]);

/* Returns the tags for which `file` ("2026-11-21_18.index.log", also .log.gz and .log.zst) could be a log of this
 * format, usually none or one. They point into `file`. */
size_t log_name_tags(const struct log_name *n, const char *file, struct str ret[LOG_NAME_TAGS]);

/* Whether the bytes may be a tag: [A-Za-z0-9._-]{1,64}, except names with another meaning: "." and "..", anything
 * that ends with ".reversed" or contains ".fn-" (pictures), and "all" and "other", which are ours. */
bool log_tag_is_fit(const char *bytes, size_t n);

#endif

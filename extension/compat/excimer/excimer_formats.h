/* excimer_formats.h: converts a log to text and to PHP arrays. */
#ifndef STROBE_EXCIMER_FORMATS_H
#define STROBE_EXCIMER_FORMATS_H

#include "excimer_log.h"

/* "a;b;c 12\n" per stack of names, in order of first occurrence. Blanks and NULs in names become "_". */
zend_string *excimer_collapsed(const struct excimer_log *log);

/* The format read by https://www.speedscope.app, before JSON encoding: every entry is a sample, whose weight is in
 * nanoseconds. */
void excimer_speedscope(const struct excimer_log *log, zval *ret);

/* By name: where the function was first seen, and the events in which it was the innermost frame ("self") or anywhere
 * in the stack ("inclusive"; recursion counts once). Largest inclusive number first. */
zend_array *excimer_by_function(const struct excimer_log *log);

/* Returns the stack that ends at this node, innermost frame first. */
zend_array *excimer_trace(const struct excimer_log *log, uint32_t node);

#endif

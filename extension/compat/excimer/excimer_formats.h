/* excimer_formats.h: a log as text and as PHP arrays. */
#ifndef STROBE_EXCIMER_FORMATS_H
#define STROBE_EXCIMER_FORMATS_H

#include "excimer_log.h"

/* "a;b;c 12\n" per stack of names, in the order in which they were first seen. Blanks and NULs in names are "_". */
zend_string *excimer_collapsed(const struct excimer_log *log);

/* The form that https://www.speedscope.app reads, before it is made JSON: every entry is a sample, its weight nanoseconds. */
void excimer_speedscope(const struct excimer_log *log, zval *ret);

/* By name: where the function was first seen, events in which it was the innermost frame ("self") or anywhere in the
 * stack ("inclusive"; recursion counts once). Most inclusive first. */
zend_array *excimer_by_function(const struct excimer_log *log);

/* The stack that ends with this node, innermost frame first. */
zend_array *excimer_trace(const struct excimer_log *log, uint32_t node);

#endif

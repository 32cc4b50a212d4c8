/* stack_filters.h: only some stacks of a profile: those through functions that match regular expressions, or all others. */
#ifndef SERVE_STACK_FILTERS_H
#define SERVE_STACK_FILTERS_H

#include "view.h"

/* Replaces the profiles, which are not grouped yet, by what the filters of the view leave of them; `before` may point to NULL.
 * A filter is about the names that the view shows, such as those of files, or about functions if it matches none of them.
 * -EINVAL with a sentence for an invalid pattern. */
int stack_filters_apply(const struct view *v, struct profile **p, struct profile **before, struct err *err);

#endif

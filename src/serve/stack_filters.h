/* stack_filters.h: filters the stacks of a profile by regular expressions that match functions on them. */
#ifndef SERVE_STACK_FILTERS_H
#define SERVE_STACK_FILTERS_H

#include "view.h"

/* Replaces the profiles, which must not be grouped yet, by the stacks that pass the view's filters; `before` may
 * point to NULL. A filter applies to the names that the view shows, such as files, or to functions if it matches none
 * of them. -EINVAL with a sentence for an invalid pattern. */
int stack_filters_apply(const struct view *v, struct profile **p, struct profile **before, struct err *err);

#endif

/* stack_filters.h: only some stacks of a profile: those through functions that match regular expressions, or all others. */
#ifndef SERVE_STACK_FILTERS_H
#define SERVE_STACK_FILTERS_H

#include "view.h"

/* Replaces the profile by what the filters of the view leave of it. -EINVAL with a sentence for what is no pattern. */
int stack_filters_apply(const struct view *v, struct profile **p, struct err *err);

#endif

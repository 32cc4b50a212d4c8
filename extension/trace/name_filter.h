/* name_filter.h: selects the functions that a trace shows, by name.
 *
 * A pattern is a name as it stands in a profile: "strlen", "App\Cart::price", "/srv/app/boot.php". A * stands for any
 * bytes, also none: "Twig\*" is a namespace, "App\Cart::*" a class. Letters of either case are equal, as in PHP, and a
 * backslash in front is left out. A closure is "App\Cart::{closure}" or, outside of classes, "App\{closure}"; what is not
 * in a namespace is "{closure}".
 *
 * A filter with patterns of both kinds shows what is included and not excluded.
 */
#ifndef STROBE_NAME_FILTER_H
#define STROBE_NAME_FILTER_H

#include "call_tree.h"

struct name_filter;

/* Adds a pattern to `*f`, which is made if it is NULL. It is copied. False without memory. */
bool name_filter_add(struct name_filter **f, bool include, const char *pattern, size_t n);

/* NULL is fine. */
void name_filter_free(struct name_filter *f);

/* Whether `id` is shown. It is a function, a file or a compilation. */
bool name_filter_shows(const struct name_filter *f, const struct call_function *id);

#endif

/* name_filter.h: selects the functions that a trace shows, by name.
 *
 * A pattern is a name as used in profiles: "strlen", "App\Cart::price", "/srv/app/boot.php". A * matches any bytes,
 * including none: "Twig\*" is a namespace, "App\Cart::*" a class. Case is ignored, as in PHP, and so is a leading
 * backslash. A closure is "App\Cart::{closure}" or, outside of classes, "App\{closure}"; outside of namespaces it is
 * "{closure}".
 *
 * A filter with patterns of both kinds shows functions that are included and not excluded.
 */
#ifndef STROBE_NAME_FILTER_H
#define STROBE_NAME_FILTER_H

#include "call_tree.h"

struct name_filter;

/* Adds a copy of a pattern to `*f`, which is created if it is NULL. False without memory. */
bool name_filter_add(struct name_filter **f, bool include, const char *pattern, size_t n);

/* NULL is fine. */
void name_filter_free(struct name_filter *f);

/* Whether `id` is shown, which must be a function, a file or a compilation. */
bool name_filter_shows(const struct name_filter *f, const struct call_function *id);

#endif

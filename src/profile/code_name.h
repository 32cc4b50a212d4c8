/* code_name.h: removes paths and lines from function names.
 *
 * PHP's closures, evals, anonymous classes and file scopes are named by a path and a line: "{closure:/srv/shop/cart.php(41)}",
 * "{closure:App\Cart::total():41}" from PHP 8.4 on, "A::{closure}/3-5" in uprofiler's arrays, "/srv/shop/cart.php(12) :
 * eval()'d code". A release changes both, though the function is still the same.
 */
#ifndef PROFILE_CODE_NAME_H
#define PROFILE_CODE_NAME_H

#include "buf.h"
#include "intern.h"

#include <stdbool.h>

/* Returns the path in a name, empty if there is none. */
struct str code_name_path(struct str name);

/* Appends the name without its lines, and with `path` replacing its path. `ret_line` is the innermost function's
 * line, 0 if the name has none. */
void code_name_put(struct buf *b, struct str name, struct str path, uint32_t *ret_line);

/* Appends the name with a star for each hash in it, as in names of generated classes ("Mock_Cart_59d6f7a8"): 8 or
 * more consecutive hexadecimal digits. Returns whether there is one. */
bool code_name_put_generated(struct buf *b, struct str name);

/* Tells whether the function is a closure. */
bool code_name_is_closure(struct str name);

#endif

/* handler_names.h: names of PHP's functions in C, whose symbols are static and which stripped files do not name.
 *
 * An internal function on a PHP stack comes with the words of its zend_internal_function. Exactly one of them is code, its
 * handler, so the C function that begins there is zif_strlen or zim_ArrayObject_count: whichever version of PHP it is, and also
 * in extensions. Two names for one address, as a function and its alias have, or an extension that replaces many functions by
 * one of its own, leave the address without a name.
 */
#ifndef CAPTURE_HANDLER_NAMES_H
#define CAPTURE_HANDLER_NAMES_H

#include "modules.h"
#include "unwind_maps.h"

struct handler_names;

/* `maps` says what is mapped where, and `modules` gets the names. */
struct handler_names *handler_names_new(struct modules *modules, const struct unwind_maps *maps);
struct handler_names *handler_names_free(struct handler_names *h);	/* NULL is fine; returns NULL */

/* Takes the name from the event of any function, or later, if it is not known yet what its process has mapped. */
void handler_names_note(struct handler_names *h, const struct function_event *e);

/* The process' mapped files are known now. */
void handler_names_retry(struct handler_names *h, u32 tgid);

/* "zif_strlen", "zim_Random_Engine_Mt19937_generate"; appends nothing if the C function may have another name. */
void handler_name_put(const struct function_event *e, struct buf *out);

#endif

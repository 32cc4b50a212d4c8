/* handler_names.h: finds names of PHP's internal functions, whose symbols are static and missing in stripped files.
 *
 * An internal function on a PHP stack comes with the words of its zend_internal_function. Exactly one of them is code, its
 * handler, so the C function that begins there is zif_strlen or zim_ArrayObject_count, in any version of PHP, and in
 * extensions, too. If an address has two names, because a function has an alias, or an extension replaces many
 * functions by one, it gets no name.
 */
#ifndef CAPTURE_HANDLER_NAMES_H
#define CAPTURE_HANDLER_NAMES_H

#include "modules.h"
#include "unwind_maps.h"

struct handler_names;

/* `maps` has the mappings of processes, and `modules` gets the names. */
struct handler_names *handler_names_new(struct modules *modules, const struct unwind_maps *maps);
struct handler_names *handler_names_free(struct handler_names *h);	/* NULL is fine; returns NULL */

/* Takes the name from the event of any function, or keeps the event until the mappings of its process are known. */
void handler_names_note(struct handler_names *h, const struct function_event *e);

/* Call it once the mappings of a process are known. */
void handler_names_retry(struct handler_names *h, u32 tgid);

/* Drops functions of processes that ended before their mappings were known, and returns whether there were any. The
 * programs describe a function once, so it remains without a name until they are made to describe it again. Call it
 * only if all processes can be seen by the numbers that events have. */
bool handler_names_drop_ended(struct handler_names *h);

/* Appends "zif_strlen", "zim_Random_Engine_Mt19937_generate"; or nothing if the C function may have another name. */
void handler_name_put(const struct function_event *e, struct buf *out);

#endif

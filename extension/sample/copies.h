/* copies.h: copies of PHP's strings and classes for another thread.
 *
 * While a PHP thread waits, the ticker's thread may report its measurements. PHP's data may be freed at any moment, so
 * the ticker works on copies made with guarded_read.h. For code that only reads, they look like PHP's own, with
 * everything that a profile shows; their references are not counted.
 */
#ifndef STROBE_COPIES_H
#define STROBE_COPIES_H

#include "php.h"

/* Zeroed means empty. */
struct copies {
	struct copy *slots;		/* an open hash by address */
	size_t count, capacity;
	bool failed;			/* a read failed, or memory was short: results based on copies must be
					 * discarded */
};

void copies_done(struct copies *c);

/* Copies a string, truncated to the limit of messages, or a class; NULL for NULL, and on failure. Equal addresses
 * share one copy. */
zend_string *copies_string(struct copies *c, const zend_string *s);
zend_class_entry *copies_class(struct copies *c, const zend_class_entry *ce);

/* Copies an array, which the caller frees; NULL if that failed or it is empty. */
void *copies_array(struct copies *c, const void *from, size_t count, size_t size);

#endif

/* copies.h: copies of PHP's strings and classes for another thread.
 *
 * While a PHP thread waits, the ticker's thread may report its measurements. PHP's data may be freed at any moment, so
 * the ticker works on copies made with guarded_read.h. To code that only reads, they look like PHP's own, with all
 * that a profile shows; their references are not counted.
 */
#ifndef STROBE_COPIES_H
#define STROBE_COPIES_H

#include "php.h"

/* All zero is empty. */
struct copies {
	struct copy *slots;		/* an open hash by address */
	size_t count, capacity;
	bool failed;			/* a read failed, or there was no memory: results made of copies must be
					 * discarded */
};

void copies_done(struct copies *c);

/* The copy of a string, cut to what a message may hold, or of a class; NULL for NULL, and on failure. Equal addresses have
 * one copy. */
zend_string *copies_string(struct copies *c, const zend_string *s);
zend_class_entry *copies_class(struct copies *c, const zend_class_entry *ce);

/* An array, to be freed; NULL if it failed or is empty. */
void *copies_array(struct copies *c, const void *from, size_t count, size_t size);

#endif

/* copies.h: PHP's strings and classes as another thread has read them.
 *
 * While a PHP thread waits, the ticker's thread may tell what it has measured. It must not hold on to anything of PHP's, which may
 * go away at any moment, so it works on copies that are made by guarded_read.h. They look like PHP's own, of which they have what a
 * profile shows, to code that only reads them; their references are not counted.
 */
#ifndef STROBE_COPIES_H
#define STROBE_COPIES_H

#include "php.h"

/* All zero is empty. */
struct copies {
	struct copy *slots;		/* an open hash by address */
	size_t count, capacity;
	bool failed;			/* something could not be read, or there was no memory: what was made of copies is not to be used */
};

void copies_done(struct copies *c);

/* The copy of a string, cut to what a message may hold, or of a class; NULL of NULL, and if it failed. Equal addresses have one copy. */
zend_string *copies_string(struct copies *c, const zend_string *s);
zend_class_entry *copies_class(struct copies *c, const zend_class_entry *ce);

/* An array, to be freed; NULL if it failed or is empty. */
void *copies_array(struct copies *c, const void *from, size_t count, size_t size);

#endif

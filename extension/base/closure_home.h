/* closure_home.h: the place where a closure is defined.
 *
 * PHP has no link from a closure to the function that contains it, and the scope of a bound closure is another class.
 * Both are looked up in PHP's tables, once per closure and request: in the class of its scope, in running code, in
 * functions, and for a bound closure in all classes. Closures of a file that has finished running are in none of
 * these; file_closures.h has their order.
 */
#ifndef STROBE_CLOSURE_HOME_H
#define STROBE_CLOSURE_HOME_H

#include "php.h"

struct closure_home {
	zend_class_entry *scope;	/* the class it is defined in (that uses the trait); NULL: outside of classes */
	uint32_t order;			/* 2 for the second closure on its line, and so on; 0: the first or only one */
};

/* `f` must be a user function that is a closure in the source. */
struct closure_home closure_home(const zend_function *f);

/* The places found by this thread, for another thread, which copies everything with `read`, which may fail. False if
 * the closure, passed as a copy, has not been looked up before. */
struct closure_homes;
const struct closure_homes *closure_homes_of_thread(void);
bool closure_home_known(const struct closure_homes *homes, const zend_op_array *closure,
			bool (*read)(void *to, const void *from, size_t size), struct closure_home *ret);

/* Forgets everything, since classes live only until the request ends. */
void closure_home_request_start(void);

/* Frees the memory of this thread. */
void closure_home_thread_end(void);

#endif

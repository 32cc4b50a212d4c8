/* closure_home.h: where closures were written.
 *
 * PHP keeps no way back from a closure to the function that it stands in, and the scope of one that was bound is another
 * class. Both are looked up in PHP's tables, once per closure and request: in the class of its scope, in what is running, in
 * the functions, and, for one that was bound, in all classes.
 */
#ifndef STROBE_CLOSURE_HOME_H
#define STROBE_CLOSURE_HOME_H

#include "php.h"

struct closure_home {
	zend_class_entry *scope;	/* the class it was written in (that uses the trait); NULL: outside of classes */
	uint32_t order;			/* 2 for the second closure on its line, and so on; 0: the first or only one. Those
					 * of a script's file scope are told apart while the script runs. */
};

/* `f` is a user function that was written as a closure. */
struct closure_home closure_home(const zend_function *f);

/* `f` stands for a closure that is gone, and does not have the scope that this had: closure_home takes it for one of `scope`
 * until this is called again. */
void closure_home_had_scope(const zend_function *f, zend_class_entry *scope);

/* Forgets all: classes last as long as the request. */
void closure_home_request_start(void);

/* Frees what this thread keeps. */
void closure_home_thread_end(void);

#endif

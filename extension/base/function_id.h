/* function_id.h: the identity of a frame's function.
 *
 * A closure created from a function, by f(...) or Closure::fromCallable(), counts as that function: PHP also flags it
 * as a closure, but it has the function's name, file and line. A method of a trait is a different function in each
 * class that uses the trait: PHP copies it, with that class as scope.
 *
 * Two frames with equal fields are the same function to a reader of the profile. Code that stores one holds
 * references to its strings, so that an address is not reused for another function: PHP frees closures, eval'd code
 * and (without opcache) included files in the middle of a request, and reuses their memory. Classes stay until the
 * request ends.
 */
#ifndef STROBE_FUNCTION_ID_H
#define STROBE_FUNCTION_ID_H

#include "php.h"

struct function_id {
	zend_string *name;		/* NULL: the file scope of `file`, or without a file, elided frames */
	zend_string *file;		/* NULL: an internal function */
	zend_class_entry *scope;	/* class that declares the method, or in which a closure is defined; or NULL */
	uint32_t line;			/* first line of the definition, 0 for file scope and internal functions */
	bool closure;
	uint32_t order;			/* number of a closure on its line, as in closure_home.h */
};

/* Whether `f` is a closure in the source. */
static inline bool function_is_closure(const zend_function *f)
{
	return (f->common.fn_flags & (ZEND_ACC_CLOSURE | ZEND_ACC_FAKE_CLOSURE)) == ZEND_ACC_CLOSURE;
}

/* Whether `f` stands for a method that does not exist: PHP uses it to call __call() and __callStatic(). A closure
 * created from it looks like an internal function in a user class, which only enums have otherwise. */
static inline bool function_is_missing(const zend_function *f)
{
	const zend_class_entry *scope = f->common.scope;

	if (f->common.fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE)
		return true;
	return !ZEND_USER_CODE(f->type) && scope && scope->type == ZEND_USER_CLASS && !(scope->ce_flags & ZEND_ACC_ENUM);
}

#endif

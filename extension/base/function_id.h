/* function_id.h: the identity of a frame's function.
 *
 * A closure that was made of a function, by f(...) or Closure::fromCallable(), is that function: PHP flags it as a closure
 * too, but it has the function's name, file and line. And a method of a trait is another function in each class that uses
 * the trait: PHP copies it, with the class that uses it as scope.
 *
 * Two frames with equal fields are the same function to a reader of the profile. Whoever stores one holds a reference
 * to its strings, so that an address is not reused for another function: PHP frees closures, eval'd code and (without
 * opcache) included files in the middle of a request, and reuses their memory. Classes stay until the request ends.
 */
#ifndef STROBE_FUNCTION_ID_H
#define STROBE_FUNCTION_ID_H

#include "php.h"

struct function_id {
	zend_string *name;		/* NULL: the file scope of `file`, or, without a file, what was left out */
	zend_string *file;		/* NULL: an internal function */
	zend_class_entry *scope;	/* class that declares the method, or that a closure was written in; or NULL */
	uint32_t line;			/* first line of the definition, 0 for file scope and internal functions */
	bool closure;
	uint32_t order;			/* number of a closure among those on its line, as closure_home.h has it */
};

/* Whether `f` was written as a closure. */
static inline bool function_is_closure(const zend_function *f)
{
	return (f->common.fn_flags & (ZEND_ACC_CLOSURE | ZEND_ACC_FAKE_CLOSURE)) == ZEND_ACC_CLOSURE;
}

/* Whether `f` only has the name of a method that does not exist: PHP calls __call() and __callStatic() by way of it. A closure that
 * was made of it looks like a function of PHP's in a class of the program, of which only enums have any. */
static inline bool function_is_missing(const zend_function *f)
{
	const zend_class_entry *scope = f->common.scope;

	if (f->common.fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE)
		return true;
	return !ZEND_USER_CODE(f->type) && scope && scope->type == ZEND_USER_CLASS && !(scope->ce_flags & ZEND_ACC_ENUM);
}

#endif

/* call_sites.h: checks whether the code of a function contains a call of another one.
 *
 * The ticking thread reads calls while the program runs. By the time it has found the caller of a function that took
 * only nanoseconds, another call may have reused the caller's frame, so that the pair never existed. The caller's
 * code is evidence: it names every function that it calls, except through a variable.
 */
#ifndef STROBE_CALL_SITES_H
#define STROBE_CALL_SITES_H

#include "php.h"

/* Cached answers of the running request. Zeroed means empty; it must be cleared at the start of each request. */
#define CALL_SITES 256

struct call_sites {
	struct {
		const zend_function *caller, *callee;
		bool exists;
	} at[CALL_SITES];
	bool any;
};

void call_sites_clear(struct call_sites *s);

/* Whether `caller` may call `callee`; both must be alive. True if the code cannot tell: for internal callers, calls
 * through a variable, and methods that PHP calls implicitly. */
bool call_site_exists(struct call_sites *s, const zend_function *caller, const zend_function *callee);

#endif

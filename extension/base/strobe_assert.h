/* strobe_assert.h: assertions, checked in developer builds.
 *
 * Enabled in debug builds of PHP, under AddressSanitizer, and with -DSTROBE_ASSERTIONS; in any other build it expands
 * to nothing: inside PHP we are guests, and never end the process. (In those builds PHP's own ZEND_ASSERT is a
 * promise to the compiler, so violating it is undefined behavior.)
 */
#ifndef STROBE_ASSERT_H
#define STROBE_ASSERT_H

#ifdef HAVE_CONFIG_H
#include "php.h"	/* ZEND_DEBUG; bench/ compiles files without PHP */
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STROBE_ASSERTIONS 1
#endif
#endif

#if ZEND_DEBUG || defined(__SANITIZE_ADDRESS__) || defined(STROBE_ASSERTIONS)
#include <stdio.h>
#include <stdlib.h>

#define STROBE_ASSERT(condition)								\
	((condition) ? (void)0 :								\
	 (fprintf(stderr, "%s:%d: Assertion '%s' failed.\n", __FILE__, __LINE__, #condition), abort()))
#else
#define STROBE_ASSERT(condition) ((void)sizeof(!(condition)))
#endif

#endif

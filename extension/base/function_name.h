/* function_name.h: the names of functions in profiles.
 *
 *	function		strlen, App\handle
 *	method			App\Cart::price		(the class that declares it)
 *	closure			{closure:/srv/app/cart.php(41)}
 *	in a class		App\Cart::{closure:/srv/app/cart.php(41)}
 *	second of its line	{closure:/srv/app/cart.php(41)#2}
 *	file scope, include	/srv/app/cart.php
 *	anonymous class		class@anonymous::run	(its file and line are in the frame)
 *	elided frames		[elided]
 */
#ifndef STROBE_FUNCTION_NAME_H
#define STROBE_FUNCTION_NAME_H

#include "function_id.h"

/* Returns the displayed length of a class name: that of an anonymous class ends at its NUL, where its address
 * begins. */
size_t text_class_length(const zend_class_entry *ce);

/* Writes the name, truncated to `size` bytes and without a NUL. Returns its length. */
size_t text_function(const struct function_id *f, char *out, size_t size);

#endif

/* layers.h: merges the PHP frames and the native frames of one moment into one stack.
 *
 * PHP's interpreter is a C function, execute_ex, which runs a PHP function and those that it calls, until one returns to the
 * C code that called the interpreter. So PHP's stack consists of groups, each beginning with a frame with FRAME_TOP,
 * and each group runs in one native frame of execute_ex, which it replaces:
 *
 *	native (root first)                  PHP            together
 *	main … zend_execute                                 main … zend_execute
 *	execute_ex                           a.php, usort   a.php, usort
 *	zif_usort, zend_sort, zend_call_function            zif_usort, zend_sort, zend_call_function
 *	execute_ex                           by_price       by_price
 *
 * A callback that is written in C has a PHP frame, but no execute_ex: its group follows zend_call_function. Compiled
 * PHP (JIT) runs in a frame of execute_ex; the innermost native frame stays as the leaf. A fiber has its own native
 * stack, and the PHP frames of its resumer are its callers.
 */
#ifndef CAPTURE_LAYERS_H
#define CAPTURE_LAYERS_H

#include "bpf/event.h"
#include "modules.h"
#include <stddef.h>

#define LAYERS_MAX	(PHP_DEPTH + NATIVE_DEPTH + 1)

enum layer { LAYER_OF_PHP, LAYER_OF_NATIVE, LAYER_GAP };

/* A frame of the stack: its index in its layer. LAYER_GAP precedes native frames whose callers are unknown. */
struct layer_frame {
	enum layer layer;
	u32 index;
};

/* The stacks of one moment, both leaf first. */
struct layers {
	const struct php_frame *php;
	u32 php_count;
	const enum module_mark *native;
	u32 native_count;
	enum native_end end;
};

/* Writes the frames, root first; returns their number. */
size_t layers_merge(const struct layers *l, struct layer_frame ret[LAYERS_MAX]);

#endif

/* layers.h: the PHP frames and the native frames of one moment as one stack.
 *
 * PHP's interpreter is a C function, execute_ex, which runs a PHP function and those that it calls, until one returns to the
 * C code that called the interpreter. So PHP's stack is in groups, each from a frame with FRAME_TOP on, and each group runs in
 * one native frame of execute_ex, which it stands for:
 *
 *	native (root first)                  PHP            together
 *	main … zend_execute                                 main … zend_execute
 *	execute_ex                           a.php, usort   a.php, usort
 *	zif_usort, zend_sort, zend_call_function            zif_usort, zend_sort, zend_call_function
 *	execute_ex                           by_price       by_price
 *
 * A callback that is written in C has a PHP frame, and no execute_ex: its group comes behind zend_call_function. Compiled PHP
 * (JIT) runs in a frame of execute_ex; what is innermost stays there as the leaf. A fiber has a native stack of its own, and
 * the PHP frames of its resumer are its callers.
 */
#ifndef CAPTURE_LAYERS_H
#define CAPTURE_LAYERS_H

#include "bpf/event.h"
#include "modules.h"
#include <stddef.h>

#define LAYERS_MAX	(PHP_DEPTH + NATIVE_DEPTH + 1)

enum layer { LAYER_OF_PHP, LAYER_OF_NATIVE, LAYER_GAP };

/* A frame of the stack: its number among those of its layer. LAYER_GAP stands before native frames whose callers are not
 * known. */
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

/* Writes the frames, root first; returns how many. */
size_t layers_merge(const struct layers *l, struct layer_frame ret[LAYERS_MAX]);

#endif

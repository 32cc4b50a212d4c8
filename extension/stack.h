/* stack.h: what PHP is doing right now, as a list of functions.
 *
 * Reads the VM's frames and changes nothing: no allocation, no reference counts, no exceptions.
 */
#ifndef STROBE_STACK_H
#define STROBE_STACK_H

#include "php.h"

/* Which function a frame runs. Two frames with equal fields are the same function to a reader of the profile.
 * Equality of pointers is safe only while the strings cannot be freed: the trie holds references to them. The class
 * lives until the end of the request. */
struct function_id {
	zend_string *name;		/* NULL: the file scope of `file`, or stack_elided */
	zend_string *file;		/* NULL: an internal function */
	zend_class_entry *scope;	/* class that declares the method, or NULL */
	uint32_t line;			/* first line of the definition, 0 for file scope and internal functions */
	bool closure;
};

/* Stands for the frames that were left out in the middle: no name and no file. */
extern const struct function_id stack_elided;

static inline bool function_id_equal(const struct function_id *a, const struct function_id *b)
{
	return a->name == b->name && a->file == b->file && a->scope == b->scope && a->line == b->line;
}

/* How far a stack is walked when the caller knows its root already: 1 M frames take milliseconds. */
#define STACK_WALK_MAX 16384

struct stack {
	struct function_id *functions;	/* leaf first; room for max_depth + 1 */
	const zend_execute_data **kept;	/* scratch, room for max_depth */
	size_t depth;			/* of `functions` */
	size_t elided_at;		/* where stack_elided stands; 0 if nothing was left out */
	bool rootless;			/* the walk stopped early: the last entry is stack_elided */
};

/* Collects the functions from `leaf` up, `max_depth` at most: of a deeper stack the half at the leaf and the half at
 * the root, with stack_elided between them. With `limit_walk` it gives up after STACK_WALK_MAX frames and returns
 * only the half at the leaf, `rootless`. */
void stack_collect(struct stack *s, const zend_execute_data *leaf, size_t max_depth, bool limit_walk);

#endif

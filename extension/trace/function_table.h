/* function_table.h: records of the functions of a tree, by key and by identity.
 *
 * The key of a function is the address of its zend_function. Named functions stay until the request ends, so their
 * addresses stay unique, and each class that uses a trait has copies of its methods. A closure object has a copy that
 * is freed with it, so the key of a closure combines what all its copies share: opcodes, scope and name. (Opcodes
 * alone are not enough: those of a trait's methods, and of closures in them, are shared by all classes that use the
 * trait.) Opcodes of closures may be freed before the request ends, so some are kept alive as long as the tree (not
 * all, since that memory counts against memory_limit). Anything else that PHP frees during a request (file scopes,
 * code of eval, other closures) is looked up by name, file and line each time; the key of its nodes is then the
 * address of our own record.
 */
#ifndef STROBE_FUNCTION_TABLE_H
#define STROBE_FUNCTION_TABLE_H

#include "block_arena.h"
#include "call_tree.h"
#include "strobe_assert.h"
#include "tracer.h"

#define FUNCTION_NO_KEY 1u		/* not an address */
#define FUNCTION_NONE	UINT32_MAX	/* not a number */

/* A function that has been called. Lives as long as the tree. */
struct function {
	struct call_function id;	/* with references of its own */
	uintptr_t key;			/* key by which it was first found */
	uint32_t number;		/* index among the functions of the tree */
	uint64_t identity_hash;
	struct function *first;		/* the first record with the same identity, usually this one */
	bool annotated;			/* its calls are distinguished by a suffix, so each is examined */
	bool ambiguous;			/* a node may have several children for this function: other records have the
					 * same identity, or it is looked up in more than one way */
	zend_op_array *pinned;		/* a copy that keeps the code alive, or NULL */
};

struct function_slot {
	uintptr_t key;
	uint32_t number;		/* number + 1; 0: free. Allows searching without accessing the record */
};

/* Zeroed means empty. */
struct function_table {
	struct arena memory;		/* also for other data with the same lifetime */
	struct function **all;		/* by number */
	uint32_t count, capacity;
	struct function_slot *by_key;	/* open hash tables of the same size */
	struct function **by_identity;
	uint32_t slots;
	size_t pinned;			/* bytes of closures' code kept alive */
	const struct trace_annotation *annotation;	/* NULL: none */
};

void function_table_done(struct function_table *t);

/* Returns the key of a closure, including one created from a function. Different closures have equal keys as rarely
 * as random 64-bit numbers are equal. */
static inline uintptr_t closure_key(const zend_function *f)
{
	uint64_t opcodes = ZEND_USER_CODE(f->type) ? (uintptr_t)f->op_array.opcodes : 0;

	return (uintptr_t)(opcodes + (uintptr_t)f->common.scope * 0x9e3779b97f4a7c15ull +
			   (uintptr_t)f->common.function_name * 0xff51afd7ed558ccdull);
}

/* Returns the key of a function. */
static zend_always_inline uintptr_t function_key(const zend_function *f)
{
	return UNEXPECTED(f->common.fn_flags & ZEND_ACC_CLOSURE) ? closure_key(f) : (uintptr_t)f;
}

/* Returns the first slot of a search in an open hash table; `slots` is a power of 2. */
static inline uint32_t function_slot_of(uint64_t h, uint32_t slots)
{
	STROBE_ASSERT(slots && !(slots & (slots - 1)));
	return (uint32_t)((h * 0x9e3779b97f4a7c15ull) >> 32) & (slots - 1);
}

/* Describes a function, borrowing its strings. */
void function_describe(const zend_function *f, struct call_function *id);

/* Returns the record of something other than a zend_function, such as a file being compiled. Adds references to the
 * strings of `id`. NULL without memory. */
struct function *function_table_identity(struct function_table *t, const struct call_function *id);

/* Returns the number of a function whose key stays unique until the table is freed; FUNCTION_NONE if there is none
 * and none can be created. */
uint32_t function_table_lasting(struct function_table *t, const zend_function *code);

/* Returns the record for this call of a function, including the call's suffix, if any. */
struct function *function_table_annotated(struct function_table *t, struct function *f, zend_execute_data *frame);

#endif

/* function_table.h: records of the functions of a tree, by key and by identity.
 *
 * The key of a function is the address of its zend_function. Named functions stay until the request ends, so their
 * addresses mean them all the time, and each class that uses a trait has copies of its methods. A closure object has a copy
 * that goes away with it, so the key of closures is mixed from what all copies of one share: opcodes, scope and name. (The
 * opcodes alone would not do: those of a trait's methods are shared by all classes that use the trait, and so are those of
 * the closures in them.) Opcodes of closures may be freed before the request ends: some are kept alive while the tree is
 * (not all, since that memory counts against memory_limit). Whatever else PHP frees in the middle of a request (the file
 * scope of scripts, the code of eval, further closures) is looked up by name, file and line each time; the key of its nodes
 * is then the address of our own record.
 */
#ifndef STROBE_FUNCTION_TABLE_H
#define STROBE_FUNCTION_TABLE_H

#include "block_arena.h"
#include "call_tree.h"
#include "strobe_assert.h"
#include "tracer.h"

#define FUNCTION_NO_KEY 1u		/* no address */
#define FUNCTION_NONE	UINT32_MAX	/* no number */

/* A function that has been called. Lives as long as the tree. */
struct function {
	struct call_function id;	/* with references of its own */
	uintptr_t key;			/* that it was found by first */
	uint32_t number;		/* among those of the tree, from 0 */
	uint64_t identity_hash;
	struct function *first;		/* the first record with the same identity, mostly this one */
	bool annotated;			/* its calls are distinguished by a suffix: each is examined */
	bool ambiguous;			/* a node may have several children that are this function to a reader: there are
					 * other records with its identity, or it is looked up in more than one way */
	zend_op_array *pinned;		/* a copy that keeps the code alive, or NULL */
};

struct function_slot {
	uintptr_t key;
	uint32_t number;		/* + 1; 0: free. The record itself need not be touched to find it */
};

/* All zero is empty. */
struct function_table {
	struct arena memory;		/* also of what else is to last as long */
	struct function **all;		/* by number */
	uint32_t count, capacity;
	struct function_slot *by_key;	/* open hashes of the same size */
	struct function **by_identity;
	uint32_t slots;
	size_t pinned;			/* bytes of closures' code that is kept alive */
	const struct trace_annotation *annotation;	/* NULL without */
};

void function_table_done(struct function_table *t);

/* The key of a closure, also of one that was made of a function. Equal keys of different closures are as likely as equal
 * 64-bit random numbers. */
static inline uintptr_t closure_key(const zend_function *f)
{
	uint64_t opcodes = ZEND_USER_CODE(f->type) ? (uintptr_t)f->op_array.opcodes : 0;

	return (uintptr_t)(opcodes + (uintptr_t)f->common.scope * 0x9e3779b97f4a7c15ull +
			   (uintptr_t)f->common.function_name * 0xff51afd7ed558ccdull);
}

/* The key of a function. */
static zend_always_inline uintptr_t function_key(const zend_function *f)
{
	return UNEXPECTED(f->common.fn_flags & ZEND_ACC_CLOSURE) ? closure_key(f) : (uintptr_t)f;
}

/* The first slot of a search in an open hash; `slots` is a power of 2. */
static inline uint32_t function_slot_of(uint64_t h, uint32_t slots)
{
	STROBE_ASSERT(slots && !(slots & (slots - 1)));
	return (uint32_t)((h * 0x9e3779b97f4a7c15ull) >> 32) & (slots - 1);
}

/* Describes a function, with strings that are still its own. */
void function_describe(const zend_function *f, struct call_function *id);

/* The record of something that is not a zend_function, such as a file that is compiled. The strings of `id` are copied by
 * reference. NULL without memory. */
struct function *function_table_identity(struct function_table *t, const struct call_function *id);

/* The number of a function whose key means it until the table is done; FUNCTION_NONE if there is none and none can be made. */
uint32_t function_table_lasting(struct function_table *t, const zend_function *code);

/* The record of a function as it is called: with the suffix that this call has, if it has one. */
struct function *function_table_annotated(struct function_table *t, struct function *f, zend_execute_data *frame);

#endif

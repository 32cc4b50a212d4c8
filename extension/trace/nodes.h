/* nodes.h: the calling context tree while it grows.
 *
 * A node is a function called by way of its ancestors. What it calls next is mostly what it called the last time at this
 * point: so a node remembers the child that it called first, and each child the one that came after it. One comparison of
 * keys then finds the node, and it can be fetched from memory before the call happens. Otherwise the children are looked
 * through, in a hash when there are many.
 *
 * The key of a function is the address of its zend_function. Named functions stay until the request ends, so their
 * addresses mean them all the time, and each class that uses a trait has copies of its methods. A closure object has a copy
 * that goes away with it, so the key of closures is mixed from what all copies of one share: opcodes, scope and name. (The
 * opcodes alone would not do: those of a trait's methods are shared by all classes that use the trait, and so are those of
 * the closures in them.) Opcodes of closures may be freed before the request ends: some are kept alive while the tree is
 * (not all, since that memory counts against memory_limit). Whatever else PHP frees in the middle of a request (the file
 * scope of scripts, the code of eval, further closures) is looked up by name, file and line each time; the key of its nodes
 * is then the address of our own record.
 *
 * Memory comes in blocks (blocks.h) and goes back as a whole. The number of nodes is bounded: when the budget is used up, a call
 * that would need a new node goes to a node "[folded]" below its caller, one for all of them. The calls below that go to
 * one node of its own, outside the tree, which counts them: their time is in the folded call already. Without memory for
 * any of this they go to nodes.sink.
 */
#ifndef STROBE_NODES_H
#define STROBE_NODES_H

#include "call_tree.h"
#include "tracer.h"

/* A function that has been called. Lives as long as the tree. */
struct function {
	struct call_function id;	/* with references of its own */
	uintptr_t key;			/* that it was found by first */
	uint32_t number;		/* among those of the tree, from 0 */
	uint64_t identity_hash;
	struct function *first;		/* the first record with the same identity, mostly this one */
	bool annotated;			/* its calls are told apart by a suffix: looked at one by one */
	bool ambiguous;			/* a node may have several children that are this function to a reader: there are
					 * other records with its identity, or it is looked up in more than one way */
	zend_op_array *pinned;		/* a copy that keeps the code alive, or NULL */
};

struct function_slot {
	uintptr_t key;
	struct function *function;	/* NULL: free */
};

struct slot {
	uintptr_t key;
	struct node *node;		/* NULL: free */
};

struct allocation_counts {
	uint64_t allocations, frees, bytes;
};

/* The first 64 bytes are all that a call touches, and the second 64 all that making a node takes: the nodes of one request are
 * mostly cold, so that each line of the cache counts. Times are in ticks and inclusive. `first` and `after` are guesses, never
 * NULL: without one they are nodes.none, whose key is that of nothing. */
struct node {
	uintptr_t key;
	struct node *first;		/* child that it called first when it ran last */
	struct node *after;		/* child of the same parent that was called when this one had ended */
	uint64_t calls;
	uint64_t wall;			/* or, when time is sampled, periods in which the node was running itself */
	uint64_t cpu;
	int64_t memory, peak;

	struct node *parent;
	union {
		struct node *child;	/* while it is the only one */
		struct slot *slots;	/* several by key: keys beside each other cost one miss of the cache */
	};
	uint32_t slot_count, children;	/* slots: 0, a list of that many at most, or a hash */
	struct function *function;	/* NULL only for nodes.none and nodes.sink */
	struct node *below;		/* of a folded node: where the calls below it go, NULL before the first; itself there and in the sink */
	uint64_t resumptions;		/* how often a suspended fiber whose first call this is went on here */
	struct allocation_counts *allocations;	/* NULL: none were counted */
	uint32_t number;		/* in the order of making */
} __attribute__((aligned(64)));

/* Memory that goes back as a whole. */
struct arena {
	struct block *blocks;		/* the newest first */
	char *free, *end;		/* what is left of the newest */
};

struct nodes {
	struct node *root;
	struct node *none, *sink;
	uint32_t count, max;
	uint32_t markers;		/* nodes that nodes_marker has made */

	struct arena memory;		/* of what nodes_reset leaves */
	struct arena node_memory;
	struct node **chunks;		/* arrays of NODES_PER_CHUNK nodes, in the order of their making */
	uint32_t chunk_count, chunk_capacity;

	struct function **functions;	/* by number */
	uint32_t function_count, function_capacity;
	struct function_slot *by_key;	/* open hashes of the same size */
	struct function **by_identity;
	uint32_t slots;
	size_t pinned;			/* bytes of closures' code that is kept alive */
	const struct trace_annotation *annotation;	/* NULL without */
};

#define NODES_PER_CHUNK 1024u

/* Makes an empty tree. Returns false without memory. */
bool nodes_init(struct nodes *t, uint32_t max);
void nodes_done(struct nodes *t);

/* Forgets all nodes and makes a root again; functions and their keys stay. False, with nothing changed, without memory. */
bool nodes_reset(struct nodes *t);

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

/* The child of `parent` with this key, NULL if there is none. */
struct node *nodes_find(struct node *parent, uintptr_t key);

/* The child of `parent` that stands for the function of a call, which nodes_find did not find, made if need be. Never NULL:
 * without memory it is nodes.sink. */
struct node *nodes_make(struct nodes *t, struct node *parent, zend_execute_data *frame);

/* Where the allocations of a node are counted. NULL without memory. */
struct allocation_counts *nodes_allocations(struct nodes *t, struct node *n);

/* The child for a function that is known, found or made. */
struct node *nodes_child_of(struct nodes *t, struct node *parent, uintptr_t key, struct function *f);

/* The child for the marker of a session, found or made: also above the budget, and below what is folded. NULL without
 * memory. */
struct node *nodes_marker(struct nodes *t, struct node *parent, uintptr_t key, struct function *f);

/* Whether a call that needs a new node finds no room in the budget. */
static inline bool nodes_full(const struct nodes *t)
{
	return t->count >= t->max;
}

/* What a function is, with strings that are still its own. */
void nodes_describe(const zend_function *f, struct call_function *id);

/* The record of something that is not a zend_function, such as a file that is compiled. The strings of `id` are copied by
 * reference. NULL without memory. */
struct function *nodes_identity(struct nodes *t, const struct call_function *id);

/* The n-th node in the order of making: a parent always comes before its children. */
static inline struct node *nodes_at(const struct nodes *t, uint32_t n)
{
	return &t->chunks[n / NODES_PER_CHUNK][n % NODES_PER_CHUNK];
}

#endif

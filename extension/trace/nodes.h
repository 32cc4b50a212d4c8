/* nodes.h: the calling context tree while it grows.
 *
 * A node is a function called by way of its ancestors. It mostly calls what it called the last time at this point, so
 * a node remembers the child that it called first, and each child the one that came after it. One comparison of keys
 * then finds the node, and it can be fetched from memory before the call happens. Otherwise the children are looked
 * through, in a hash when there are many.
 *
 * Keys are those of functions (function_table.h). The number of nodes is bounded: when the budget is used up, a call
 * that would need a new node goes to a node "[folded]" below its caller, one for all of them. The calls below that go to
 * one node of its own, outside the tree, which counts them: their time is in the folded call already. Without memory for
 * any of this they go to nodes.sink.
 */
#ifndef STROBE_NODES_H
#define STROBE_NODES_H

#include "block_arena.h"
#include "function_table.h"

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
	struct node *below;		/* for a folded node: where the calls below it go, NULL before the first; itself there and in the sink */
	uint64_t resumptions;		/* number of times that a suspended fiber with this first call was resumed here */
	struct allocation_counts *allocations;	/* NULL: none were counted */
	uint32_t number;		/* in the order of making */
	uint32_t function_number;	/* that of the function: reading it there would be a miss of the cache */
} __attribute__((aligned(64)));

struct nodes {
	struct node *root;
	struct node *none, *sink;
	uint32_t count, max;
	uint32_t markers;		/* nodes that nodes_marker has made */
	uint64_t resumptions;		/* sum over all nodes */

	struct arena memory;
	struct node **chunks;		/* arrays of NODES_PER_CHUNK nodes, in the order of their making */
	uint32_t chunk_count, chunk_capacity;

	struct function_table functions;
};

#define NODES_PER_CHUNK 1024u

/* Makes an empty tree. Returns false without memory. */
bool nodes_init(struct nodes *t, uint32_t max);
void nodes_done(struct nodes *t);

/* Forgets all nodes and makes a root again; functions and their keys stay. False, with nothing changed, without memory. */
bool nodes_reset(struct nodes *t);

/* The child of `parent` with this key, NULL if there is none. */
struct node *nodes_find(struct node *parent, uintptr_t key);

/* The child of `parent` that stands for the function of a call, which nodes_find did not find, made if need be. Never NULL:
 * without memory it is nodes.sink. */
struct node *nodes_make(struct nodes *t, struct node *parent, zend_execute_data *frame);

/* The counts of a node's allocations. NULL without memory. */
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

/* The n-th node in the order of making: a parent always comes before its children. */
static inline struct node *nodes_at(const struct nodes *t, uint32_t n)
{
	STROBE_ASSERT(n / NODES_PER_CHUNK < t->chunk_count);
	return &t->chunks[n / NODES_PER_CHUNK][n % NODES_PER_CHUNK];
}

#endif

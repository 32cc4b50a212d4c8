/* nodes.h: the calling context tree while it grows.
 *
 * A node is a function called through its ancestors. It usually calls the same function as the last time at this
 * point, so a node remembers the child that it called first, and each child its successor. One comparison of keys
 * then finds the node, which can be prefetched before the call happens. Otherwise the children are searched, using a
 * hash if there are many.
 *
 * Keys are those of functions (function_table.h). The number of nodes is limited: when the budget is used up, calls
 * that would need a new node share a node "[folded]" below their caller. Calls below that share another node, outside
 * the tree, which counts them; their time is already included in the folded call. Without memory for any of this,
 * calls go to nodes.sink.
 */
#ifndef STROBE_NODES_H
#define STROBE_NODES_H

#include "block_arena.h"
#include "function_table.h"

struct slot {
	uintptr_t key;
	struct node *node;		/* NULL: free slot */
};

struct allocation_counts {
	uint64_t allocations, frees, bytes;
};

/* A call accesses only the first 64 bytes, and creating a node only the second 64: the nodes of one request are
 * usually not cached, so each cache line matters. Times are in ticks and inclusive. `first` and `after` are guesses,
 * never NULL: without a guess they point to nodes.none, whose key matches nothing. */
struct node {
	uintptr_t key;
	struct node *first;		/* the child called first when it ran last */
	struct node *after;		/* sibling that was called after this one had ended */
	uint64_t calls;
	uint64_t wall;			/* or, if time is sampled, periods in which the node was innermost */
	uint64_t cpu;
	int64_t memory, peak;

	struct node *parent;
	union {
		struct node *child;	/* the only child, as long as there is just one */
		struct slot *slots;	/* several children by key: adjacent keys cost a single cache miss */
	};
	uint32_t slot_count, children;	/* slots: 0, a list of at most that many, or a hash */
	struct function *function;	/* NULL only for nodes.none and nodes.sink */
	struct node *below;		/* for a folded node: where the calls below it go, NULL before the first; itself there and in the sink */
	uint64_t resumptions;		/* how often a suspended fiber with this first call was resumed here */
	struct allocation_counts *allocations;	/* NULL: none counted */
	uint32_t number;		/* in the order of creation */
	uint32_t function_number;	/* that of the function: reading it there would cost a cache miss */
} __attribute__((aligned(64)));

struct nodes {
	struct node *root;
	struct node *none, *sink;
	uint32_t count, max;
	uint32_t markers;		/* nodes created by nodes_marker */
	uint64_t resumptions;		/* sum over all nodes */

	struct arena memory;
	struct node **chunks;		/* arrays of NODES_PER_CHUNK nodes, in the order of creation */
	uint32_t chunk_count, chunk_capacity;

	struct function_table functions;
};

#define NODES_PER_CHUNK 1024u

/* Makes an empty tree. Returns false without memory. */
bool nodes_init(struct nodes *t, uint32_t max);
void nodes_done(struct nodes *t);

/* Discards all nodes and creates a new root; functions and their keys are kept. Without memory returns false and
 * changes nothing. */
bool nodes_reset(struct nodes *t);

/* Returns the child of `parent` with this key, NULL if there is none. */
struct node *nodes_find(struct node *parent, uintptr_t key);

/* Finds or creates the child of `parent` for the function of a call, after nodes_find has not found it. Never NULL:
 * without memory it is nodes.sink. */
struct node *nodes_make(struct nodes *t, struct node *parent, zend_execute_data *frame);

/* Returns the allocation counts of a node. NULL without memory. */
struct allocation_counts *nodes_allocations(struct nodes *t, struct node *n);

/* Finds or creates the child for a known function. */
struct node *nodes_child_of(struct nodes *t, struct node *parent, uintptr_t key, struct function *f);

/* Finds or creates the child for a session's marker, even above the budget and below folded nodes. NULL without
 * memory. */
struct node *nodes_marker(struct nodes *t, struct node *parent, uintptr_t key, struct function *f);

/* Whether the budget has no room for a new node. */
static inline bool nodes_full(const struct nodes *t)
{
	return t->count >= t->max;
}

/* Returns the n-th node in the order of creation: parents always come before their children. */
static inline struct node *nodes_at(const struct nodes *t, uint32_t n)
{
	STROBE_ASSERT(n / NODES_PER_CHUNK < t->chunk_count);
	return &t->chunks[n / NODES_PER_CHUNK][n % NODES_PER_CHUNK];
}

#endif

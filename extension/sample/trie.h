/* trie.h: the samples taken since the last message, merged into trees of functions: one tree per set of labels.
 *
 * With lines, a function has one node below its caller for each executed line.
 *
 * All memory is mapped once; adding a sample never allocates. A node keeps a reference to the name and file strings of
 * its function; classes stay until the request ends, which is why the trie must be emptied by then.
 */
#ifndef STROBE_TRIE_H
#define STROBE_TRIE_H

#include "function_id.h"
#include "stack.h"

#define TRIE_NODES	32768u
#define TRIE_ROOTS	64u		/* nodes 0 to TRIE_ROOTS - 1 are roots, one per set of labels */

struct trie_node {
	struct function_id function;
	uint32_t parent;
	uint32_t last_child;		/* the child used last, usually used again next; 0: none */
	uint32_t slot;			/* index in the hash table */
	uint32_t samples;		/* periods with this node as the leaf */
	uint32_t line;			/* executed line, or that of calling the children; 0: unknown */
	uint32_t op;			/* private to trie.c: tag of the last opcode */
};

struct trie {
	struct trie_node *nodes;
	uint32_t *slots;		/* maps hashes of (parent, function, line) to nodes; 0 is free */
	uint32_t count;			/* nodes, including roots; 0 before trie_map */
	uint32_t deep_node;		/* last node of the root half of the last stack, if it was too deep; else 0 */
	uint32_t deep_root;		/* the root above it */
	uint64_t samples;
	bool lines;			/* record lines; must be set before anything is added; trie_empty keeps it */
};

/* Allocates the memory; false if there is none. May be called again. */
bool trie_map(struct trie *t);
void trie_unmap(struct trie *t);

/* Whether a stack with this many functions certainly fits. */
static inline bool trie_has_space(const struct trie *t, size_t depth)
{
	return t->count + depth <= TRIE_NODES;
}

/* Whether the root half of a very deep stack is known below this root, so that its walk may be limited. */
static inline bool trie_knows_root_half(const struct trie *t, uint32_t root)
{
	return t->deep_node && t->deep_root == root;
}

/* Adds `samples` to the stack below a root. There must be room, and a rootless stack needs trie_knows_root_half. */
void trie_add(struct trie *t, uint32_t root, const struct stack *s, uint32_t samples);

/* Empties the trie and releases its references. */
void trie_empty(struct trie *t);

#endif

/* line_dict.h: the stacks of earlier lines, so that no batch parses the same line again.
 *
 * A batch lasts a second, and most of its stacks were in the one before. Here each stack has a number that stays: the
 * leaf of a tree of its series. A batch only notes which of the tree's nodes it has already, and walks up from the leaf
 * until it meets one. Series have trees of their own, so that one list of nodes is enough for all profiles of a bucket.
 *
 * The memory has a cap; above it the dictionary is cleared, and `generation` changes for those who hold
 * numbers. */
#ifndef COLLECT_LINE_DICT_H
#define COLLECT_LINE_DICT_H

#include "buf.h"
#include "intern.h"

#define LINE_DICT_NODES		(1u << 20)		/* about 20 bytes each */
#define LINE_DICT_NAME_BYTES	((size_t)32 << 20)

struct line_dict {
	uint32_t generation;			/* from 1 */
	uint64_t seed;				/* for hashes of lines; unknown to outsiders */
	struct line_dict_node { uint32_t parent, frame; } *nodes;	/* 0 is the root of all series */
	uint32_t node_count;
	uint32_t *frame_names;			/* by frame, in `names` */
	uint32_t frame_count;
	struct intern names, series;
	struct line_dict_stack { uint32_t leaf, series; } *stacks;

	/* private */
	struct map stack_map, child_map, frame_map;
	size_t node_capacity, frame_capacity, stack_capacity;
	uint32_t stack_count;
};

struct line_dict *line_dict_new(void);
struct line_dict *line_dict_free(struct line_dict *d);		/* NULL is fine; returns NULL */

/* Finds the stack by the hash of its line and series; NULL if it is new. */
const struct line_dict_stack *line_dict_find(const struct line_dict *d, uint64_t hash);

/* Adds a new stack to the series of `key`. If the dictionary is full, all other stacks are forgotten first. */
struct line_dict_stack line_dict_add(struct line_dict *d, uint64_t hash, const struct buf *key, struct str stack);

/* Returns the next frame's name from *at, and moves *at behind it; false at the end. Empty names are skipped. */
bool line_dict_next_name(const char **at, const char *end, struct str *ret);

#endif

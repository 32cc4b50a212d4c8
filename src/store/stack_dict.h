/* stack_dict.h: the writer's side of stack_tree.h: maps stacks to node numbers, and collects additions since the last
 * commit.
 *
 * It holds the whole dictionary of one day in memory (about 20 bytes per node). After a failed commit it is ahead of
 * the file: discard it and load it again. */
#ifndef STORE_STACK_DICT_H
#define STORE_STACK_DICT_H

#include "stack_tree.h"

struct stack_dict;

int stack_dict_load(sqlite3 *db, const char *path, struct stack_dict **ret, struct err *err);
struct stack_dict *stack_dict_free(struct stack_dict *d);

/* Fills `nodes` with a number per node of `p`, or only for the nodes in `needed` (NULL: all), which must include all
 * parents. Beyond STACK_TREE_NODES or STACK_TREE_FRAMES, a stack is cut to the part that is known already, so that
 * its samples still count. Returns how many nodes were cut. */
size_t stack_dict_add(struct stack_dict *d, const struct profile *p, const bool *needed, uint32_t *nodes);

/* The additions since stack_dict_saved: packed blocks (empty if none) and the numbers of their first records. */
struct stack_dict_block {
	struct buf data;
	uint32_t first;
};

struct stack_dict_blocks {
	struct stack_dict_block frames, nodes, lines;
};

void stack_dict_new(struct stack_dict *d, struct stack_dict_blocks *ret);
void stack_dict_blocks_done(struct stack_dict_blocks *b);
void stack_dict_saved(struct stack_dict *d);

/* Forgets the nodes and frames that have become holes in the file (0 in the arrays, which cover all saved ones), so
 * that they get new numbers if they occur again. */
void stack_dict_make_holes(struct stack_dict *d, const uint8_t *nodes, const uint8_t *frames);

#endif

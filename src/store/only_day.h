/* only_day.h: the values of a single day as stored in its file: stacks by number, and names only on demand.
 *
 * Most queries are about one day, and pictures show only a few of its stacks. */
#ifndef STORE_ONLY_DAY_H
#define STORE_ONLY_DAY_H

#include "stack_tree.h"
#include "stack_values.h"

/* Moves the tree, which is then empty, and its values by node (NULL: none) into `ret`. `facts` is a profile without
 * nodes, which `ret` owns, too. Without `lines`, the lines of nodes are hidden. */
void only_day_take(struct stack_tree *tree, int64_t *self, struct profile *facts, bool lines, struct stack_values *ret);

#endif

/* name_tree.h: one value of a profile as a tree of names, which is all that Pyroscope's flame graphs know.
 *
 * Functions of the same name below the same caller are one node, whatever their files are; children are sorted by name,
 * bytewise, and each node has a total above zero. Names are UTF-8 and not empty.
 */
#ifndef PYROSCOPE_NAME_TREE_H
#define PYROSCOPE_NAME_TREE_H

#include "buf.h"
#include "stack_values.h"

#define NAME_TREE_ROOT	0u
#define NAME_TREE_OTHER "other"		/* nodes left out below another */

struct name_node {
	uint32_t name;			/* a string of `names`; of the root 0, "total" */
	int64_t self, total;
	uint32_t child, next;		/* the first one, the next of the same parent; 0: none */
};

struct name_tree {
	struct intern names;
	struct name_node *nodes;
	uint32_t count;			/* at least 1 */
};

/* Values (without any: an empty tree), and only the stacks that begin with the `depth` names of `call_site`. */
struct name_tree_source {
	const struct stack_values *values;
	const char *const *call_site;
	size_t depth;
};

/* Values below zero count as zero. Nodes smaller than the `most` largest ones have their totals, but no children (UINT32_MAX: each has
 * its children). */
void name_tree_init(struct name_tree *t, const struct name_tree_source *of, uint32_t most);

/* Two that are compared: nodes with the same names from the root on are one, as large as the larger of both. */
void name_tree_init_pair(struct name_tree trees[2], const struct name_tree_source of[2], uint32_t most);

/* The next child by name of either tree, 0 where a tree lacks it. `at` has the next one of each tree, 0 at its end, and moves on. False
 * when both are at their ends. */
bool name_tree_next_pair(const struct name_tree *const trees[2], uint32_t at[2], uint32_t ret[2]);

void name_tree_done(struct name_tree *t);

/* The least total of a node that is shown when at most `most` (above 0) are; 0 if all are. The other one reorders these totals. */
int64_t name_tree_least(const struct name_tree *t, uint32_t most);
int64_t name_tree_least_of(int64_t *totals, size_t count, uint32_t most);

/* The tree in Pyroscope's own form: nodes as length of the name, name, self, number of children, preorder. */
void name_tree_put(const struct name_tree *t, uint32_t most, struct buf *out);

#endif

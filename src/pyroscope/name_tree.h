/* name_tree.h: one value of a profile as a tree of names, the only thing that Pyroscope's flame graphs show.
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
	uint32_t name;			/* index into `names`; the root's is 0, "total" */
	int64_t self, total;
	uint32_t child, next;		/* first child, next sibling; 0: none */
};

struct name_tree {
	struct intern names;
	struct name_node *nodes;
	uint32_t count;			/* at least 1 */
};

/* Values (none: an empty tree). Only stacks that begin with the `depth` names of `call_site` count. */
struct name_tree_source {
	const struct stack_values *values;
	const char *const *call_site;
	size_t depth;
};

/* Negative values count as zero. Only the `most` largest nodes have children; the others have totals only
 * (UINT32_MAX: all have children). */
void name_tree_init(struct name_tree *t, const struct name_tree_source *of, uint32_t most);

/* Builds two trees for comparison: nodes with the same names from the root on count as one, as large as the larger of
 * the two. */
void name_tree_init_pair(struct name_tree trees[2], const struct name_tree_source of[2], uint32_t most);

/* Takes the next child by name from either tree; `ret` is 0 for a tree that lacks it. `at` holds the next sibling in
 * each tree, 0 at its end, and is advanced. False when both have ended. */
bool name_tree_next_pair(const struct name_tree *const trees[2], uint32_t at[2], uint32_t ret[2]);

void name_tree_done(struct name_tree *t);

/* Returns the name under which a function is shown: UTF-8 without NUL, never empty, which clients would take for the root's name,
 * and NAME_TREE_OTHER for PROFILE_PRUNED. It may point into `safe`, which is overwritten. */
struct str name_tree_name(struct str name, struct buf *safe);

/* Returns the smallest total of a shown node if at most `most` (above 0) nodes are shown; 0 if all are.
 * name_tree_least_of reorders `totals`. */
int64_t name_tree_least(const struct name_tree *t, uint32_t most);
int64_t name_tree_least_of(int64_t *totals, size_t count, uint32_t most);

/* Appends the tree in Pyroscope's own format: nodes in preorder, each as length of the name, name, self, number of
 * children. */
void name_tree_put(const struct name_tree *t, uint32_t most, struct buf *out);

#endif

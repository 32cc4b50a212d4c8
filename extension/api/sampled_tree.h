/* sampled_tree.h: merges tries of samples into a finished tree. */
#ifndef STROBE_SAMPLED_TREE_H
#define STROBE_SAMPLED_TREE_H

#include "call_tree.h"
#include "trie.h"

/* Merges `count` tries into a tree with its own references. Its values are samples and the time derived from the
 * period. `lost` samples, which found no room, become a node "[folded]". NULL without memory. */
struct call_tree *sampled_tree(const struct trie *tries, unsigned count, uint64_t lost, uint64_t period_ns, bool cpu);

#endif

/* sampled_tree.h: tries of samples as one finished tree. */
#ifndef STROBE_SAMPLED_TREE_H
#define STROBE_SAMPLED_TREE_H

#include "call_tree.h"
#include "trie.h"

/* Merges `count` tries into a tree with its own references, whose values are samples and, by the period, time. `lost`
 * samples, for which there was no room, become a node "[folded]". NULL without memory. */
struct call_tree *sampled_tree(const struct trie *tries, unsigned count, uint64_t lost, uint64_t period_ns, bool cpu);

#endif

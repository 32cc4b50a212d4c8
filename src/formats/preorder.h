/* preorder.h: lists the nodes of a profile in preorder: each before its children, subtrees contiguous. */
#ifndef FORMATS_PREORDER_H
#define FORMATS_PREORDER_H

#include "profile.h"

/* Returns `node_count` nodes, siblings in the order of their numbers; the first is the root. The caller frees. */
uint32_t *preorder_new(const struct profile *p);

#endif

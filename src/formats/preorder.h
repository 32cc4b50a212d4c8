/* preorder.h: the nodes of a profile as a walk meets them: each before its children, a subtree in one piece. */
#ifndef FORMATS_PREORDER_H
#define FORMATS_PREORDER_H

#include "profile.h"

/* `node_count` nodes, siblings in the order of their numbers; the first is the root. The caller frees. */
uint32_t *preorder_new(const struct profile *p);

#endif

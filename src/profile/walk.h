/* walk.h: walks a profile's tree depth first, without recursion at any depth.
 *
 *	walk_init(&w, p);
 *	while (walk_next(&w))
 *		if (w.leaving) … else …		each node but the root is entered once and left once
 *	walk_done(&w);
 */
#ifndef PROFILE_WALK_H
#define PROFILE_WALK_H

#include "profile.h"

struct walk {
	const struct profile *p;
	uint32_t *first_child, *next_sibling;	/* by node; 0: none */
	uint32_t node;
	bool leaving;
};

void walk_init(struct walk *w, const struct profile *p);
bool walk_next(struct walk *w);
void walk_done(struct walk *w);

#endif

/* line_places.h: frames split by executed line, for formats in which a function and its line are one entry. */
#ifndef FORMATS_LINE_PLACES_H
#define FORMATS_LINE_PLACES_H

#include "profile.h"

/* If no node has a line, the places are the frames, and `nodes` is NULL. */
struct line_places {
	struct line_place { uint32_t frame, line; } *list;
	uint32_t count;
	uint32_t *nodes;	/* by node: its place */
};

void line_places_init(struct line_places *l, const struct profile *p);
void line_places_done(struct line_places *l);

static inline uint32_t line_place_of(const struct line_places *l, const struct profile *p, uint32_t node)
{
	return l->nodes ? l->nodes[node] : p->node_frames[node];
}

#endif

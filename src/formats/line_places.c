/* line_places.c: numbers places in the order of their nodes. */
#include "line_places.h"
#include "map.h"
#include "mem.h"

static void list_frames(struct line_places *l, const struct profile *p)
{
	l->list = xmalloc(((size_t)p->frame_count + 1) * sizeof(*l->list));
	for (; l->count < p->frame_count; l->count++)
		l->list[l->count] = (struct line_place){ l->count, p->frames[l->count].line };
}

void line_places_init(struct line_places *l, const struct profile *p)
{
	size_t capacity = 0;
	struct map known;

	*l = (struct line_places){ 0 };
	if (!p->node_lines) {
		list_frames(l, p);
		return;
	}
	map_init(&known);
	l->nodes = xcalloc(p->node_count, sizeof(*l->nodes));
	for (uint32_t n = 1; n < p->node_count; n++) {
		uint32_t *slot = map_slot(&known, map_pair(p->node_frames[n], p->node_lines[n]));

		if (*slot == MAP_NONE) {
			*slot = l->count;
			GROW(&l->list, &capacity, (size_t)l->count + 1);
			l->list[l->count++] = (struct line_place){ p->node_frames[n], p->node_lines[n] };
		}
		l->nodes[n] = *slot;
	}
	map_done(&known);
}

void line_places_done(struct line_places *l)
{
	free(l->list);
	free(l->nodes);
}

/* label_groups.c: numbers sets of labels by their text. */

#include "label_groups.h"

#include "buf.h"
#include "mem.h"

#include <xxhash.h>

void label_groups_init(struct label_groups *g)
{
	*g = (struct label_groups){ 0 };
	map_init(&g->by_text);
}

void label_groups_done(struct label_groups *g)
{
	for (size_t i = 0; i < g->count; i++)
		labels_done(&g->labels[i]);
	free(g->labels);
	map_done(&g->by_text);
}

static uint64_t hash_of(const struct labels *labels)
{
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	labels_put(labels, &text);
	return XXH3_64bits(text.data, text.size);
}

uint32_t label_groups_get(const struct label_groups *g, const struct labels *labels)
{
	uint32_t place = map_get(&g->by_text, hash_of(labels));

	return place == MAP_NONE ? UINT32_MAX : place;
}

uint32_t label_groups_find(struct label_groups *g, const struct labels *labels)
{
	uint32_t *place = map_slot(&g->by_text, hash_of(labels));

	if (*place == MAP_NONE) {
		GROW(&g->labels, &g->capacity, g->count + 1);
		labels_init(&g->labels[g->count]);
		labels_copy(&g->labels[g->count], labels);
		*place = (uint32_t)g->count++;
	}
	return *place;
}

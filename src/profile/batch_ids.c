/* batch_ids.c: keeps an ordered array and a map of the same ids. */
#include "batch_ids.h"

#include "mem.h"

#include <assert.h>
#include <stdlib.h>

void batch_ids_init(struct batch_ids *b)
{
	*b = (struct batch_ids){ 0 };
	map_init(&b->known);
}

void batch_ids_done(struct batch_ids *b)
{
	free(b->ids);
	map_done(&b->known);
	*b = (struct batch_ids){ 0 };
}

bool batch_ids_has(const struct batch_ids *b, uint64_t id)
{
	return id && map_get(&b->known, id) != MAP_NONE;
}

void batch_ids_add(struct batch_ids *b, uint64_t id)
{
	if (!id || batch_ids_has(b, id))
		return;
	if (b->count == BATCH_IDS_MAX)
		batch_ids_keep(b, NULL, 0, BATCH_IDS_MAX / 2);
	GROW(&b->ids, &b->capacity, b->count + 1);
	b->ids[b->count++] = id;
	map_set(&b->known, id, 1);
	assert(b->known.count == b->count);
}

void batch_ids_keep(struct batch_ids *b, const uint64_t *open, size_t open_count, size_t last)
{
	size_t before = b->count;
	struct map is_open;

	if (before <= last)
		return;
	map_init(&is_open);
	for (size_t i = 0; i < open_count; i++)
		map_set(&is_open, open[i], 1);
	b->count = 0;
	map_clear(&b->known);		/* maps do not support removal */
	for (size_t i = 0; i < before; i++) {
		if (i + last < before && map_get(&is_open, b->ids[i]) == MAP_NONE)
			continue;
		b->ids[b->count++] = b->ids[i];
		map_set(&b->known, b->ids[i], 1);
	}
	map_done(&is_open);
}

/* line_dict.c: numbers for series, frames and stacks. */
#include "line_dict.h"

#include "mem.h"
#include "strobe_wire.h"

#include <assert.h>
#include <string.h>
#include <sys/random.h>

static void init(struct line_dict *d)
{
	d->node_count = 1;
	intern_init(&d->names);
	intern_init(&d->series);
	map_init(&d->stack_map);
	map_init(&d->child_map);
	map_init(&d->frame_map);
}

static void forget(struct line_dict *d)
{
	free(d->nodes);
	free(d->frame_names);
	free(d->stacks);
	intern_done(&d->names);
	intern_done(&d->series);
	map_done(&d->stack_map);
	map_done(&d->child_map);
	map_done(&d->frame_map);
	*d = (struct line_dict){ .generation = d->generation, .seed = d->seed };
}

struct line_dict *line_dict_new(void)
{
	struct line_dict *d = xcalloc(1, sizeof(*d));

	d->generation = 1;
	if (getrandom(&d->seed, sizeof(d->seed), 0) != sizeof(d->seed))
		d->seed = (uintptr_t)d;
	init(d);
	return d;
}

struct line_dict *line_dict_free(struct line_dict *d)
{
	if (d)
		forget(d);
	free(d);
	return NULL;
}

const struct line_dict_stack *line_dict_find(const struct line_dict *d, uint64_t hash)
{
	uint32_t i = map_get(&d->stack_map, hash);

	assert(i == MAP_NONE || i < d->stack_count);
	return i == MAP_NONE ? NULL : &d->stacks[i];
}

bool line_dict_next_name(const char **at, const char *end, struct str *ret)
{
	while (*at < end) {
		const char *semicolon = memchr(*at, ';', (size_t)(end - *at)), *stop = semicolon ? semicolon : end;

		*ret = (struct str){ *at, (size_t)(stop - *at) };
		*at = semicolon ? semicolon + 1 : end;
		if (ret->n > STROBE_WIRE_STRING)
			ret->n = STROBE_WIRE_STRING;
		if (ret->n)
			return true;
	}
	return false;
}

static uint32_t add_frame(struct line_dict *d, uint32_t series, struct str name)
{
	uint32_t number = intern_add(&d->names, name.p, name.n);
	uint32_t *slot = map_slot(&d->frame_map, map_pair(series, number));

	assert(series < d->series.count);
	if (*slot != MAP_NONE)
		return *slot;
	*slot = d->frame_count;
	GROW(&d->frame_names, &d->frame_capacity, d->frame_count + 1);
	d->frame_names[d->frame_count] = number;
	return d->frame_count++;
}

/* A node's first child usually has the next number, so only other children are in the map. */
static uint32_t add_node(struct line_dict *d, uint32_t parent, uint32_t frame)
{
	uint32_t next = parent + 1, known;

	assert(parent < d->node_count && frame < d->frame_count);
	if (next < d->node_count && d->nodes[next].parent == parent && d->nodes[next].frame == frame)
		return next;
	known = map_get(&d->child_map, map_pair(parent, frame));
	if (known != MAP_NONE)
		return known;
	if (next != d->node_count)
		map_set(&d->child_map, map_pair(parent, frame), d->node_count);
	GROW(&d->nodes, &d->node_capacity, d->node_count + 1);
	d->nodes[d->node_count] = (struct line_dict_node){ parent, frame };
	return d->node_count++;
}

static bool is_full(const struct line_dict *d)
{
	/* Frames and series are never more than nodes. Stacks have their own limit, since one may end inside
	 * another. */
	return d->node_count >= LINE_DICT_NODES || d->stack_count >= LINE_DICT_NODES ||
	       d->names.bytes.bytes + d->series.bytes.bytes > LINE_DICT_NAME_BYTES;
}

struct line_dict_stack line_dict_add(struct line_dict *d, uint64_t hash, const struct buf *key, struct str stack)
{
	const char *at = stack.p, *end = stack.p + stack.n;
	struct line_dict_stack s = { 0 };
	struct str name;

	if (is_full(d)) {
		forget(d);
		d->generation++;
		init(d);
	}
	s.series = intern_add(&d->series, key->data, key->size);
	while (line_dict_next_name(&at, end, &name))
		s.leaf = add_node(d, s.leaf, add_frame(d, s.series, name));
	GROW(&d->stacks, &d->stack_capacity, d->stack_count + 1);
	d->stacks[d->stack_count] = s;
	map_set(&d->stack_map, hash, d->stack_count++);
	return s;
}

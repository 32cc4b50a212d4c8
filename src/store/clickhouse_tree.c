/* clickhouse_tree.c: turns stacks from answers and from the cache into nodes, in an order that makes it fast. */
#include "clickhouse_stack_row.h"
#include "clickhouse_stacks.h"
#include "mem.h"
#include <assert.h>
#include <string.h>

static uint32_t unknown_frame(struct profile *p)
{
	return profile_frame(p, profile_given_name((struct str){ "", 0 }), (struct str){ "", 0 }, 0);
}

uint32_t clickhouse_unknown_stack(struct profile *p)
{
	return profile_child(p, PROFILE_ROOT, unknown_frame(p));
}

/* A stack, as the list of frames and lines from its root. */
struct path {
	const uint8_t *steps;			/* 8 bytes each: frame, line */
	uint64_t name;
	uint32_t count;
};

/* All rows of the answers, without duplicates, and the stacks of the cache. */
struct placing {
	struct profile *profile;
	const struct clickhouse_cache *cache;
	uint32_t *cached_frames;		/* the profile's, by the cache's numbers; MAP_NONE: not added yet */
	struct map by_name;
	struct map *nodes;
	struct stack_row *rows;
	size_t count, capacity;
	struct path *paths;
	size_t path_count, path_capacity;
	uint64_t collisions;
};

static uint32_t place_cached_frame(struct placing *g, uint32_t number)
{
	struct cached_frame f;

	assert(number < clickhouse_cache_frames(g->cache));
	if (g->cached_frames[number] == MAP_NONE) {
		f = clickhouse_cache_frame(g->cache, number);
		g->cached_frames[number] = profile_frame(g->profile, f.name, f.file, f.line);
	}
	return g->cached_frames[number];
}

/* Maps the shard's frame numbers to frames of the profile; MAP_NONE: missing from its tables. */
static uint32_t *place_frames(struct placing *g, const struct clickhouse_stacks *t)
{
	size_t count = t->numbers.count;
	uint32_t *ret = xmalloc((count + 1) * sizeof(*ret));
	struct row_reader r = row_reader_of(&t->frames);

	assert(!count || t->cache_numbers);
	for (size_t i = 0; i < count; i++)
		ret[i] = t->cache_numbers[i] == UINT32_MAX ? MAP_NONE : place_cached_frame(g, t->cache_numbers[i]);
	while (row_more(&r)) {
		uint32_t number = map_get(&t->numbers, row_get(&r, 8));
		struct str name = row_get_string(&r), file = row_get_string(&r);
		uint32_t line = (uint32_t)row_get(&r, 4);

		if (!r.bad && number != MAP_NONE && ret[number] == MAP_NONE)
			ret[number] = profile_frame(g->profile, name, file, line);
	}
	return ret;
}

static void add_path(struct placing *g, uint64_t name, const uint8_t *steps, uint32_t count)
{
	GROW(&g->paths, &g->path_capacity, g->path_count + 1);
	g->paths[g->path_count++] = (struct path){ steps, name, count };
}

static void put_step(uint8_t *at, uint32_t frame, uint32_t line)
{
	strobe_wire_put_le(at, frame | (uint64_t)line << 32, 8);
}

/* --- Nodes in the cache --- */

#define WANTED	(MAP_NONE - 1)

/* In the cache, parents precede their children and nodes are unique, so two passes in its order suffice, without any
 * lookups. */
static void append_wanted(struct placing *g, const struct cached_node *nodes, uint32_t *made, uint32_t end)
{
	assert(g->profile->node_count == 1);
	assert(end > 0 && (end == 1 || nodes));
	for (uint32_t i = end - 1; i; i--)
		if (made[i] == WANTED)
			made[nodes[i].parent] = WANTED;
	made[0] = PROFILE_ROOT;
	for (uint32_t i = 1; i < end; i++) {
		const struct cached_node *n = &nodes[i];

		if (made[i] == WANTED)
			made[i] = profile_append_at(g->profile, made[n->parent], place_cached_frame(g, n->frame), n->line);
	}
}

/* Chooses nodes with or without lines, as the profile requires. Returns the end of their numbers. */
static uint32_t choose_nodes(const struct placing *g, struct clickhouse_stacks *const *t, size_t count, const struct cached_node *nodes)
{
	uint32_t end = 1;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < t[i]->cached_count; k++) {
			struct clickhouse_cached *c = &t[i]->cached[k];

			c->node = g->profile->keeps_lines ? c->node : nodes[c->node].plain;
			end = c->node >= end ? c->node + 1 : end;
		}
	return end;
}

static void place_cached(struct placing *g, struct clickhouse_stacks *const *t, size_t count)
{
	const struct cached_node *nodes = g->cache ? clickhouse_cache_nodes(g->cache) : NULL;
	uint32_t end = choose_nodes(g, t, count, nodes);
	_cleanup_(freep) uint32_t *made = xmalloc(end * sizeof(*made));

	memset(made, 0xff, end * sizeof(*made));
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < t[i]->cached_count; k++)
			made[t[i]->cached[k].node] = WANTED;
	append_wanted(g, nodes, made, end);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < t[i]->cached_count; k++)
			map_set(g->nodes, t[i]->cached[k].name, made[t[i]->cached[k].node]);
}

/* Converts frames of the shard to frames of the profile, with their lines. Returns false if one of them is
 * unknown. */
static bool make_steps(const struct stack_row *row, const uint32_t *frames, bool lines)
{
	bool known = true;

	for (uint32_t i = 0; i < row->frame_count; i++) {
		uint32_t frame = frames[strobe_wire_get_le(frame_at(row, i), 8)];

		known &= frame != MAP_NONE;
		put_step(frame_at(row, i), frame, lines ? line_of(row, i) : 0);
	}
	return known;
}

/* The table may contain duplicates of a row until it merges its parts, and one per month. */
static void collect(struct placing *g, const struct buf *answer, const uint32_t *frames)
{
	struct row_reader r = row_reader_of(answer);
	struct stack_row row;

	while (row_more(&r) && get_stack(&r, &row)) {
		uint32_t *slot = map_slot(&g->by_name, row.name);

		if (*slot != MAP_NONE) {
			g->collisions += g->rows[*slot].proof != row.proof;
			continue;
		}
		*slot = (uint32_t)g->count;
		if (make_steps(&row, frames, g->profile->keeps_lines) && !row.base && map_get(g->nodes, row.name) == MAP_NONE)
			add_path(g, row.name, row.frames, row.frame_count);
		GROW(&g->rows, &g->capacity, g->count + 1);
		g->rows[g->count++] = row;
	}
}

static uint32_t place_below(struct placing *g, const struct stack_row *row, uint32_t node)
{
	for (uint32_t i = 0; i < row->frame_count; i++) {
		uint64_t step = strobe_wire_get_le(frame_at(row, i), 8);
		uint32_t frame = (uint32_t)step;

		node = profile_child_at(g->profile, node, frame == MAP_NONE ? unknown_frame(g->profile) : frame, (uint32_t)(step >> 32));
	}
	return node;
}

/* Returns the node of a row's base; MAP_NONE while that is a row that has not been placed yet. */
static uint32_t base_of(struct placing *g, const struct stack_row *row)
{
	uint32_t node;

	if (!row->base)
		return PROFILE_ROOT;
	node = map_get(g->nodes, row->base);
	if (node == MAP_NONE && map_get(&g->by_name, row->base) == MAP_NONE)
		return clickhouse_unknown_stack(g->profile);
	return node;
}

/* Places a row after all rows that it continues. */
static void place(struct placing *g, uint32_t number)
{
	_cleanup_(freep) uint32_t *chain = NULL;
	size_t n = 0, capacity = 0;

	for (;;) {
		const struct stack_row *row = &g->rows[number];
		uint32_t base = base_of(g, row);

		if (base == MAP_NONE && n < g->count) {		/* a cycle of rows is corrupt data */
			GROW(&chain, &capacity, n + 1);
			chain[n++] = number;
			number = map_get(&g->by_name, row->base);
			continue;
		}
		map_set(g->nodes, row->name, place_below(g, row, base == MAP_NONE ? PROFILE_ROOT : base));
		if (!n)
			return;
		number = chain[--n];
	}
}

/* --- Sorting --- */

/* Any order will do in which paths with a common beginning are adjacent. */
static int compare_paths(const void *x, const void *y)
{
	const struct path *a = x, *b = y;
	int by_steps = memcmp(a->steps, b->steps, 8 * (size_t)(a->count < b->count ? a->count : b->count));

	return by_steps ? by_steps : (a->count > b->count) - (a->count < b->count);
}

static inline uint64_t step_of(const struct path *p, uint32_t i)
{
	return strobe_wire_get_le(p->steps + 8 * (size_t)i, 8);
}

/* Returns the number of steps that two paths share. */
static uint32_t common(const struct path *a, const struct path *b)
{
	uint32_t most = a->count < b->count ? a->count : b->count, i = 0;

	while (i < most && step_of(a, i) == step_of(b, i))
		i++;
	return i;
}

static uint32_t place_step(struct placing *g, bool append, uint32_t parent, uint64_t step)
{
	uint32_t frame = (uint32_t)step, line = (uint32_t)(step >> 32);

	return append ? profile_append_at(g->profile, parent, frame, line) : profile_child_at(g->profile, parent, frame, line);
}

/* In sorted order, a stack shares its first nodes with the previous stack, and the others are new: no lookups are
 * needed, unless the cache had some of them. */
static void place_in_order(struct placing *g)
{
	uint32_t nodes[CLICKHOUSE_STACK + 1] = { PROFILE_ROOT };
	bool append = g->profile->node_count == 1;

	if (g->path_count)
		qsort(g->paths, g->path_count, sizeof(*g->paths), compare_paths);
	for (size_t i = 0; i < g->path_count; i++) {
		const struct path *p = &g->paths[i];

		for (uint32_t k = i ? common(p - 1, p) : 0; k < p->count; k++)
			nodes[k + 1] = place_step(g, append, nodes[k], step_of(p, k));
		map_set(g->nodes, p->name, nodes[p->count]);
	}
}

uint64_t clickhouse_place_stacks(const struct clickhouse_cache *c, struct clickhouse_stacks *const *t, size_t count, struct profile *p,
				 struct map *nodes)
{
	struct placing g = { .profile = p, .cache = c, .nodes = nodes };
	size_t cached_frames = clickhouse_cache_frames(c);

	g.cached_frames = xmalloc((cached_frames + 1) * sizeof(*g.cached_frames));
	memset(g.cached_frames, 0xff, (cached_frames + 1) * sizeof(*g.cached_frames));
	place_cached(&g, t, count);
	for (size_t i = 0; i < count; i++) {
		_cleanup_(freep) uint32_t *frames = place_frames(&g, t[i]);

		for (size_t k = 0; k < t[i]->count; k++)
			collect(&g, &t[i]->stacks[k], frames);
	}
	place_in_order(&g);
	for (size_t i = 0; i < g.count; i++)
		if (map_get(nodes, g.rows[i].name) == MAP_NONE)
			place(&g, (uint32_t)i);
	map_done(&g.by_name);
	free(g.cached_frames);
	free(g.rows);
	free(g.paths);
	return g.collisions;
}

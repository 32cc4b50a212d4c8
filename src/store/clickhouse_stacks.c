/* clickhouse_stacks.c: asks for the rows of stacks and frames, and builds the tree. */
#include "clickhouse_stacks.h"
#include "clickhouse_batch.h"
#include "clickhouse_wire.h"
#include "mem.h"
#include <assert.h>
#include <string.h>

/* One row of `stacks`, in place. */
struct stack_row {
	uint64_t name, proof, base;
	const uint8_t *frames, *lines;		/* 8 bytes each, 4 bytes each */
	uint32_t frame_count, line_count;
};

static bool get_stack(struct row_reader *r, struct stack_row *ret)
{
	size_t frames, lines;

	ret->name = row_get(r, 8);
	ret->proof = row_get(r, 8);
	ret->base = row_get(r, 8);
	frames = row_get_count(r, 8);
	ret->frames = r->at.p;
	r->at.p += frames * 8;
	lines = row_get_count(r, 4);
	ret->lines = r->at.p;
	r->at.p += lines * 4;
	ret->frame_count = (uint32_t)frames;
	ret->line_count = (uint32_t)lines;
	return !r->bad && frames > 0 && frames <= CLICKHOUSE_STACK && (!lines || lines == frames);
}

static inline uint64_t frame_of(const struct stack_row *row, uint32_t i)
{
	return strobe_wire_get_le(row->frames + 8 * (size_t)i, 8);
}

static inline uint32_t line_of(const struct stack_row *row, uint32_t i)
{
	return row->line_count ? (uint32_t)strobe_wire_get_le(row->lines + 4 * (size_t)i, 4) : 0;
}

/* --- Asking --- */

static int ask_stacks(struct clickhouse_store *s, unsigned shard, const struct store_query *q, const struct buf *names,
		      struct buf *ret, struct err *err)
{
	_cleanup_(buf_done) struct buf sql = { 0 };
	struct clickhouse_request r = { .table = "stack UInt64", .rows = names };

	buf_init(&sql);
	buf_puts(&sql, "SELECT stack, proof, base, frames, lines FROM stacks WHERE 1");
	sql_put_months(&sql, q);
	buf_puts(&sql, " AND stack IN (SELECT stack FROM given) FORMAT RowBinary");
	r.sql = sql.data;
	return clickhouse_ask(s, shard, &r, ret, err);
}

/* Names of an answer that have not been requested yet, and of its frames that are new. */
static void note_parts(const struct buf *answer, struct map *asked, struct map *known_frames, struct buf *bases,
		       struct buf *frames)
{
	struct row_reader r = row_reader_of(answer);
	struct stack_row row;

	while (row_more(&r) && get_stack(&r, &row)) {
		uint32_t *slot = row.base ? map_slot(asked, row.base) : NULL;

		if (slot && *slot == MAP_NONE) {
			*slot = 1;
			row_put(bases, row.base, 8);
		}
		for (uint32_t i = 0; i < row.frame_count; i++) {
			slot = map_slot(known_frames, frame_of(&row, i));
			if (*slot == MAP_NONE)
				row_put(frames, frame_of(&row, i), 8);
			*slot = 1;
		}
	}
}

static int ask_frames(struct clickhouse_store *s, unsigned shard, const struct store_query *q, const struct buf *names,
		      struct buf *ret, struct err *err)
{
	_cleanup_(buf_done) struct buf sql = { 0 };
	struct clickhouse_request r = { .table = "frame UInt64", .rows = names };

	buf_init(&sql);
	buf_puts(&sql, "SELECT frame, name, file, line FROM frames WHERE 1");
	sql_put_months(&sql, q);
	buf_puts(&sql, " AND frame IN (SELECT frame FROM given) FORMAT RowBinary");
	r.sql = sql.data;
	return names->size ? clickhouse_ask(s, shard, &r, ret, err) : 0;
}

static void note_asked(struct map *asked, const struct buf *names)
{
	for (size_t i = 0; i + 8 <= names->size; i += 8)
		map_set(asked, strobe_wire_get_le((const uint8_t *)names->data + i, 8), 1);
}

/* Stacks above CLICKHOUSE_STACK frames continue others, which are requested in the next round. */
static int ask_rounds(struct clickhouse_store *s, unsigned shard, const struct store_query *q, const struct buf *names,
		      struct clickhouse_stacks *ret, struct buf *frames, struct err *err)
{
	_cleanup_(map_done) struct map asked = { 0 }, known_frames = { 0 };
	_cleanup_(buf_done) struct buf want = { 0 };
	int rc = 0;

	buf_init(&want);
	buf_put(&want, names->data, names->size);
	note_asked(&asked, names);
	while (rc >= 0 && want.size) {
		struct buf *answer;

		GROW(&ret->stacks, &ret->capacity, ret->count + 1);
		answer = &ret->stacks[ret->count++];
		buf_init(answer);
		rc = ask_stacks(s, shard, q, &want, answer, err);
		buf_reset(&want);
		if (rc >= 0)
			note_parts(answer, &asked, &known_frames, &want, frames);
	}
	return rc;
}

int clickhouse_fetch_stacks(struct clickhouse_store *s, unsigned shard, const struct store_query *q,
			    const struct buf *names, struct clickhouse_stacks *ret, struct err *err)
{
	_cleanup_(buf_done) struct buf frames = { 0 };
	int rc;

	buf_init(&frames);
	buf_init(&ret->frames);
	rc = ask_rounds(s, shard, q, names, ret, &frames, err);
	return rc < 0 ? rc : ask_frames(s, shard, q, &frames, &ret->frames, err);
}

void clickhouse_stacks_done(struct clickhouse_stacks *t)
{
	for (size_t i = 0; i < t->count; i++)
		buf_done(&t->stacks[i]);
	free(t->stacks);
	buf_done(&t->frames);
	*t = (struct clickhouse_stacks){ 0 };
}

/* --- Building --- */

static uint32_t unknown_frame(struct profile *p)
{
	return profile_frame(p, profile_given_name((struct str){ "", 0 }), (struct str){ "", 0 }, 0);
}

uint32_t clickhouse_unknown_stack(struct profile *p)
{
	return profile_child(p, PROFILE_ROOT, unknown_frame(p));
}

static void place_frames(const struct buf *answer, struct profile *p, struct map *frames)
{
	struct row_reader r = row_reader_of(answer);

	while (row_more(&r)) {
		uint64_t frame = row_get(&r, 8);
		struct str name = row_get_string(&r), file = row_get_string(&r);
		uint32_t line = (uint32_t)row_get(&r, 4);

		if (!r.bad && map_get(frames, frame) == MAP_NONE)
			map_set(frames, frame, profile_frame(p, name, file, line));
	}
}

/* All rows of the answers, each name once. */
struct placing {
	struct profile *profile;
	struct map frames, by_name;
	struct map *nodes;
	struct stack_row *rows;
	size_t count, capacity;
	uint64_t collisions;
};

/* The table may have a row twice until it has merged its parts, and each month has its own. */
static void collect(struct placing *g, const struct buf *answer)
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
		if (!g->profile->keeps_lines)
			row.line_count = 0;
		GROW(&g->rows, &g->capacity, g->count + 1);
		g->rows[g->count++] = row;
	}
}

static uint32_t place_below(struct placing *g, const struct stack_row *row, uint32_t node)
{
	for (uint32_t i = 0; i < row->frame_count; i++) {
		uint32_t frame = map_get(&g->frames, frame_of(row, i));

		node = profile_child_at(g->profile, node, frame == MAP_NONE ? unknown_frame(g->profile) : frame, line_of(row, i));
	}
	return node;
}

/* The node of a base; MAP_NONE while it is a row that is still to be placed. */
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

/* With all that the row continues, the first of them first. */
static void place(struct placing *g, uint32_t number)
{
	_cleanup_(freep) uint32_t *chain = NULL;
	size_t n = 0, capacity = 0;

	for (;;) {
		const struct stack_row *row = &g->rows[number];
		uint32_t base = base_of(g, row);

		if (base == MAP_NONE && n < g->count) {		/* rows in a circle are none of ours */
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

/* --- In order --- */

/* A stack as numbers of frames of the profile, each followed by its line. */
struct path {
	const uint32_t *steps;
	uint32_t size;				/* of `steps` */
	uint32_t row;
};

struct paths {
	struct path *list;
	uint32_t *steps;
	size_t count;
};

/* False if nothing but its frames and lines tells nodes of the row from others. */
static bool put_steps(const struct placing *g, const struct stack_row *row, uint32_t *steps)
{
	if (row->base)
		return false;
	for (uint32_t i = 0; i < row->frame_count; i++) {
		steps[2 * i] = map_get(&g->frames, frame_of(row, i));
		if (steps[2 * i] == MAP_NONE)
			return false;
		steps[2 * i + 1] = line_of(row, i);
	}
	return true;
}

static void find_paths(const struct placing *g, struct paths *ret)
{
	size_t steps = 0;
	uint32_t *at;

	for (size_t i = 0; i < g->count; i++)
		steps += 2 * (size_t)g->rows[i].frame_count;
	ret->list = xmalloc((g->count + 1) * sizeof(*ret->list));
	ret->steps = at = xmalloc((steps + 1) * sizeof(*at));
	for (size_t i = 0; i < g->count; i++) {
		if (!put_steps(g, &g->rows[i], at))
			continue;
		ret->list[ret->count++] = (struct path){ at, 2 * g->rows[i].frame_count, (uint32_t)i };
		at += 2 * g->rows[i].frame_count;
	}
}

/* Any order in which paths with a common beginning are neighbours. */
static int compare_paths(const void *x, const void *y)
{
	const struct path *a = x, *b = y;
	int by_steps = memcmp(a->steps, b->steps, (a->size < b->size ? a->size : b->size) * sizeof(*a->steps));

	return by_steps ? by_steps : (a->size > b->size) - (a->size < b->size);
}

/* The number of frames, with their lines, that two paths have in common. */
static uint32_t common(const struct path *a, const struct path *b)
{
	uint32_t most = a->size < b->size ? a->size : b->size, i = 0;

	while (i < most && a->steps[i] == b->steps[i])
		i++;
	return i / 2;
}

/* In order, a stack shares its first nodes with the one before, and the others are new: nothing is looked up. */
static void place_in_order(struct placing *g)
{
	uint32_t nodes[CLICKHOUSE_STACK + 1] = { PROFILE_ROOT };
	struct paths paths = { 0 };

	assert(g->profile->node_count == 1);
	find_paths(g, &paths);
	qsort(paths.list, paths.count, sizeof(*paths.list), compare_paths);
	for (size_t i = 0; i < paths.count; i++) {
		const struct path *p = &paths.list[i];

		for (uint32_t k = i ? common(p - 1, p) : 0; k < p->size / 2; k++)
			nodes[k + 1] = profile_append_at(g->profile, nodes[k], p->steps[2 * k], p->steps[2 * k + 1]);
		map_set(g->nodes, g->rows[p->row].name, nodes[p->size / 2]);
	}
	free(paths.list);
	free(paths.steps);
}

uint64_t clickhouse_place_stacks(const struct clickhouse_stacks *const *t, size_t count, struct profile *p, struct map *nodes)
{
	struct placing g = { .profile = p, .nodes = nodes };

	for (size_t i = 0; i < count; i++)
		place_frames(&t[i]->frames, p, &g.frames);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < t[i]->count; k++)
			collect(&g, &t[i]->stacks[k]);
	place_in_order(&g);
	for (size_t i = 0; i < g.count; i++)
		if (map_get(nodes, g.rows[i].name) == MAP_NONE)
			place(&g, (uint32_t)i);
	map_done(&g.frames);
	map_done(&g.by_name);
	free(g.rows);
	return g.collisions;
}

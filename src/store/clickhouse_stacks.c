/* clickhouse_stacks.c: asks for the rows of stacks and frames, and builds the tree. */
#include "clickhouse_stacks.h"
#include "clickhouse_batch.h"
#include "clickhouse_wire.h"
#include "mem.h"
#include <assert.h>
#include <string.h>

#define NAMES_MANY	4096u

/* One row of `stacks`, in place. Its frames are hashes first, then numbers within the shard's answers, and while nodes are made, frames of the
 * profile with their lines: the largest part of an answer is never copied. */
struct stack_row {
	uint64_t name, proof, base;
	uint8_t *frames;			/* 8 bytes each */
	const uint8_t *lines;			/* 4 bytes each */
	uint32_t frame_count, line_count;
};

static bool get_stack(struct row_reader *r, struct stack_row *ret)
{
	size_t frames, lines;

	ret->name = row_get(r, 8);
	ret->proof = row_get(r, 8);
	ret->base = row_get(r, 8);
	frames = row_get_count(r, 8);
	ret->frames = (uint8_t *)r->at.p;
	r->at.p += frames * 8;
	lines = row_get_count(r, 4);
	ret->lines = r->at.p;
	r->at.p += lines * 4;
	ret->frame_count = (uint32_t)frames;
	ret->line_count = (uint32_t)lines;
	return !r->bad && frames > 0 && frames <= CLICKHOUSE_STACK && (!lines || lines == frames);
}

static inline uint8_t *frame_at(const struct stack_row *row, uint32_t i)
{
	return row->frames + 8 * (size_t)i;
}

static inline uint32_t line_of(const struct stack_row *row, uint32_t i)
{
	return row->line_count ? (uint32_t)strobe_wire_get_le(row->lines + 4 * (size_t)i, 4) : 0;
}

/* --- Asking --- */

/* Whether so many names are most of the table's: then all rows cost less than a look at each for whether it is wanted. */
static int wants_most(struct clickhouse_store *s, unsigned shard, const struct store_query *q, const char *table, size_t names,
		      bool *ret, struct err *err)
{
	_cleanup_(buf_done) struct buf sql = { 0 };
	uint64_t rows = 0;
	int rc = 0;

	buf_init(&sql);
	buf_printf(&sql, "SELECT count() FROM %s WHERE 1", table);
	sql_put_months(&sql, q);
	if (names >= NAMES_MANY)
		rc = clickhouse_ask_number(s, shard, sql.data, &rows, err);
	*ret = names >= NAMES_MANY && names >= rows / 2;
	return rc;
}

/* Rows of a table by their names, which are in its column `key`; perhaps others, too. */
static int ask_rows(struct clickhouse_store *s, unsigned shard, const struct store_query *q, const char *table, const char *key,
		    const char *columns, const struct buf *names, struct buf *ret, struct err *err)
{
	_cleanup_(buf_done) struct buf sql = { 0 };
	_cleanup_(freep) char *structure = xasprintf("%s UInt64", key);
	struct clickhouse_request r = { .table = structure, .rows = names };
	bool all;
	int rc = wants_most(s, shard, q, table, names->size / 8, &all, err);

	if (rc < 0)
		return rc;
	buf_init(&sql);
	buf_printf(&sql, "SELECT %s, %s FROM %s WHERE 1", key, columns, table);
	sql_put_months(&sql, q);
	if (!all)
		buf_printf(&sql, " AND %s IN (SELECT %s FROM given)", key, key);
	else
		r = (struct clickhouse_request){ 0 };
	buf_puts(&sql, " FORMAT RowBinary");
	r.sql = sql.data;
	return clickhouse_ask(s, shard, &r, ret, err);
}

/* Leaves the rows of an answer that were asked for. */
static void keep_asked(struct buf *answer, const struct map *asked)
{
	struct row_reader r = row_reader_of(answer);
	struct stack_row row;
	size_t kept = 0;

	while (row_more(&r)) {
		const uint8_t *from = r.at.p;
		size_t size;

		if (!get_stack(&r, &row))
			break;
		size = (size_t)(r.at.p - from);
		if (map_get(asked, row.name) == MAP_NONE)
			continue;
		memmove(answer->data + kept, from, size);
		kept += size;
	}
	answer->size = kept;
}

static void number_frames(const struct stack_row *row, struct map *numbers, struct buf *new)
{
	for (uint32_t i = 0; i < row->frame_count; i++) {
		uint64_t name = strobe_wire_get_le(frame_at(row, i), 8);
		uint32_t *slot = map_slot(numbers, name);

		if (*slot == MAP_NONE) {
			*slot = (uint32_t)numbers->count - 1;
			row_put(new, name, 8);
		}
		strobe_wire_put_le(frame_at(row, i), *slot, 8);
	}
}

/* Numbers the frames of an answer; finds bases that have not been requested yet, and frames that are new. */
static void note_parts(const struct buf *answer, struct map *asked, struct map *numbers, struct buf *bases, struct buf *frames)
{
	struct row_reader r = row_reader_of(answer);
	struct stack_row row;

	while (row_more(&r) && get_stack(&r, &row)) {
		uint32_t *slot = row.base ? map_slot(asked, row.base) : NULL;

		if (slot && *slot == MAP_NONE) {
			*slot = 1;
			row_put(bases, row.base, 8);
		}
		number_frames(&row, numbers, frames);
	}
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
	_cleanup_(map_done) struct map asked = { 0 };
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
		rc = ask_rows(s, shard, q, "stacks", "stack", "proof, base, frames, lines", &want, answer, err);
		buf_reset(&want);
		if (rc < 0)
			break;
		keep_asked(answer, &asked);
		note_parts(answer, &asked, &ret->numbers, &want, frames);
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
	if (rc < 0 || !frames.size)
		return rc;
	return ask_rows(s, shard, q, "frames", "frame", "name, file, line", &frames, &ret->frames, err);
}

void clickhouse_stacks_done(struct clickhouse_stacks *t)
{
	for (size_t i = 0; i < t->count; i++)
		buf_done(&t->stacks[i]);
	free(t->stacks);
	buf_done(&t->frames);
	map_done(&t->numbers);
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

/* The shard's frames by their numbers, as frames of the profile; MAP_NONE: not in its tables. */
static uint32_t *place_frames(const struct clickhouse_stacks *t, struct profile *p)
{
	uint32_t *ret = xmalloc((t->numbers.count + 1) * sizeof(*ret));
	struct row_reader r = row_reader_of(&t->frames);

	memset(ret, 0xff, (t->numbers.count + 1) * sizeof(*ret));
	while (row_more(&r)) {
		uint32_t number = map_get(&t->numbers, row_get(&r, 8));
		struct str name = row_get_string(&r), file = row_get_string(&r);
		uint32_t line = (uint32_t)row_get(&r, 4);

		if (!r.bad && number != MAP_NONE && ret[number] == MAP_NONE)
			ret[number] = profile_frame(p, name, file, line);
	}
	return ret;
}

/* A stack whose frames and lines alone tell its nodes from others. */
struct path {
	const uint8_t *steps;			/* 8 bytes each: frame, line */
	uint32_t count, row;
};

/* All rows of the answers, each name once. */
struct placing {
	struct profile *profile;
	struct map by_name;
	struct map *nodes;
	struct stack_row *rows;
	size_t count, capacity;
	struct path *paths;
	size_t path_count, path_capacity;
	uint64_t collisions;
};

/* Frames of the shard become frames of the profile, with their lines. False if one of them is not known. */
static bool make_steps(const struct stack_row *row, const uint32_t *frames, bool lines)
{
	bool known = true;

	for (uint32_t i = 0; i < row->frame_count; i++) {
		uint32_t frame = frames[strobe_wire_get_le(frame_at(row, i), 8)];

		known &= frame != MAP_NONE;
		strobe_wire_put_le(frame_at(row, i), frame | (uint64_t)(lines ? line_of(row, i) : 0) << 32, 8);
	}
	return known;
}

/* The table may have a row twice until it has merged its parts, and each month has its own. */
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
		if (make_steps(&row, frames, g->profile->keeps_lines) && !row.base) {
			GROW(&g->paths, &g->path_capacity, g->path_count + 1);
			g->paths[g->path_count++] = (struct path){ row.frames, row.frame_count, *slot };
		}
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

/* Any order in which paths with a common beginning are neighbours. */
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

/* The number of steps that two paths have in common. */
static uint32_t common(const struct path *a, const struct path *b)
{
	uint32_t most = a->count < b->count ? a->count : b->count, i = 0;

	while (i < most && step_of(a, i) == step_of(b, i))
		i++;
	return i;
}

/* In order, a stack shares its first nodes with the one before, and the others are new: nothing is looked up. */
static void place_in_order(struct placing *g)
{
	uint32_t nodes[CLICKHOUSE_STACK + 1] = { PROFILE_ROOT };

	assert(g->profile->node_count == 1);
	if (g->path_count)
		qsort(g->paths, g->path_count, sizeof(*g->paths), compare_paths);
	for (size_t i = 0; i < g->path_count; i++) {
		const struct path *p = &g->paths[i];

		for (uint32_t k = i ? common(p - 1, p) : 0; k < p->count; k++) {
			uint64_t step = step_of(p, k);

			nodes[k + 1] = profile_append_at(g->profile, nodes[k], (uint32_t)step, (uint32_t)(step >> 32));
		}
		map_set(g->nodes, g->rows[p->row].name, nodes[p->count]);
	}
}

uint64_t clickhouse_place_stacks(struct clickhouse_stacks *const *t, size_t count, struct profile *p, struct map *nodes)
{
	struct placing g = { .profile = p, .nodes = nodes };

	for (size_t i = 0; i < count; i++) {
		_cleanup_(freep) uint32_t *frames = place_frames(t[i], p);

		for (size_t k = 0; k < t[i]->count; k++)
			collect(&g, &t[i]->stacks[k], frames);
	}
	place_in_order(&g);
	for (size_t i = 0; i < g.count; i++)
		if (map_get(nodes, g.rows[i].name) == MAP_NONE)
			place(&g, (uint32_t)i);
	map_done(&g.by_name);
	free(g.rows);
	free(g.paths);
	return g.collisions;
}

/* clickhouse_stacks.c: finds stacks in the cache, fetches the others and their frames, and adds them to the cache. */
#include "clickhouse_stacks.h"
#include "clickhouse_stack_row.h"
#include "mem.h"
#include <assert.h>
#include <string.h>

#define NAMES_MANY	4096u

static uint64_t name_at(const struct buf *names, size_t i)
{
	return strobe_wire_get_le((const uint8_t *)names->data + 8 * i, 8);
}

/* --- Queries --- */

/* Tells whether the names are most of the table: then reading all rows is faster than checking each. */
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

/* Requests rows of a table by their names in column `key`; may return others, too. */
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

/* Keeps the requested rows of an answer. */
static void keep_requested(struct buf *answer, const struct map *requested)
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
		if (map_get(requested, row.name) == MAP_NONE)
			continue;
		memmove(answer->data + kept, from, size);
		kept += size;
	}
	assert(kept <= answer->size);
	answer->size = kept;
}

static void number_frames(const struct stack_row *row, struct map *numbers, struct buf *new)
{
	for (uint32_t i = 0; i < row->frame_count; i++) {
		uint64_t name = strobe_wire_get_le(frame_at(row, i), 8);
		uint32_t *slot = map_slot(numbers, name);

		if (*slot == MAP_NONE) {
			*slot = (uint32_t)numbers->count - 1;
			assert(new->size / 8 == *slot);
			row_put(new, name, 8);
		}
		strobe_wire_put_le(frame_at(row, i), *slot, 8);
	}
}

/* Numbers the frames of an answer; collects bases that have not been requested yet, and new frames. */
static void note_parts(const struct buf *answer, struct map *requested, struct map *numbers, struct buf *bases, struct buf *frames)
{
	struct row_reader r = row_reader_of(answer);
	struct stack_row row;

	while (row_more(&r) && get_stack(&r, &row)) {
		uint32_t *slot = row.base ? map_slot(requested, row.base) : NULL;

		if (slot && *slot == MAP_NONE) {
			*slot = 1;
			row_put(bases, row.base, 8);
		}
		number_frames(&row, numbers, frames);
	}
}

static void note_requested(struct map *requested, const struct buf *names)
{
	for (size_t i = 0; i < names->size / 8; i++)
		map_set(requested, name_at(names, i), 1);
}

/* Stacks with more than CLICKHOUSE_STACK frames continue others, which are requested in the next round. */
static int ask_rounds(struct clickhouse_store *s, unsigned shard, const struct store_query *q, const struct buf *names,
		      struct clickhouse_stacks *ret, struct buf *frames, struct err *err)
{
	_cleanup_(map_done) struct map requested = { 0 };
	_cleanup_(buf_done) struct buf want = { 0 };
	int rc = 0;

	buf_init(&want);
	buf_put(&want, names->data, names->size);
	note_requested(&requested, names);
	while (rc >= 0 && want.size) {
		struct buf *answer;

		GROW(&ret->stacks, &ret->capacity, ret->count + 1);
		answer = &ret->stacks[ret->count++];
		buf_init(answer);
		rc = ask_rows(s, shard, q, "stacks", "stack", "proof, base, frames, lines", &want, answer, err);
		buf_reset(&want);
		if (rc < 0)
			break;
		keep_requested(answer, &requested);
		note_parts(answer, &requested, &ret->numbers, &want, frames);
	}
	return rc;
}

/* --- The cache --- */

static bool take_cached(const struct clickhouse_cache *c, uint64_t name, struct clickhouse_stacks *ret)
{
	uint32_t node = clickhouse_cache_stack(c, name);

	if (node == CLICKHOUSE_NO_NODE)
		return false;
	GROW(&ret->cached, &ret->cached_capacity, ret->cached_count + 1);
	ret->cached[ret->cached_count++] = (struct clickhouse_cached){ name, node };
	return true;
}

/* `names` is in the order of their numbers. */
static void take_cached_frames(const struct clickhouse_cache *c, const struct buf *names, struct clickhouse_stacks *ret, struct buf *want)
{
	size_t count = names->size / 8;

	assert(names->size % 8 == 0 && count == ret->numbers.count);
	ret->cache_numbers = xmalloc((count + 1) * sizeof(*ret->cache_numbers));
	for (size_t i = 0; i < count; i++) {
		ret->cache_numbers[i] = clickhouse_cache_find_frame(c, name_at(names, i));
		if (ret->cache_numbers[i] == UINT32_MAX)
			row_put(want, name_at(names, i), 8);
	}
}

static void add_frames(struct clickhouse_cache *c, struct clickhouse_stacks *t)
{
	struct row_reader r = row_reader_of(&t->frames);

	while (row_more(&r)) {
		uint64_t name = row_get(&r, 8);
		struct str text = row_get_string(&r), file = row_get_string(&r);
		struct cached_frame f = { text, file, (uint32_t)row_get(&r, 4) };
		uint32_t number = map_get(&t->numbers, name);

		if (!r.bad && number != MAP_NONE)
			t->cache_numbers[number] = clickhouse_cache_add_frame(c, name, &f);
	}
}

/* Returns CLICKHOUSE_NO_NODE if the cache is full, or lacks the stack that the row continues. */
static uint32_t add_path(struct clickhouse_cache *c, const struct clickhouse_stacks *t, const struct stack_row *row)
{
	uint32_t node = row->base ? clickhouse_cache_stack(c, row->base) : 0;

	for (uint32_t i = 0; i < row->frame_count && node != CLICKHOUSE_NO_NODE; i++) {
		uint32_t frame = t->cache_numbers[strobe_wire_get_le(frame_at(row, i), 8)];

		node = frame == UINT32_MAX ? CLICKHOUSE_NO_NODE : clickhouse_cache_add_node(c, node, frame, line_of(row, i));
	}
	return node;
}

static void add_stacks(struct clickhouse_cache *c, struct clickhouse_stacks *t, const struct buf *answer)
{
	struct row_reader r = row_reader_of(answer);
	struct stack_row row;

	while (row_more(&r) && get_stack(&r, &row)) {
		uint32_t node = add_path(c, t, &row);

		if (node != CLICKHOUSE_NO_NODE)
			clickhouse_cache_add_stack(c, row.name, node);
		take_cached(c, row.name, t);
	}
}

static void add_to_cache(struct clickhouse_cache *c, struct clickhouse_stacks *t)
{
	assert(!t->count || t->cache_numbers);
	if (!t->count || !clickhouse_cache_begin(c))
		return;
	add_frames(c, t);
	/* Added in reverse, since bases are in later answers than the stacks that continue them. */
	for (size_t i = t->count; i--; )
		add_stacks(c, t, &t->stacks[i]);
	clickhouse_cache_end(c);
}

/* --- Top level --- */

static int fetch_frames(struct clickhouse_store *s, unsigned shard, const struct store_query *q, const struct buf *names,
			struct clickhouse_stacks *ret, struct err *err)
{
	_cleanup_(buf_done) struct buf want = { 0 };

	buf_init(&want);
	take_cached_frames(s->cache, names, ret, &want);
	return want.size ? ask_rows(s, shard, q, "frames", "frame", "name, file, line", &want, &ret->frames, err) : 0;
}

int clickhouse_fetch_stacks(struct clickhouse_store *s, unsigned shard, const struct store_query *q,
			    const struct buf *names, struct clickhouse_stacks *ret, struct err *err)
{
	_cleanup_(buf_done) struct buf want = { 0 }, frames = { 0 };
	int rc;

	buf_init(&want);
	buf_init(&frames);
	buf_init(&ret->frames);
	for (size_t i = 0; i < names->size / 8; i++)
		if (!take_cached(s->cache, name_at(names, i), ret))
			row_put(&want, name_at(names, i), 8);
	rc = ask_rounds(s, shard, q, &want, ret, &frames, err);
	if (rc >= 0)
		rc = fetch_frames(s, shard, q, &frames, ret, err);
	if (rc >= 0)
		add_to_cache(s->cache, ret);
	return rc;
}

void clickhouse_stacks_done(struct clickhouse_stacks *t)
{
	for (size_t i = 0; i < t->count; i++)
		buf_done(&t->stacks[i]);
	free(t->stacks);
	buf_done(&t->frames);
	map_done(&t->numbers);
	free(t->cache_numbers);
	free(t->cached);
	*t = (struct clickhouse_stacks){ 0 };
}

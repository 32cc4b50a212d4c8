/* clickhouse_batch.c: from trees of samples to rows. */
#include "clickhouse_batch.h"
#include "clickhouse_ask.h"
#include "clickhouse_names.h"
#include "clickhouse_wire.h"
#include "mem.h"
#include "saturate.h"
#include "series.h"
#include <assert.h>
#include <string.h>

const char *const clickhouse_dictionary_names[CLICKHOUSE_DICTIONARIES] = { "kinds", "series", "frames", "stacks" };

/* One entry of the batch while it is converted. */
struct entry {
	const struct batch_entry *e;
	const struct profile *p;		/* its columns */
	const struct clickhouse_kinds_named *kinds;
	struct clickhouse_rows *rows;
	struct clickhouse_known *known;
	uint32_t day, month;
	uint16_t bucket;
	XXH128_hash_t series;
};

static struct buf *dictionary(struct entry *n, unsigned shard, enum clickhouse_dictionary which)
{
	return &n->rows->dictionaries[shard * CLICKHOUSE_DICTIONARIES + which];
}

static bool is_known(struct entry *n, XXH128_hash_t name, enum clickhouse_dictionary which, unsigned shard, uint32_t part)
{
	bool collision = false, known = clickhouse_known_add(n->known, name, (char)which, shard, part, &collision);

	n->rows->collisions += collision;
	return known;
}

/* --- Rows of dictionaries --- */

static void need_kind(struct entry *n, unsigned shard, uint32_t column)
{
	struct buf *row = dictionary(n, shard, CLICKHOUSE_KINDS);

	if (is_known(n, n->kinds->names[column], CLICKHOUSE_KINDS, shard, 0))
		return;
	row_put(row, n->kinds->names[column].low64, 8);
	clickhouse_put_kind(n->e, n->kinds, column, row);
}

static void need_series(struct entry *n, unsigned shard)
{
	struct buf *row = dictionary(n, shard, CLICKHOUSE_SERIES);
	struct labels labels;				/* with the clock */

	if (is_known(n, n->series, CLICKHOUSE_SERIES, shard, n->day))
		return;
	labels_init(&labels);
	series_labels(&(struct series){ .clock = n->e->clock, .labels = *n->e->labels }, &labels);
	row_put(row, n->day, 2);
	row_put(row, n->series.low64, 8);
	row_put_labels(row, &labels);
	labels_done(&labels);
}

static void need_frame(struct entry *n, const struct clickhouse_tree *t, unsigned shard, uint32_t frame)
{
	struct buf *row = dictionary(n, shard, CLICKHOUSE_FRAMES);
	struct str name = profile_name(t->p, frame), file = profile_file(t->p, frame);

	if (is_known(n, t->frames[frame], CLICKHOUSE_FRAMES, shard, n->month))
		return;
	row_put(row, n->month, 4);
	row_put(row, t->frames[frame].low64, 8);
	row_put(row, t->frames[frame].high64, 8);
	row_put_string(row, name.p, name.n);
	row_put_string(row, file.p, file.n);
	row_put(row, t->p->frames[frame].line, 4);
}

/* Puts one row: the frames between the node and its base, root first. Returns the base node. */
static uint32_t put_stack(struct entry *n, const struct clickhouse_tree *t, unsigned shard, uint32_t node)
{
	const struct profile *p = t->p;
	struct buf *row = dictionary(n, shard, CLICKHOUSE_STACKS);
	uint32_t path[CLICKHOUSE_STACK], lines = 0, size = (t->depths[node] - 1) % CLICKHOUSE_STACK + 1, at = node;

	for (uint32_t i = size; i--; at = p->parents[at]) {
		path[i] = at;
		lines += profile_line(p, at) != 0;
		need_frame(n, t, shard, p->node_frames[at]);
	}
	assert(t->depths[at] % CLICKHOUSE_STACK == 0);
	row_put(row, n->month, 4);
	row_put(row, t->nodes[node].low64, 8);
	row_put(row, t->nodes[node].high64, 8);
	row_put(row, t->nodes[at].low64, 8);
	buf_put_varint(row, size);
	for (uint32_t i = 0; i < size; i++)
		row_put(row, t->frames[p->node_frames[path[i]]].low64, 8);
	buf_put_varint(row, lines ? size : 0);
	for (uint32_t i = 0; lines && i < size; i++)
		row_put(row, profile_line(p, path[i]), 4);
	return at;
}

static void need_stack(struct entry *n, struct clickhouse_tree *t, unsigned shard, uint32_t node)
{
	if (t->months[node] == n->month + 1)
		return;
	t->months[node] = n->month + 1;
	while (node != PROFILE_ROOT && !is_known(n, t->nodes[node], CLICKHOUSE_STACKS, shard, n->month))
		node = put_stack(n, t, shard, node);
}

/* --- Samples --- */

static struct clickhouse_piece *piece_of(struct clickhouse_rows *r, unsigned shard, uint32_t day)
{
	struct clickhouse_piece *p;
	uint32_t number = 0;

	for (size_t i = 0; i < r->piece_count; i++) {
		p = &r->pieces[i];
		if (p->shard != shard || p->day != day)
			continue;
		if (p->rows < CLICKHOUSE_PIECE_ROWS)
			return p;
		number++;
	}
	GROW(&r->pieces, &r->piece_capacity, r->piece_count + 1);
	p = &r->pieces[r->piece_count++];
	*p = (struct clickhouse_piece){ .shard = shard, .day = day, .number = number, .first = UINT16_MAX };
	buf_init(&p->bytes);
	return p;
}

static void put_sample(struct entry *n, unsigned shard, XXH128_hash_t stack, uint32_t column, int64_t value)
{
	struct clickhouse_piece *p = piece_of(n->rows, shard, n->day);
	uint8_t row[36];

	strobe_wire_put_le(row, n->day, 2);
	strobe_wire_put_le(row + 2, n->kinds->names[column].low64, 8);
	strobe_wire_put_le(row + 10, stack.low64, 8);
	strobe_wire_put_le(row + 18, n->series.low64, 8);
	strobe_wire_put_le(row + 26, n->bucket, 2);
	strobe_wire_put_le(row + 28, (uint64_t)value, 8);
	buf_put(&p->bytes, row, sizeof(row));
	p->rows++;
	p->first = n->bucket < p->first ? n->bucket : p->first;
	p->last = n->bucket > p->last ? n->bucket : p->last;
	if (value > 0 && column == n->kinds->samples)
		saturating_count(&p->samples, (uint64_t)value);
}

static void put_values(struct entry *n, struct clickhouse_tree *t, uint32_t node, const int64_t *values)
{
	unsigned shard = clickhouse_shard(t->nodes[node].low64, n->rows->shards);
	bool any = false;

	for (uint32_t c = 0; c < n->p->column_count; c++) {
		if (!values[c])
			continue;
		need_kind(n, shard, c);
		put_sample(n, shard, t->nodes[node], c, values[c]);
		any = true;
	}
	if (!any)
		return;
	need_series(n, shard);
	need_stack(n, t, shard, node);
}

static void put_profile(struct entry *n)
{
	struct clickhouse_tree t;

	if (n->p->node_count == 1 && !profile_has_values(n->p, PROFILE_ROOT))
		return;
	clickhouse_tree_init(&t, n->p);
	for (uint32_t i = 0; i < n->p->node_count; i++) {
		int64_t values[PROFILE_COLUMNS];

		for (uint32_t c = 0; c < n->p->column_count; c++)
			values[c] = n->p->columns[c].self[i];
		put_values(n, &t, i, values);
	}
	clickhouse_tree_done(&t);
}

struct stack_row {
	uint64_t stack;
	uint32_t row;
};

static int compare_stacks(const void *a, const void *b)
{
	const struct stack_row *x = a, *y = b;

	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static struct stack_row *sorted_rows(const struct clickhouse_tree *t, const struct batch_rows *r)
{
	struct stack_row *order = xmalloc(r->count * sizeof(*order));

	assert(r->count <= UINT32_MAX);
	for (size_t i = 0; i < r->count; i++)
		order[i] = (struct stack_row){ t->nodes[r->nodes[i]].low64, (uint32_t)i };
	qsort(order, r->count, sizeof(*order), compare_stacks);
	return order;
}

/* Sorted by stack where node numbers, which depend on the order of input, would decide which rows go into which
 * piece. */
static void put_rows(struct entry *n, struct clickhouse_tree *shared, bool by_stack)
{
	const struct batch_rows *r = &n->e->rows;
	_cleanup_(freep) struct stack_row *order = by_stack ? sorted_rows(shared, r) : NULL;

	for (size_t i = 0; i < r->count; i++) {
		size_t row = order ? order[i].row : i;

		put_values(n, shared, r->nodes[row], r->values + row * n->p->column_count);
	}
}

static void add_entry(const struct batch_entry *e, struct clickhouse_tree *shared, bool by_stack, struct clickhouse_naming *naming,
		      struct clickhouse_known *known, struct clickhouse_rows *rows)
{
	int64_t bucket = e->bucket_ns / BATCH_BUCKET_NS;
	struct entry n = {
		.e = e, .p = e->profile, .rows = rows, .known = known, .day = (uint32_t)(bucket / DAY_BUCKETS),
		.month = clickhouse_name_month(naming, bucket / DAY_BUCKETS), .bucket = (uint16_t)(bucket % DAY_BUCKETS),
		.kinds = clickhouse_name_kinds(naming, e), .series = clickhouse_name_series(naming, e),
	};

	assert(bucket >= 0 && bucket / DAY_BUCKETS < CLICKHOUSE_DAYS);
	put_profile(&n);
	if (e->rows.count)
		put_rows(&n, shared, by_stack);
}

static bool is_one_piece(const struct batch *b)
{
	uint64_t values = 0;

	for (size_t i = 0; i < b->count; i++)
		values += b->entries[i].rows.count * b->entries[i].profile->column_count;
	return values <= CLICKHOUSE_PIECE_ROWS;
}

void clickhouse_rows_of(const struct batch *b, unsigned shards, struct clickhouse_known *known,
			struct clickhouse_rows *ret)
{
	bool by_stack = !is_one_piece(b);
	struct clickhouse_tree shared = { 0 };
	struct clickhouse_naming naming;

	*ret = (struct clickhouse_rows){ .shards = shards };
	ret->dictionaries = xcalloc(shards * CLICKHOUSE_DICTIONARIES, sizeof(*ret->dictionaries));
	for (unsigned i = 0; i < shards * CLICKHOUSE_DICTIONARIES; i++)
		buf_init(&ret->dictionaries[i]);
	clickhouse_naming_init(&naming);
	if (b->stacks)
		clickhouse_tree_init(&shared, b->stacks);
	for (size_t i = 0; i < b->count; i++)
		add_entry(&b->entries[i], &shared, by_stack, &naming, known, ret);
	clickhouse_tree_done(&shared);
	clickhouse_naming_done(&naming);
}

void clickhouse_rows_done(struct clickhouse_rows *r)
{
	for (size_t i = 0; i < r->piece_count; i++)
		buf_done(&r->pieces[i].bytes);
	for (unsigned i = 0; i < r->shards * CLICKHOUSE_DICTIONARIES; i++)
		buf_done(&r->dictionaries[i]);
	free(r->pieces);
	free(r->dictionaries);
	*r = (struct clickhouse_rows){ 0 };
}

/* clickhouse_batch.c: from trees of samples to rows. */
#include "clickhouse_batch.h"
#include "clickhouse_ask.h"
#include "clickhouse_wire.h"
#include "clock.h"
#include "hash.h"
#include "mem.h"
#include "saturate.h"
#include "series.h"
#include <assert.h>
#include <string.h>

const char *const clickhouse_dictionary_names[CLICKHOUSE_DICTIONARIES] = { "kinds", "series", "frames", "stacks" };

/* One entry of the batch on its way. */
struct entry {
	const struct batch_entry *e;
	const struct profile *p;
	struct clickhouse_rows *rows;
	struct clickhouse_known *known;
	uint32_t day, month;
	uint16_t bucket;
	XXH128_hash_t series, kinds[PROFILE_COLUMNS];
	XXH128_hash_t *frames, *nodes;		/* by number */
	uint32_t *depths;			/* by node */
	struct labels labels;			/* with the clock */
	uint32_t timed;				/* a bit: values of this column make a time column */
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

/* --- Names --- */

static XXH128_hash_t name_frame(const struct profile *p, uint32_t frame, struct buf *scratch)
{
	struct str name = profile_name(p, frame), file = profile_file(p, frame);

	buf_reset(scratch);
	row_put_string(scratch, name.p, name.n);	/* with their lengths, since they may have any bytes */
	row_put_string(scratch, file.p, file.n);
	row_put(scratch, p->frames[frame].line, 4);
	return XXH3_128bits(scratch->data, scratch->size);
}

static void name_frames(struct entry *n)
{
	_cleanup_(buf_done) struct buf scratch = { 0 };

	buf_init(&scratch);
	n->frames = xmalloc((n->p->frame_count + 1) * sizeof(*n->frames));
	for (uint32_t i = 0; i < n->p->frame_count; i++)
		n->frames[i] = name_frame(n->p, i, &scratch);
}

static void name_nodes(struct entry *n)
{
	const struct profile *p = n->p;

	n->nodes = xmalloc(p->node_count * sizeof(*n->nodes));
	n->depths = xmalloc(p->node_count * sizeof(*n->depths));
	n->nodes[PROFILE_ROOT] = (XXH128_hash_t){ 0 };
	n->depths[PROFILE_ROOT] = 0;
	for (uint32_t i = 1; i < p->node_count; i++) {
		XXH128_hash_t above = n->nodes[p->parents[i]], frame = n->frames[p->node_frames[i]];
		const uint64_t of[] = { above.low64, above.high64, frame.low64, frame.high64, profile_line(p, i) };

		n->nodes[i] = XXH3_128bits(of, sizeof(of));
		n->depths[i] = n->depths[p->parents[i]] + 1;
	}
}

static void name_series(struct entry *n)
{
	_cleanup_(buf_done) struct buf labels = { 0 }, columns = { 0 }, key = { 0 };

	buf_init(&labels);
	buf_init(&columns);
	buf_init(&key);
	labels_put(n->e->labels, &labels);
	series_put_columns(n->p, &columns);
	series_put_key(&key, (struct str){ labels.data, labels.size }, n->e->clock, n->e->period_ns,
		       (struct str){ columns.data, columns.size });
	n->series = XXH3_128bits(key.data, key.size);
}

/* Time follows from samples where the clock and the period are known, and was not measured itself. */
static void find_timed(struct entry *n)
{
	struct series s = { .clock = n->e->clock, .period_ns = n->e->period_ns, .samples = UINT32_MAX };

	for (uint32_t i = 0; i < n->p->column_count; i++) {
		memcpy(s.columns[s.column_count++].name, n->p->columns[i].name, sizeof(s.columns[0].name));
		if (!strcmp(n->p->columns[i].name, "samples"))
			s.samples = i;
	}
	n->timed = series_time_column(&s) ? 1u << s.samples : 0;
	s.labels = *n->e->labels;
	series_labels(&s, &n->labels);
}

static void put_kind(const struct entry *n, uint32_t column, struct buf *row)
{
	const struct profile_column *c = &n->p->columns[column];

	row_put(row, n->e->clock, 1);
	row_put(row, (uint64_t)n->e->period_ns, 8);
	row_put(row, column, 1);
	row_put_string(row, c->name, strlen(c->name));
	row_put_string(row, c->unit, strlen(c->unit));
	row_put(row, n->timed >> column & 1, 1);
}

static void name_kinds(struct entry *n)
{
	_cleanup_(buf_done) struct buf row = { 0 };

	buf_init(&row);
	for (uint32_t i = 0; i < n->p->column_count; i++) {
		buf_reset(&row);
		put_kind(n, i, &row);
		n->kinds[i] = XXH3_128bits(row.data, row.size);
		n->kinds[i].low64 += n->kinds[i].low64 == 0;	/* which markers have */
	}
}

/* --- Rows of dictionaries --- */

static void need_kind(struct entry *n, unsigned shard, uint32_t column)
{
	struct buf *row = dictionary(n, shard, CLICKHOUSE_KINDS);

	if (is_known(n, n->kinds[column], CLICKHOUSE_KINDS, shard, 0))
		return;
	row_put(row, n->kinds[column].low64, 8);
	put_kind(n, column, row);
}

static void need_series(struct entry *n, unsigned shard)
{
	struct buf *row = dictionary(n, shard, CLICKHOUSE_SERIES);

	if (is_known(n, n->series, CLICKHOUSE_SERIES, shard, n->day))
		return;
	row_put(row, n->day, 2);
	row_put(row, n->series.low64, 8);
	row_put_labels(row, &n->labels);
}

static void need_frame(struct entry *n, unsigned shard, uint32_t frame)
{
	struct buf *row = dictionary(n, shard, CLICKHOUSE_FRAMES);
	struct str name = profile_name(n->p, frame), file = profile_file(n->p, frame);

	if (is_known(n, n->frames[frame], CLICKHOUSE_FRAMES, shard, n->month))
		return;
	row_put(row, n->month, 4);
	row_put(row, n->frames[frame].low64, 8);
	row_put(row, n->frames[frame].high64, 8);
	row_put_string(row, name.p, name.n);
	row_put_string(row, file.p, file.n);
	row_put(row, n->p->frames[frame].line, 4);
}

/* One row, of the frames below the base, root first. Returns the node that is the base. */
static uint32_t put_stack(struct entry *n, unsigned shard, uint32_t node)
{
	const struct profile *p = n->p;
	struct buf *row = dictionary(n, shard, CLICKHOUSE_STACKS);
	uint32_t path[CLICKHOUSE_STACK], lines = 0, size = (n->depths[node] - 1) % CLICKHOUSE_STACK + 1, at = node;

	for (uint32_t i = size; i--; at = p->parents[at]) {
		path[i] = at;
		lines += profile_line(p, at) != 0;
		need_frame(n, shard, p->node_frames[at]);
	}
	assert(n->depths[at] % CLICKHOUSE_STACK == 0);
	row_put(row, n->month, 4);
	row_put(row, n->nodes[node].low64, 8);
	row_put(row, n->nodes[node].high64, 8);
	row_put(row, n->nodes[at].low64, 8);
	buf_put_varint(row, size);
	for (uint32_t i = 0; i < size; i++)
		row_put(row, n->frames[p->node_frames[path[i]]].low64, 8);
	buf_put_varint(row, lines ? size : 0);
	for (uint32_t i = 0; lines && i < size; i++)
		row_put(row, profile_line(p, path[i]), 4);
	return at;
}

static void need_stack(struct entry *n, unsigned shard, uint32_t node)
{
	while (node != PROFILE_ROOT && !is_known(n, n->nodes[node], CLICKHOUSE_STACKS, shard, n->month))
		node = put_stack(n, shard, node);
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

static void put_sample(struct entry *n, unsigned shard, uint32_t node, uint32_t column)
{
	struct clickhouse_piece *p = piece_of(n->rows, shard, n->day);
	int64_t value = n->p->columns[column].self[node];

	row_put(&p->bytes, n->day, 2);
	row_put(&p->bytes, n->kinds[column].low64, 8);
	row_put(&p->bytes, n->nodes[node].low64, 8);
	row_put(&p->bytes, n->series.low64, 8);
	row_put(&p->bytes, n->bucket, 2);
	row_put(&p->bytes, (uint64_t)value, 8);
	p->rows++;
	p->first = n->bucket < p->first ? n->bucket : p->first;
	p->last = n->bucket > p->last ? n->bucket : p->last;
	if (value > 0 && !strcmp(n->p->columns[column].name, "samples"))
		saturating_count(&p->samples, (uint64_t)value);
}

static void put_entry(struct entry *n)
{
	for (uint32_t i = 0; i < n->p->node_count; i++) {
		unsigned shard = clickhouse_shard(n->nodes[i].low64, n->rows->shards);
		bool any = false;

		for (uint32_t c = 0; c < n->p->column_count; c++) {
			if (!n->p->columns[c].self[i])
				continue;
			need_kind(n, shard, c);
			put_sample(n, shard, i, c);
			any = true;
		}
		if (!any)
			continue;
		need_series(n, shard);
		need_stack(n, shard, i);
	}
}

static void add_entry(const struct batch_entry *e, struct clickhouse_known *known, struct clickhouse_rows *rows)
{
	int64_t bucket = e->bucket_ns / BATCH_BUCKET_NS;
	struct entry n = {
		.e = e, .p = e->profile, .rows = rows, .known = known, .day = (uint32_t)(bucket / DAY_BUCKETS),
		.month = clickhouse_month(bucket / DAY_BUCKETS), .bucket = (uint16_t)(bucket % DAY_BUCKETS),
	};

	assert(bucket >= 0 && bucket / DAY_BUCKETS < CLICKHOUSE_DAYS);
	labels_init(&n.labels);
	find_timed(&n);
	name_series(&n);
	name_kinds(&n);
	name_frames(&n);
	name_nodes(&n);
	put_entry(&n);
	labels_done(&n.labels);
	free(n.frames);
	free(n.nodes);
	free(n.depths);
}

void clickhouse_rows_of(const struct batch *b, unsigned shards, struct clickhouse_known *known,
			struct clickhouse_rows *ret)
{
	*ret = (struct clickhouse_rows){ .shards = shards };
	ret->dictionaries = xcalloc(shards * CLICKHOUSE_DICTIONARIES, sizeof(*ret->dictionaries));
	for (unsigned i = 0; i < shards * CLICKHOUSE_DICTIONARIES; i++)
		buf_init(&ret->dictionaries[i]);
	for (size_t i = 0; i < b->count; i++)
		add_entry(&b->entries[i], known, ret);
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

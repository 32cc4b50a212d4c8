/* clickhouse_names.c: hashes content into keys. */
#include "clickhouse_names.h"
#include "clickhouse_ask.h"
#include "clickhouse_wire.h"
#include "mem.h"
#include "series.h"
#include <assert.h>
#include <string.h>

/* --- Stacks --- */

static XXH128_hash_t name_frame(const struct profile *p, uint32_t frame, struct buf *scratch)
{
	struct str name = profile_name(p, frame), file = profile_file(p, frame);

	buf_reset(scratch);
	row_put_string(scratch, name.p, name.n);	/* length-prefixed, since names may contain any bytes */
	row_put_string(scratch, file.p, file.n);
	row_put(scratch, p->frames[frame].line, 4);
	return XXH3_128bits(scratch->data, scratch->size);
}

static void name_frames(struct clickhouse_tree *t)
{
	_cleanup_(buf_done) struct buf scratch = { 0 };

	buf_init(&scratch);
	t->frames = xmalloc((t->p->frame_count + 1) * sizeof(*t->frames));
	for (uint32_t i = 0; i < t->p->frame_count; i++)
		t->frames[i] = name_frame(t->p, i, &scratch);
}

static void name_nodes(struct clickhouse_tree *t)
{
	const struct profile *p = t->p;

	t->nodes = xmalloc(p->node_count * sizeof(*t->nodes));
	t->depths = xmalloc(p->node_count * sizeof(*t->depths));
	t->months = xcalloc(p->node_count, sizeof(*t->months));
	t->nodes[PROFILE_ROOT] = (XXH128_hash_t){ 0 };
	t->depths[PROFILE_ROOT] = 0;
	for (uint32_t i = 1; i < p->node_count; i++) {
		XXH128_hash_t above = t->nodes[p->parents[i]], frame = t->frames[p->node_frames[i]];
		const uint64_t of[] = { above.low64, above.high64, frame.low64, frame.high64, profile_line(p, i) };

		assert(p->parents[i] < i && p->node_frames[i] < p->frame_count);
		t->nodes[i] = XXH3_128bits(of, sizeof(of));
		t->depths[i] = t->depths[p->parents[i]] + 1;
	}
}

void clickhouse_tree_init(struct clickhouse_tree *t, const struct profile *p)
{
	*t = (struct clickhouse_tree){ .p = p };
	name_frames(t);
	name_nodes(t);
}

void clickhouse_tree_done(struct clickhouse_tree *t)
{
	free(t->frames);
	free(t->nodes);
	free(t->depths);
	free(t->months);
}

/* --- Entries --- */

void clickhouse_naming_init(struct clickhouse_naming *n)
{
	*n = (struct clickhouse_naming){ .day = -1 };
	buf_init(&n->labels);
	buf_init(&n->columns);
	buf_init(&n->key);
}

void clickhouse_naming_done(struct clickhouse_naming *n)
{
	buf_done(&n->labels);
	buf_done(&n->columns);
	buf_done(&n->key);
}

XXH128_hash_t clickhouse_name_series(struct clickhouse_naming *n, const struct batch_entry *e)
{
	buf_reset(&n->labels);
	buf_reset(&n->columns);
	buf_reset(&n->key);
	labels_put(e->labels, &n->labels);
	series_put_columns(e->profile, &n->columns);
	series_put_key(&n->key, (struct str){ n->labels.data, n->labels.size }, e->clock, e->period_ns,
		       (struct str){ n->columns.data, n->columns.size });
	return XXH3_128bits(n->key.data, n->key.size);
}

uint32_t clickhouse_name_month(struct clickhouse_naming *n, int64_t day)
{
	if (n->day != day)
		n->month = clickhouse_month(day);
	n->day = day;
	return n->month;
}

/* Finds columns from which time can be derived: clock and period are known, and time was not measured itself. */
static void find_timed(const struct batch_entry *e, struct clickhouse_kinds_named *kinds)
{
	struct series s = { .clock = e->clock, .period_ns = e->period_ns, .samples = UINT32_MAX };

	for (uint32_t i = 0; i < e->profile->column_count; i++) {
		memcpy(s.columns[s.column_count++].name, e->profile->columns[i].name, sizeof(s.columns[0].name));
		if (!strcmp(e->profile->columns[i].name, "samples"))
			s.samples = i;
	}
	assert(!series_time_column(&s) || s.samples < s.column_count);
	kinds->samples = s.samples;
	kinds->timed = series_time_column(&s) ? 1u << s.samples : 0;
}

void clickhouse_put_kind(const struct batch_entry *e, const struct clickhouse_kinds_named *kinds, uint32_t column, struct buf *row)
{
	const struct profile_column *c = &e->profile->columns[column];

	assert(column < e->profile->column_count);
	row_put(row, e->clock, 1);
	row_put(row, (uint64_t)e->period_ns, 8);
	row_put(row, column, 1);
	row_put_string(row, c->name, strlen(c->name));
	row_put_string(row, c->unit, strlen(c->unit));
	row_put(row, kinds->timed >> column & 1, 1);
}

static bool has_same_kinds(const struct batch_entry *a, const struct batch_entry *b)
{
	const struct profile *p = a->profile, *q = b->profile;

	if (a->clock != b->clock || a->period_ns != b->period_ns || p->column_count != q->column_count)
		return false;
	for (uint32_t i = 0; i < p->column_count; i++)
		if (strcmp(p->columns[i].name, q->columns[i].name) || strcmp(p->columns[i].unit, q->columns[i].unit))
			return false;
	return true;
}

const struct clickhouse_kinds_named *clickhouse_name_kinds(struct clickhouse_naming *n, const struct batch_entry *e)
{
	if (n->like && has_same_kinds(n->like, e))
		return &n->kinds;
	n->like = e;
	find_timed(e, &n->kinds);
	for (uint32_t i = 0; i < e->profile->column_count; i++) {
		XXH128_hash_t *name = &n->kinds.names[i];

		buf_reset(&n->key);
		clickhouse_put_kind(e, &n->kinds, i, &n->key);
		*name = XXH3_128bits(n->key.data, n->key.size);
		name->low64 += name->low64 == 0;	/* 0 is for markers */
	}
	return &n->kinds;
}

/* clickhouse_query.c: merges any time range and label filter into one profile.
 *
 * Each shard adds up the values of each stack and kind, and returns its stacks. A stack is on one shard, so no stacks
 * have to be merged here; series are on several. */
#include "clickhouse_ask.h"
#include "clickhouse_largest.h"
#include "clickhouse_part.h"
#include "clickhouse_series.h"
#include "clickhouse_wire.h"
#include "clock.h"
#include "log.h"
#include "mem.h"
#include "saturate.h"
#include <assert.h>
#include <pthread.h>
#include <string.h>

#define STACK_NODES	8u		/* tree nodes per stack; query and answer take as much again */
#define KINDS_APART	8u		/* with more kinds, all are summed in one pass */
#define STACKS_MIN	4096u		/* fits into the least memory that a query can have */

struct query {
	const struct store_query *what;
	struct clickhouse_part parts[CLICKHOUSE_SHARDS];

	struct profile *profile;
	struct clickhouse_series series;
	struct clickhouse_kinds kinds;		/* known to any shard */
	struct labels labels;
	uint64_t samples, rows, kindless;
	int64_t first, end;			/* buckets with samples: [first, end) */
	bool any;
	int64_t oldest, newest;			/* buckets of the store: [oldest, newest), both 0 if it is empty */
	uint64_t days;
};

/* --- Asking one shard --- */

static int ask_all_sums(struct clickhouse_store *s, unsigned shard, const struct store_query *q, struct buf *ret,
			struct err *err)
{
	_cleanup_(buf_done) struct buf sql = { 0 };

	buf_init(&sql);
	buf_puts(&sql, "SELECT stack, kind, " CLICKHOUSE_SUM " FROM samples WHERE kind > 0");
	sql_put_range(&sql, q);
	sql_put_series(&sql, q);
	buf_puts(&sql, " GROUP BY kind, stack FORMAT RowBinary");
	return clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql.data }, ret, err);
}

/* Queries kind by kind: the rows of a stack are then adjacent in the table, and the server sums three times as fast.
 * Rows of other kinds are rare. */
static int ask_sums_of(struct clickhouse_store *s, unsigned shard, const struct store_query *q, const struct clickhouse_kinds *kinds,
		       struct buf *ret, struct err *err)
{
	_cleanup_(buf_done) struct buf sql = { 0 };

	buf_init(&sql);
	for (size_t i = 0; i < kinds->count; i++) {
		unsigned long long kind = kinds->items[i].name;

		buf_printf(&sql, "%sSELECT stack, toUInt64(%llu) AS of_kind, " CLICKHOUSE_SUM " FROM samples WHERE kind = %llu",
			   i ? " UNION ALL " : "", kind, kind);
		sql_put_range(&sql, q);
		sql_put_series(&sql, q);
		buf_puts(&sql, " GROUP BY stack");
	}
	buf_puts(&sql, " UNION ALL SELECT stack, kind AS of_kind, " CLICKHOUSE_SUM " FROM samples WHERE ");
	sql_put_other_kinds(&sql, kinds);
	sql_put_range(&sql, q);
	sql_put_series(&sql, q);
	buf_puts(&sql, " GROUP BY kind, stack FORMAT RowBinary");
	return clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql.data }, ret, err);
}

/* Also fetches the kinds before and after the sums, as new ones may appear while they are computed. */
static int ask_sums(struct clickhouse_store *s, unsigned shard, const struct store_query *q, struct clickhouse_part *p, struct err *err)
{
	int rc = clickhouse_fetch_kinds(s, shard, &p->kinds, err);

	if (rc < 0)
		return rc;
	if (p->kinds.count && p->kinds.count <= KINDS_APART)
		rc = ask_sums_of(s, shard, q, &p->kinds, &p->rows, err);
	else
		rc = ask_all_sums(s, shard, q, &p->rows, err);
	return rc < 0 ? rc : clickhouse_fetch_kinds(s, shard, &p->kinds, err);
}

static int ask_ranges(struct clickhouse_store *s, unsigned shard, const struct store_query *q, struct buf *ret,
		      struct err *err)
{
	_cleanup_(buf_done) struct buf sql = { 0 };

	buf_init(&sql);
	buf_printf(&sql, "SELECT series, count(), min(toInt64(day) * %lld + bucket) AS first, max(toInt64(day) * %lld + bucket) AS"
		   " last FROM samples WHERE kind > 0", (long long)DAY_BUCKETS, (long long)DAY_BUCKETS);
	sql_put_range(&sql, q);
	sql_put_series(&sql, q);
	buf_puts(&sql, " GROUP BY series FORMAT RowBinary");
	return clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql.data }, ret, err);
}

/* Asks for each day's first and last bucket. It reads markers only, which are few. */
static int ask_days(struct clickhouse_store *s, unsigned shard, struct buf *ret, struct err *err)
{
	struct clickhouse_request r = {
		.sql = "SELECT day, min(bucket), max(toUInt16(value)) FROM samples WHERE kind = 0 GROUP BY day ORDER BY day FORMAT RowBinary",
	};

	return clickhouse_ask(s, shard, &r, ret, err);
}

/* Collects the names of stacks, each of which may have several kinds. */
static void names_of(const struct buf *sums, struct buf *ret)
{
	_cleanup_(map_done) struct map seen = { 0 };
	struct row_reader r = row_reader_of(sums);

	while (row_more(&r)) {
		uint64_t name = row_get(&r, 8);
		uint32_t *slot = map_slot(&seen, name);

		row_get(&r, 8);
		row_get(&r, 8);
		if (*slot == MAP_NONE && name && name != CLICKHOUSE_LEFT_OUT)
			row_put(ret, name, 8);
		*slot = 1;
	}
}

/* A tree of all stacks may not fit into memory, so stacks are dropped before the tree is built. */
static void cut(const struct clickhouse_store *s, const struct store_query *q, struct clickhouse_part *p)
{
	uint32_t most = q->max_nodes / STACK_NODES;

	most = (most < STACKS_MIN ? STACKS_MIN : most) / s->url.server_count;
	if (q->max_nodes)
		p->is_cut = clickhouse_keep_largest(&p->rows, &p->kinds, most);
}

/* Fetches the series of a shard while other threads fetch its stacks. */
struct side_question {
	struct clickhouse_store *store;
	unsigned shard;
	const struct store_query *q;
	struct clickhouse_part *part;
	pthread_t thread;
	bool started;
	int rc;
	struct err err;
};

/* Here as below, samples are read before the data they refer to, which was written before them. */
static void *ask_series(void *data)
{
	struct side_question *a = data;

	a->rc = ask_ranges(a->store, a->shard, a->q, &a->part->ranges, &a->err);
	if (a->rc >= 0)
		a->rc = clickhouse_fetch_series(a->store, a->shard, a->q, &a->part->series, &a->err);
	return NULL;
}

static int ask_values(struct clickhouse_store *s, unsigned shard, const struct store_query *q, struct clickhouse_part *p,
		      struct err *err)
{
	_cleanup_(buf_done) struct buf names = { 0 };
	int rc = ask_sums(s, shard, q, p, err);

	buf_init(&names);
	if (rc < 0)
		return rc;
	cut(s, q, p);
	names_of(&p->rows, &names);
	return names.size ? clickhouse_fetch_stacks(s, shard, q, &names, &p->stacks, err) : 0;
}

static int ask_all(struct clickhouse_store *s, unsigned shard, const struct store_query *q, struct clickhouse_part *p,
		   struct err *err)
{
	struct side_question series = { .store = s, .shard = shard, .q = q, .part = p };
	_cleanup_(buf_done) struct buf range = { 0 };
	int rc = ask_days(s, shard, &p->days, err);

	buf_init(&range);
	if (rc < 0 || !sql_put_days(&range, q))
		return rc;
	series.started = !pthread_create(&series.thread, NULL, ask_series, &series);
	if (!series.started)
		ask_series(&series);
	rc = ask_values(s, shard, q, p, err);
	if (series.started)
		pthread_join(series.thread, NULL);
	return rc >= 0 && series.rc < 0 ? err_set(err, series.rc, "%s", series.err.text) : rc;
}

static int ask_shard(struct clickhouse_store *s, unsigned shard, void *data, struct err *err)
{
	struct query *q = data;
	int rc = ask_all(s, shard, q->what, &q->parts[shard], err);

	if (rc < 0)
		clickhouse_part_reset(&q->parts[shard]);
	return rc;
}

/* --- Days and ranges --- */

static void add_days(struct query *q, const struct buf *days, uint64_t *seen)
{
	struct row_reader r = row_reader_of(days);
	int64_t from = q->what->from_ns, to = q->what->to_ns;

	while (row_more(&r)) {
		int64_t day = (int64_t)row_get(&r, 2), first = (int64_t)row_get(&r, 2), last = (int64_t)row_get(&r, 2);
		int64_t start_ns = day * NS_PER_DAY;

		if (r.bad)
			break;
		first += day * DAY_BUCKETS;
		last += day * DAY_BUCKETS + 1;
		q->oldest = !q->newest || first < q->oldest ? first : q->oldest;
		q->newest = last > q->newest ? last : q->newest;
		if (start_ns < to && start_ns + NS_PER_DAY > from && !(seen[day / 64] >> day % 64 & 1)) {
			seen[day / 64] |= 1ull << day % 64;
			q->days++;
		}
	}
}

static void add_range(struct query *q, uint64_t series, int64_t first, int64_t last)
{
	const struct clickhouse_series_row *row = clickhouse_find_series(&q->series, series);

	q->first = !q->any || first < q->first ? first : q->first;
	q->end = !q->any || last + 1 > q->end ? last + 1 : q->end;
	if (row && !q->any)
		labels_copy(&q->labels, &row->labels);
	else if (row)
		labels_keep_common(&q->labels, &row->labels);
	q->any = true;
}

static void add_ranges(struct query *q, const struct buf *ranges)
{
	struct row_reader r = row_reader_of(ranges);

	while (row_more(&r)) {
		uint64_t series = row_get(&r, 8), rows = row_get(&r, 8);
		int64_t first = (int64_t)row_get(&r, 8), last = (int64_t)row_get(&r, 8);

		if (r.bad)
			break;
		add_range(q, series, first, last);
		q->rows += rows;
	}
}

/* --- Columns --- */

/* Sorts in the order of query_columns.h. */
static int compare_kinds(const void *a, const void *b)
{
	const struct clickhouse_kind *x = *(const struct clickhouse_kind *const *)a;
	const struct clickhouse_kind *y = *(const struct clickhouse_kind *const *)b;
	bool x_samples = !strcmp(x->column, "samples"), y_samples = !strcmp(y->column, "samples");

	if (x_samples != y_samples)
		return x_samples ? -1 : 1;
	if (x->position != y->position)
		return x->position < y->position ? -1 : 1;
	return strcmp(x->column, y->column) ? strcmp(x->column, y->column) : (int)x->clock - (int)y->clock;
}

static void note_period(struct query *q, const struct clickhouse_kind *k, bool is_first)
{
	struct profile *p = q->profile;

	if (is_first) {
		p->period_ns = k->period_ns;
	} else if (p->period_ns != k->period_ns) {
		p->period_ns = 0;
		p->mixed_periods = true;
	}
}

static size_t kinds_of(const struct query *q, unsigned shards, const struct clickhouse_kind ***ret)
{
	const struct clickhouse_kind **list = NULL;
	size_t count = 0, capacity = 0;

	for (unsigned i = 0; i < shards; i++) {
		struct row_reader r = row_reader_of(&q->parts[i].rows);
		uint64_t last = 0;

		while (row_more(&r)) {
			const struct clickhouse_kind *k;
			uint64_t kind;

			row_get(&r, 8);
			kind = row_get(&r, 8);
			row_get(&r, 8);
			if (kind == last)
				continue;
			last = kind;
			k = clickhouse_find_kind(&q->kinds, kind);
			if (!k)
				continue;
			GROW(&list, &capacity, count + 1);
			list[count++] = k;
		}
	}
	*ret = list;
	return count;
}

/* Adds all measured columns before the sums, so that derived columns come last. */
static void add_columns(struct query *q, unsigned shards)
{
	_cleanup_(freep) const struct clickhouse_kind **kinds = NULL;
	size_t count = kinds_of(q, shards, &kinds);

	if (count)
		qsort(kinds, count, sizeof(*kinds), compare_kinds);
	for (size_t i = 0; i < count; i++) {
		note_period(q, kinds[i], i == 0);
		profile_column(q->profile, kinds[i]->column, kinds[i]->unit);
	}
	for (size_t i = 0; i < count; i++)
		if (clickhouse_time_column(kinds[i]))
			profile_column(q->profile, clickhouse_time_column(kinds[i]), "nanoseconds");
}

/* --- Values --- */

struct values {
	const struct clickhouse_kind *kind;
	uint32_t column, times;			/* UINT32_MAX: none, since the number of columns is limited */
	bool is_samples;
};

static struct values values_of(struct query *q, uint64_t kind)
{
	struct values v = { clickhouse_find_kind(&q->kinds, kind), UINT32_MAX, UINT32_MAX, false };

	if (!v.kind)
		return v;
	v.column = profile_column(q->profile, v.kind->column, v.kind->unit);
	v.is_samples = !strcmp(v.kind->column, "samples");
	if (clickhouse_time_column(v.kind))
		v.times = profile_column(q->profile, clickhouse_time_column(v.kind), "nanoseconds");
	return v;
}

static void add_value(struct query *q, const struct values *v, uint32_t node, int64_t value)
{
	if (v->column != UINT32_MAX)
		profile_add(q->profile, node, v->column, value);
	if (v->times != UINT32_MAX)
		profile_add(q->profile, node, v->times, saturating_product(value, v->kind->period_ns));
	if (v->is_samples && value > 0)
		saturating_count(&q->samples, (uint64_t)value);
}

/* `found` is the node in the tables; MAP_NONE if it is missing. */
static uint32_t node_of(struct query *q, uint64_t name, uint32_t found)
{
	if (!name)
		return PROFILE_ROOT;
	if (name == CLICKHOUSE_LEFT_OUT)
		return profile_child(q->profile, PROFILE_ROOT, profile_pruned_frame(q->profile));
	return found == MAP_NONE ? clickhouse_unknown_stack(q->profile) : found;
}

static uint64_t place_stacks(struct query *q, const struct clickhouse_cache *cache, unsigned shards, struct map *nodes)
{
	struct clickhouse_stacks *stacks[CLICKHOUSE_SHARDS];

	for (unsigned i = 0; i < shards; i++)
		stacks[i] = &q->parts[i].stacks;
	return clickhouse_place_stacks(cache, stacks, shards, q->profile, nodes);
}

static void log_collisions(struct clickhouse_store *s, uint64_t collisions)
{
	char why[256];

	if (!collisions)
		return;
	snprintf(why, sizeof(why), "ClickHouse: %llu hash collisions of stacks; their samples are attributed to the existing entry",
		 (unsigned long long)collisions);
	clickhouse_note(s, why);
}

static void add_sums(struct query *q, const struct clickhouse_part *part, const struct map *nodes)
{
	struct row_reader r = row_reader_of(&part->rows);
	struct values v = { 0 };
	uint64_t last = 0;

	while (row_more(&r)) {
		uint64_t name = row_get(&r, 8), kind = row_get(&r, 8);
		int64_t value = (int64_t)row_get(&r, 8);

		if (r.bad)
			break;
		if (kind != last)
			v = values_of(q, kind);
		last = kind;
		if (v.kind)
			add_value(q, &v, node_of(q, name, map_get(nodes, name)), value);
		else
			q->kindless++;
	}
}

/* --- The answer --- */

static bool is_cut(const struct query *q)
{
	for (unsigned i = 0; i < CLICKHOUSE_SHARDS; i++)
		if (q->parts[i].is_cut)
			return true;
	return false;
}

static void prune(struct query *q, struct store_query_stats *stats)
{
	struct profile *p = q->profile;
	uint32_t most = q->what->max_nodes, column = profile_find_column(p, "samples"), frame;
	bool is_large = most && p->node_count > most;

	column = column == UINT32_MAX ? 0 : column;
	if (!is_large && !is_cut(q))
		return;
	if (is_large) {
		q->profile = profile_prune(p, column, most);
		profile_free(p);
		p = q->profile;
	}
	frame = profile_pruned_frame(p);
	for (uint32_t i = 1; i < p->node_count; i++)
		if (p->node_frames[i] == frame)
			saturating_add(&stats->pruned_samples, p->columns[column].self[i]);
	stats->pruned = true;
}

static void describe(struct query *q, struct store_query_stats *stats)
{
	if (q->any) {
		q->profile->start_ns = q->first * BATCH_BUCKET_NS;
		q->profile->end_ns = q->end * BATCH_BUCKET_NS;
		labels_copy(&q->profile->labels, &q->labels);
	}
	stats->days = q->days;
	stats->series = q->series.count;
	for (size_t i = 0; i < q->series.count; i++)
		stats->series_matched += q->series.items[i].matches;
	stats->chunks = q->rows;
	stats->samples = q->samples;
	stats->first_ns = q->oldest * BATCH_BUCKET_NS;
	stats->last_ns = q->newest * BATCH_BUCKET_NS;
}

static void merge(struct query *q, struct clickhouse_store *s)
{
	unsigned shards = s->url.server_count;
	_cleanup_(freep) uint64_t *days = xcalloc(CLICKHOUSE_DAYS / 64, sizeof(*days));
	_cleanup_(map_done) struct map nodes = { 0 };

	for (unsigned i = 0; i < shards; i++) {
		add_days(q, &q->parts[i].days, days);
		clickhouse_add_series(&q->series, &q->parts[i].series);
		clickhouse_merge_kinds(&q->kinds, &q->parts[i].kinds);
	}
	add_columns(q, shards);
	log_collisions(s, place_stacks(q, s->cache, shards, &nodes));
	for (unsigned i = 0; i < shards; i++) {
		add_ranges(q, &q->parts[i].ranges);
		add_sums(q, &q->parts[i], &nodes);
	}
}

static void query_done(struct query *q, unsigned shards)
{
	for (unsigned i = 0; i < shards; i++)
		clickhouse_part_done(&q->parts[i]);
	clickhouse_series_done(&q->series);
	clickhouse_kinds_done(&q->kinds);
	labels_done(&q->labels);
	profile_free(q->profile);
	free(q);
}

int clickhouse_query(struct store *store, const struct store_query *what, struct profile **ret,
		     struct store_query_stats *stats, struct err *err)
{
	struct clickhouse_store *s = clickhouse_of(store);
	struct query *q = xcalloc(1, sizeof(*q));
	unsigned shards = s->url.server_count;
	int rc;

	q->what = what;
	for (unsigned i = 0; i < shards; i++)
		clickhouse_part_init(&q->parts[i]);
	labels_init(&q->labels);
	q->profile = profile_new();
	profile_keep_lines(q->profile, what->lines);
	rc = clickhouse_each(s, ask_shard, q, err);
	if (rc >= 0) {
		merge(q, s);
		clickhouse_log_kindless(s, q->kindless);
		prune(q, stats);
		describe(q, stats);
		*ret = TAKE_PTR(q->profile);
	}
	query_done(q, shards);
	return rc;
}

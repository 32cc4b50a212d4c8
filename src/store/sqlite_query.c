/* sqlite_query.c: any range of time and any filter, merged into one profile.
 *
 * Per day the values of each stack are added up in arrays, by node number; that costs a few nanoseconds per row,
 * however the rows are spread over series and hours. Only then the tree is walked once, parents before children, and
 * what has values becomes part of the profile. */
#include "chunk.h"
#include "mem.h"
#include "saturate.h"
#include "sqlite_scan.h"
#include <assert.h>
#include <string.h>

struct query {
	struct profile *profile;
	uint64_t samples;
	int64_t first, end;		/* buckets with samples: [first, end) */
	struct labels labels;
	bool any;			/* there was a row; labels, period and buckets are known */
	uint32_t max_nodes;		/* as in store_query, but never 0 */
	bool pruned;

	/* of the day being read */
	struct stack_tree tree;
	int64_t *values[PROFILE_COLUMNS];	/* by column of the profile, then by node; NULL if all are 0 */
};

/* Columns are found before anything is added up, so that those that follow from others come last. */
static int note_columns(void *data, const struct series *s)
{
	struct query *q = data;

	for (uint32_t i = 0; i < s->column_count; i++)
		profile_column(q->profile, s->columns[i].name, s->columns[i].unit);
	return 0;
}

static int note_time_columns(void *data, const struct series *s)
{
	struct query *q = data;
	const char *name = series_time_column(s);

	if (name)
		profile_column(q->profile, name, "nanoseconds");
	return 0;
}

static int64_t *values_of(struct query *q, const char *name, const char *unit)
{
	uint32_t column = profile_column(q->profile, name, unit);

	if (column == UINT32_MAX)	/* more columns than a profile holds; the first ones are shown */
		return NULL;
	assert(column < PROFILE_COLUMNS && q->tree.node_count > 0);
	if (!q->values[column])
		q->values[column] = xcalloc(q->tree.node_count, sizeof(int64_t));
	return q->values[column];
}

static void note_series(struct query *q, const struct scan_chunk *c)
{
	_cleanup_(labels_done) struct labels labels = { 0 };
	struct profile *p = q->profile;

	labels_init(&labels);
	series_labels(c->series, &labels);
	if (!q->any) {
		labels_copy(&q->labels, &labels);
		p->period_ns = c->series->period_ns;
		q->first = INT64_MAX;
		q->any = true;
	} else if (p->period_ns != c->series->period_ns) {
		p->period_ns = 0;
		p->mixed_periods = true;
	}
	labels_keep_common(&q->labels, &labels);
}

static inline void add_to(int64_t *values, uint32_t node, int64_t v)
{
	if (values)
		values[node] = add_saturated(values[node], v);
}

static int64_t multiply_saturated(int64_t a, int64_t b)
{
	int64_t product;

	if (__builtin_mul_overflow(a, b, &product))
		return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
	return product;
}

static int add_chunk(void *data, struct day *d, const struct scan_chunk *c, struct err *err)
{
	const struct series *s = c->series;
	const char *time_name = series_time_column(s);
	struct query *q = data;
	int64_t *columns[PROFILE_COLUMNS], *times, row[PROFILE_COLUMNS];
	unsigned bucket, first = UINT32_MAX, last = 0;
	uint32_t node;
	int rc;

	if (!q->tree.node_count) {
		rc = stack_tree_load(&q->tree, d->db, d->path, err);
		if (rc < 0)
			return rc;
	}
	for (uint32_t i = 0; i < s->column_count; i++)
		columns[i] = values_of(q, s->columns[i].name, s->columns[i].unit);
	times = time_name ? values_of(q, time_name, "nanoseconds") : NULL;

	assert(!time_name || s->samples != UINT32_MAX);
	while ((rc = scan_next(c, &node, &bucket, row)) > 0) {
		if (node >= q->tree.node_count || stack_tree_is_hole(&q->tree, node))
			return -EBADMSG;
		for (uint32_t i = 0; i < s->column_count; i++)
			add_to(columns[i], node, row[i]);
		if (times)
			add_to(times, node, multiply_saturated(row[s->samples], s->period_ns));
		if (s->samples != UINT32_MAX && row[s->samples] > 0)
			saturating_count(&q->samples, (uint64_t)row[s->samples]);
		first = bucket < first ? bucket : first;
		last = bucket > last ? bucket : last;
	}
	if (first == UINT32_MAX)
		return rc;
	note_series(q, c);
	if (c->hour_bucket + first < q->first)
		q->first = c->hour_bucket + first;
	if (c->hour_bucket + last + 1 > q->end)
		q->end = c->hour_bucket + last + 1;
	return rc;
}

static bool has_values(const struct query *q, uint32_t node)
{
	for (uint32_t c = 0; c < q->profile->column_count; c++)
		if (q->values[c] && q->values[c][node])
			return true;
	return false;
}

/* Marks the nodes that have values or descendants with values; the caller frees. */
static bool *needed_nodes(const struct query *q, uint32_t *ret_count)
{
	bool *needed = xcalloc(q->tree.node_count, sizeof(*needed));

	needed[0] = true;
	*ret_count = 1;
	for (uint32_t i = q->tree.node_count - 1; i > 0; i--) {
		needed[i] = needed[i] || has_values(q, i);
		*ret_count += needed[i];
		assert(q->tree.parents[i] < i);
		if (needed[i])
			needed[q->tree.parents[i]] = true;
	}
	return needed;
}

/* Returns the column by which nodes are weighed. */
static uint32_t weighing_column(const struct profile *p)
{
	uint32_t column = profile_find_column(p, "samples");

	return column == UINT32_MAX ? 0 : column;
}

/* For the nodes whose caller is kept: whether they are cut to PROFILE_PRUNED themselves. NULL: none is. The caller frees. */
static bool *cut_nodes(struct query *q, const bool *needed, uint32_t count)
{
	const struct stack_tree *t = &q->tree;
	const int64_t *values = q->profile->column_count ? q->values[weighing_column(q->profile)] : NULL;
	_cleanup_(freep) int64_t *totals = NULL;
	int64_t least;
	bool *cut;

	if (count <= q->max_nodes)
		return NULL;
	totals = xcalloc(t->node_count, sizeof(*totals));
	for (uint32_t i = t->node_count - 1; i > 0; i--) {
		totals[i] = add_saturated(totals[i], values ? values[i] : 0);
		totals[t->parents[i]] = add_saturated(totals[t->parents[i]], totals[i]);
	}
	least = profile_least_kept(totals, needed, t->node_count, q->max_nodes / 2);
	cut = xcalloc(t->node_count, sizeof(*cut));
	for (uint32_t i = 1; i < t->node_count; i++)
		cut[i] = totals[i] < least;
	q->pruned = true;
	return cut;
}

static uint32_t frame_of(struct query *q, uint32_t *frames, uint32_t number)
{
	if (frames[number] == UINT32_MAX) {
		struct str name, file;
		uint32_t line;

		stack_tree_frame(&q->tree, number, &name, &file, &line);
		frames[number] = profile_frame(q->profile, name, file, line);
	}
	return frames[number];
}

/* The node of the profile for one of the day whose caller has one. */
static uint32_t place_of(struct query *q, uint32_t *frames, uint32_t node, uint32_t parent, bool is_cut)
{
	const struct stack_tree *t = &q->tree;

	assert(node > 0 && !stack_tree_is_hole(t, node));		/* they have no values, and no children */
	if (is_cut)
		return profile_child(q->profile, parent, profile_pruned_frame(q->profile));
	return profile_child_at(q->profile, parent, frame_of(q, frames, t->node_frames[node]),
				t->node_lines ? t->node_lines[node] : 0);
}

static void add_day(struct query *q)
{
	const struct stack_tree *t = &q->tree;
	uint32_t count;
	_cleanup_(freep) bool *needed = needed_nodes(q, &count);
	_cleanup_(freep) bool *cut = cut_nodes(q, needed, count);
	_cleanup_(freep) uint32_t *nodes = xmalloc(t->node_count * sizeof(*nodes));
	_cleanup_(freep) uint32_t *frames = xmalloc((t->frame_count + 1) * sizeof(*frames));

	memset(frames, 0xff, (t->frame_count + 1) * sizeof(*frames));
	nodes[0] = PROFILE_ROOT;
	for (uint32_t i = 0; i < t->node_count; i++) {
		uint32_t parent = t->parents[i];

		if (!needed[i])
			continue;
		if (i > 0 && cut && cut[parent]) {
			cut[i] = true;
			nodes[i] = nodes[parent];
		} else if (i > 0) {
			nodes[i] = place_of(q, frames, i, nodes[parent], cut && cut[i]);
		}
		for (uint32_t c = 0; c < q->profile->column_count; c++)
			if (q->values[c] && q->values[c][i])
				profile_add(q->profile, nodes[i], c, q->values[c][i]);
	}
}

/* Prunes again, as several days together may exceed the limit. */
static void prune(struct query *q)
{
	struct profile *pruned;

	if (q->profile->node_count <= q->max_nodes)
		return;
	pruned = profile_prune(q->profile, weighing_column(q->profile), q->max_nodes);
	profile_free(q->profile);
	q->profile = pruned;
	q->pruned = true;
}

static int64_t pruned_samples(const struct query *q)
{
	const struct profile *p = q->profile;
	uint32_t frame = profile_pruned_frame(q->profile), column = weighing_column(p);
	int64_t sum = 0;

	for (uint32_t i = 1; i < p->node_count; i++)
		if (p->node_frames[i] == frame)
			sum = add_saturated(sum, p->columns[column].self[i]);
	return sum;
}

static void end_day(void *data, const struct series *series, size_t count)
{
	struct query *q = data;

	if (q->tree.node_count)
		add_day(q);
	for (uint32_t c = 0; c < PROFILE_COLUMNS; c++) {
		free(q->values[c]);
		q->values[c] = NULL;
	}
	stack_tree_done(&q->tree);
	stack_tree_init(&q->tree);
	prune(q);
}

static int run(struct query *q, struct sqlite_store *s, const struct store_query *what, struct store_looked *looked,
	       struct err *err)
{
	const struct scan_visitor columns = { .series = note_columns, .data = q };
	const struct scan_visitor times = { .series = note_time_columns, .data = q };
	const struct scan_visitor chunks = { .chunk = add_chunk, .day_end = end_day, .data = q };
	int rc = sqlite_scan(s, what, &columns, NULL, err);

	if (rc >= 0)
		rc = sqlite_scan(s, what, &times, NULL, err);
	if (rc >= 0)
		rc = sqlite_scan(s, what, &chunks, looked, err);
	end_day(q, NULL, 0);
	return rc;
}

static void describe(struct query *q)
{
	assert(q->first < q->end);
	q->profile->start_ns = q->first * BATCH_BUCKET_NS;
	q->profile->end_ns = q->end * BATCH_BUCKET_NS;
	labels_copy(&q->profile->labels, &q->labels);
}

int sqlite_query(struct store *store, const struct store_query *what, struct profile **ret,
		 struct store_looked *looked, struct err *err)
{
	struct sqlite_store *s = (struct sqlite_store *)store;
	struct query q = { .profile = profile_new(), .max_nodes = what->max_nodes ? what->max_nodes : UINT32_MAX };
	int rc, held;

	profile_keep_lines(q.profile, what->lines);
	labels_init(&q.labels);
	stack_tree_init(&q.tree);
	rc = run(&q, s, what, looked, err);
	if (rc >= 0 && q.any)
		describe(&q);
	labels_done(&q.labels);
	if (rc < 0) {
		profile_free(q.profile);
		return rc;
	}
	held = files_lock_read(&s->files);
	sqlite_store_extent(s, &looked->first_ns, &looked->last_ns);
	files_lock_end(&s->files, held);
	looked->samples = q.samples;
	looked->pruned = q.pruned;
	looked->pruned_samples = q.pruned ? pruned_samples(&q) : 0;
	*ret = q.profile;
	return 0;
}

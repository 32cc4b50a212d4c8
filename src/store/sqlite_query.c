/* sqlite_query.c: merges any time range and label filter into one profile.
 *
 * Per day the values of each stack are added up in arrays, by node number; that costs a few nanoseconds per row, no
 * matter how the rows are spread over series and hours. Only then nodes with values are moved to the profile: as
 * whole arrays for the first day, and node by node, parents before children, for others. */
#include "day_values.h"
#include "mem.h"
#include "only_day.h"
#include "query_columns.h"
#include "saturate.h"
#include <assert.h>
#include <string.h>

struct query {
	const struct store_query *what;
	struct profile *profile;
	uint64_t samples;
	int64_t first, end;		/* buckets with samples: [first, end) */
	struct labels labels;
	bool any;			/* a row was found; labels, period and buckets are known */
	uint32_t max_nodes;		/* as in store_query, but never 0 */
	bool pruned, refused;		/* there were more nodes than max_nodes, or than allowed */
	const char *times[2];		/* derived columns: one per clock */
	unsigned time_count, times_added;
	struct query_columns columns;

	/* for the current day, kept until the next one begins */
	struct stack_tree tree;
	struct day_values values;
	bool *noted;			/* by number of a series: note_series was called for it */
	size_t noted_capacity;
	bool finished;			/* all of the day was read */
	bool profile_begun;		/* the profile has values of an earlier day */
};

static void add_day(struct query *q);

static void note_time(struct query *q, const char *name)
{
	for (unsigned i = 0; i < q->time_count; i++)
		if (!strcmp(q->times[i], name))
			return;
	assert(q->time_count < ARRAY_SIZE(q->times));
	q->times[q->time_count++] = name;
}

/* Call once the others are known, so that these columns come last. */
static void add_times(struct query *q)
{
	for (; q->times_added < q->time_count; q->times_added++)
		profile_column(q->profile, q->times[q->times_added], "nanoseconds");
}

static int note_columns(void *data, const struct series *s)
{
	struct query *q = data;
	const char *time = series_time_column(s);

	for (uint32_t i = 0; i < s->column_count; i++)
		profile_column(q->profile, s->columns[i].name, s->columns[i].unit);
	if (time)
		note_time(q, time);
	return 0;
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
	query_columns_note(&q->columns, p, c->series);
}

/* Tells whether all stacks of the day are requested, so that the profile will have about as many nodes. */
static bool is_all_of(const struct store_query *what, int64_t day)
{
	int64_t start = day * DAY_BUCKETS * BATCH_BUCKET_NS;

	return !what->filter_count && what->from_ns <= start && what->to_ns >= start + DAY_BUCKETS * BATCH_BUCKET_NS;
}

static bool are_refused(const struct query *q, uint32_t nodes)
{
	return q->what->refuse_above && nodes > q->what->refuse_above;
}

static int refuse(const struct query *q, struct err *err)
{
	return err_set(err, -ENOMEM, "the profile has more than %u nodes", q->what->refuse_above);
}

static int load_tree(struct query *q, struct day *d, struct err *err)
{
	uint32_t size;
	int rc = stack_tree_size(d->db, d->path, &size, err);

	if (rc < 0)
		return rc;
	if (is_all_of(q->what, d->number) && are_refused(q, size))
		return refuse(q, err);
	return stack_tree_load(&q->tree, d->db, d->path, err);
}

static bool *series_noted(struct query *q, uint32_t id)
{
	size_t before = q->noted_capacity;

	GROW(&q->noted, &q->noted_capacity, id + 1);
	if (q->noted_capacity > before)
		memset(q->noted + before, 0, (q->noted_capacity - before) * sizeof(*q->noted));
	return &q->noted[id];
}

static int add_chunk(void *data, struct day *d, const struct scan_chunk *c, struct err *err)
{
	struct query *q = data;
	struct rows_added added;
	bool *noted;
	int rc;

	if (q->finished)
		add_day(q);
	add_times(q);
	rc = q->tree.node_count ? 0 : load_tree(q, d, err);
	if (rc < 0)
		return rc;
	rc = day_values_add(&q->values, &q->tree, c, &added);
	if (!added.end)
		return rc;
	noted = series_noted(q, c->id);
	if (!*noted)
		note_series(q, c);
	*noted = true;
	saturating_count(&q->samples, added.samples);
	if (c->hour_bucket + added.first < q->first)
		q->first = c->hour_bucket + added.first;
	if (c->hour_bucket + added.end > q->end)
		q->end = c->hour_bucket + added.end;
	return rc;
}

/* Returns the column whose values decide which nodes are pruned. */
static uint32_t weighing_column(const struct profile *p)
{
	uint32_t column = profile_find_column(p, "samples");

	return column == UINT32_MAX ? 0 : column;
}

/* Marks the nodes to be cut, by their values, for nodes whose caller is kept: these become PROFILE_PRUNED. NULL: none
 * is cut. The caller frees. */
static bool *cut_nodes(struct query *q)
{
	const struct stack_tree *t = &q->tree;
	const int64_t *values = q->profile->column_count ? q->values.columns[weighing_column(q->profile)] : NULL;
	_cleanup_(freep) int64_t *totals = NULL;
	int64_t least;
	bool *cut;

	if (t->node_count <= q->max_nodes)
		return NULL;
	totals = xcalloc(t->node_count, sizeof(*totals));
	for (uint32_t i = t->node_count - 1; i > 0; i--) {
		saturating_add(&totals[i], values ? values[i] : 0);
		saturating_add(&totals[t->parents[i]], totals[i]);
	}
	least = profile_least_kept(totals, NULL, t->node_count, q->max_nodes / 2);
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

/* The state of copying a day's nodes into the profile. */
struct copy {
	uint32_t *frames, *nodes;	/* in the profile, by the day's; frames: UINT32_MAX: not copied yet */
	bool *cut;			/* by node of the day: becomes PROFILE_PRUNED; NULL: none does */
};

/* Tells whether nodes may coincide: a day's stacks are unique, unless lines that were not requested are dropped, or
 * cut nodes become one. */
static bool may_meet(const struct query *q, const bool *cut)
{
	return q->profile->node_count > 1 || cut || (q->tree.node_lines && !q->what->lines);
}

/* Returns the profile's node for a node of the day whose caller has one. */
static uint32_t place_of(struct query *q, struct copy *c, uint32_t node, uint32_t parent)
{
	const struct stack_tree *t = &q->tree;

	assert(node > 0 && !stack_tree_is_hole(t, node));		/* holes have neither values nor children */
	if (c->cut && c->cut[node])
		return profile_child(q->profile, parent, profile_pruned_frame(q->profile));
	return profile_child_at(q->profile, parent, frame_of(q, c->frames, t->node_frames[node]),
				t->node_lines ? t->node_lines[node] : 0);
}

static void copy_node(struct query *q, struct copy *c, uint32_t i)
{
	uint32_t parent = q->tree.parents[i];

	if (i > 0 && c->cut && c->cut[parent]) {
		c->cut[i] = true;
		c->nodes[i] = c->nodes[parent];
	} else if (i > 0) {
		c->nodes[i] = place_of(q, c, i, c->nodes[parent]);
	}
	for (uint32_t column = 0; column < q->profile->column_count; column++)
		if (q->values.columns[column] && q->values.columns[column][i])
			profile_add(q->profile, c->nodes[i], column, q->values.columns[column][i]);
}

static void copy_nodes(struct query *q, struct copy *c)
{
	c->nodes = xmalloc(q->tree.node_count * sizeof(*c->nodes));
	c->nodes[0] = PROFILE_ROOT;
	for (uint32_t i = 0; i < q->tree.node_count; i++)
		copy_node(q, c, i);
	free(c->nodes);
}

/* Turns the arrays of the day into those of the profile. */
static void move_nodes(struct query *q, struct copy *c)
{
	struct stack_tree *t = &q->tree;

	for (uint32_t i = 1; i < t->node_count; i++)
		t->node_frames[i] = frame_of(q, c->frames, t->node_frames[i]);
	profile_take_nodes(q->profile, t->node_count, TAKE_PTR(t->parents), TAKE_PTR(t->node_frames), TAKE_PTR(t->node_lines),
			   q->values.columns);
	memset(q->values.columns, 0, sizeof(q->values.columns));
}

static void add_nodes(struct query *q)
{
	const struct stack_tree *t = &q->tree;
	_cleanup_(freep) uint32_t *frames = xmalloc((t->frame_count + 1) * sizeof(*frames));
	_cleanup_(freep) bool *cut = cut_nodes(q);
	struct copy c = { .frames = frames, .cut = cut };

	memset(frames, 0xff, (t->frame_count + 1) * sizeof(*frames));
	if (may_meet(q, cut))
		copy_nodes(q, &c);
	else
		move_nodes(q, &c);
}

/* Prunes again, since several days together may exceed the limit. */
static void prune(struct query *q)
{
	struct profile *pruned;

	if (q->profile->node_count <= q->max_nodes)
		return;
	pruned = profile_prune(q->profile, weighing_column(q->profile), q->max_nodes);
	profile_free(q->profile);
	q->profile = q->values.profile = pruned;
	q->pruned = true;
}

static int64_t pruned_samples(const struct query *q)
{
	const struct profile *p = q->profile;
	uint32_t frame = profile_pruned_frame(q->profile), column = weighing_column(p);
	int64_t sum = 0;

	for (uint32_t i = 1; i < p->node_count; i++)
		if (p->node_frames[i] == frame)
			saturating_add(&sum, p->columns[column].self[i]);
	return sum;
}

static void forget_day(struct query *q)
{
	day_values_done(&q->values);
	stack_tree_done(&q->tree);
	stack_tree_init(&q->tree);
	q->finished = false;
}

/* Moves the values of a finished day into the profile. */
static void add_day(struct query *q)
{
	q->refused = q->refused || are_refused(q, q->tree.node_count);
	if (q->refused) {
		forget_day(q);
		return;
	}
	q->profile_begun = true;
	add_nodes(q);
	q->refused = are_refused(q, q->profile->node_count);
	forget_day(q);
	prune(q);
}

/* Keeps the day as it is until the next one begins: it may be the only one. */
static void end_day(void *data, const struct series *series, size_t count)
{
	struct query *q = data;

	free(q->noted);
	q->noted = NULL;
	q->noted_capacity = 0;
	if (q->tree.node_count && !q->finished)
		day_values_finish(&q->values, &q->tree);
	q->finished = q->tree.node_count > 0;
}

/* A day's series come before its chunks. */
static bool is_one_day(const struct store_query *what)
{
	const int64_t day_ns = DAY_BUCKETS * BATCH_BUCKET_NS;

	return what->from_ns >= 0 && what->to_ns > what->from_ns && what->from_ns / day_ns == (what->to_ns - 1) / day_ns;
}

/* Columns are determined before any values are added. */
static int run(struct query *q, struct sqlite_store *s, struct store_query_stats *stats, struct err *err)
{
	const struct scan_visitor columns = { .series = note_columns, .data = q };
	struct scan_visitor chunks = { .chunk = add_chunk, .day_end = end_day, .data = q };
	int rc = 0;

	if (is_one_day(q->what))
		chunks.series = note_columns;
	else
		rc = sqlite_scan(s, q->what, &columns, NULL, err);
	if (rc >= 0)
		rc = sqlite_scan(s, q->what, &chunks, stats, err);
	add_times(q);
	q->refused = q->refused || are_refused(q, q->tree.node_count);
	return rc >= 0 && q->refused ? refuse(q, err) : rc;
}

static void describe(struct query *q)
{
	assert(q->first < q->end);
	q->profile->start_ns = q->first * BATCH_BUCKET_NS;
	q->profile->end_ns = q->end * BATCH_BUCKET_NS;
	labels_copy(&q->profile->labels, &q->labels);
}

static void query_init(struct query *q, const struct store_query *what)
{
	*q = (struct query){ .what = what, .profile = profile_new(), .max_nodes = what->max_nodes ? what->max_nodes : UINT32_MAX };
	profile_keep_lines(q->profile, what->lines);
	labels_init(&q->labels);
	stack_tree_init(&q->tree);
	day_values_init(&q->values, q->profile);
}

static void query_done(struct query *q)
{
	forget_day(q);
	free(q->noted);
	labels_done(&q->labels);
	profile_free(q->profile);
}

static void fill_stats(struct query *q, struct sqlite_store *s, struct store_query_stats *stats)
{
	int held = files_lock_shared(&s->files);

	sqlite_store_extent(s, &stats->first_ns, &stats->last_ns);
	files_lock_release(&s->files, held);
	stats->samples = q->samples;
	stats->pruned = q->pruned;
	stats->pruned_samples = q->pruned ? pruned_samples(q) : 0;
}

/* Returns the result as a profile. */
static int complete(struct query *q, struct err *err)
{
	if (q->finished)
		add_day(q);
	if (q->refused)
		return refuse(q, err);
	if (q->any)
		describe(q);
	query_columns_sort(&q->columns, q->profile);
	/* A day's tree has the lines of all series, requested or not. */
	profile_drop_unused_lines(q->profile);
	return 0;
}

int sqlite_query(struct store *store, const struct store_query *what, struct profile **ret,
		 struct store_query_stats *stats, struct err *err)
{
	struct sqlite_store *s = (struct sqlite_store *)store;
	struct query q;
	int rc;

	query_init(&q, what);
	rc = run(&q, s, stats, err);
	if (rc >= 0)
		rc = complete(&q, err);
	if (rc >= 0) {
		fill_stats(&q, s, stats);
		*ret = TAKE_PTR(q.profile);
	}
	query_done(&q);
	return rc;
}

/* --- One column of a single day, without a profile --- */

/* Moves the day, the only one and within the limits, out of the query. */
static void take_day(struct query *q, uint32_t column, struct stack_values *ret)
{
	int64_t *self = NULL;

	describe(q);
	if (column != UINT32_MAX)
		self = q->values.columns[column] ? TAKE_PTR(q->values.columns[column]) : xcalloc(q->tree.node_count, sizeof(*self));
	only_day_take(&q->tree, self, TAKE_PTR(q->profile), q->what->lines, ret);
}

/* Tells whether the current day is the only one with samples, and none of its nodes must be pruned. */
static bool is_only_day(const struct query *q)
{
	return q->finished && q->any && !q->profile_begun && q->tree.node_count <= q->max_nodes;
}

int sqlite_values(struct store *store, const struct store_query *what, const char *column, struct stack_values *ret,
		  struct store_query_stats *stats, struct err *err)
{
	struct sqlite_store *s = (struct sqlite_store *)store;
	struct query q;
	int rc;

	query_init(&q, what);
	rc = run(&q, s, stats, err);
	if (rc >= 0 && !is_only_day(&q))
		rc = complete(&q, err);
	if (rc >= 0) {
		uint32_t found = profile_find_column(q.profile, column);

		fill_stats(&q, s, stats);
		if (is_only_day(&q))
			take_day(&q, query_columns_has(&q.columns, found) ? found : UINT32_MAX, ret);
		else
			*ret = stack_values_take(TAKE_PTR(q.profile), found);
	}
	query_done(&q);
	return rc;
}

/* day_values.c: adds rows to arrays, and computes time from samples. */
#include "day_values.h"
#include "mem.h"
#include "saturate.h"
#include <assert.h>
#include <string.h>

#define AHEAD	32u			/* rows that are read ahead before the first of them is added */

/* The arrays that the rows of a series are added to, by column of the series; NULL: the column is ignored. */
struct places {
	int64_t *columns[PROFILE_COLUMNS], *times;
	int64_t *first;			/* the array to prefetch */
};

void day_values_init(struct day_values *v, struct profile *p)
{
	*v = (struct day_values){ .profile = p };
}

void day_values_done(struct day_values *v)
{
	for (uint32_t c = 0; c < PROFILE_COLUMNS; c++)
		free(v->columns[c]);
	for (uint32_t i = 0; i < v->weighed_count; i++)
		free(v->weighed[i].values);
	day_values_init(v, v->profile);
}

static int64_t *column_of(struct day_values *v, uint32_t column)
{
	if (column == UINT32_MAX)	/* a profile has a limited number of columns; the first ones are shown */
		return NULL;
	assert(column < PROFILE_COLUMNS && v->node_count > 0);
	if (!v->columns[column])
		v->columns[column] = xcalloc(v->node_count, sizeof(int64_t));
	return v->columns[column];
}

/* Returns the array for samples taken at this period; NULL if there are too many different ones. */
static int64_t *weighed_of(struct day_values *v, uint32_t samples, uint32_t time, int64_t period_ns)
{
	struct weighed *w;

	for (uint32_t i = 0; i < v->weighed_count; i++) {
		w = &v->weighed[i];
		if (w->samples == samples && w->time == time && w->period_ns == period_ns)
			return w->values;
	}
	if (v->weighed_count == DAY_VALUES_PERIODS || samples == UINT32_MAX || time == UINT32_MAX)
		return NULL;
	w = &v->weighed[v->weighed_count++];
	*w = (struct weighed){ samples, time, period_ns, xcalloc(v->node_count, sizeof(int64_t)) };
	return w->values;
}

static void find_places(struct day_values *v, const struct series *s, struct places *to)
{
	const char *time_name = series_time_column(s);
	uint32_t samples = UINT32_MAX, time = UINT32_MAX;
	int64_t *weighed = NULL;

	assert(!time_name || s->samples != UINT32_MAX);
	*to = (struct places){ 0 };
	if (time_name) {
		samples = profile_column(v->profile, s->columns[s->samples].name, s->columns[s->samples].unit);
		time = profile_column(v->profile, time_name, "nanoseconds");
		weighed = weighed_of(v, samples, time, s->period_ns);
	}
	for (uint32_t i = 0; i < s->column_count; i++)
		to->columns[i] = weighed && i == s->samples ? weighed :
			column_of(v, profile_column(v->profile, s->columns[i].name, s->columns[i].unit));
	if (time_name && !weighed)
		to->times = column_of(v, time);
	to->first = to->columns[s->samples != UINT32_MAX ? s->samples : 0];
}

static inline void add_to(int64_t *values, uint32_t node, int64_t v)
{
	if (values)
		saturating_add(&values[node], v);
}

struct row {
	uint32_t node;
	int64_t values[PROFILE_COLUMNS];
};

static void add_rows(const struct places *to, const struct series *s, const struct row *rows, unsigned count,
		     struct rows_added *added)
{
	for (unsigned r = 0; r < count; r++) {
		const struct row *row = &rows[r];

		for (uint32_t i = 0; i < s->column_count; i++)
			add_to(to->columns[i], row->node, row->values[i]);
		if (s->samples == UINT32_MAX)
			continue;
		if (to->times)
			add_to(to->times, row->node, saturating_product(row->values[s->samples], s->period_ns));
		if (row->values[s->samples] > 0)
			saturating_count(&added->samples, (uint64_t)row->values[s->samples]);
	}
}

int day_values_add(struct day_values *v, const struct stack_tree *tree, const struct scan_chunk *c, struct rows_added *ret)
{
	struct row rows[AHEAD];
	struct places to;
	unsigned bucket, n;
	int rc;

	assert(!v->node_count || v->node_count == tree->node_count);
	v->node_count = tree->node_count;
	find_places(v, c->series, &to);
	*ret = (struct rows_added){ .first = UINT32_MAX };
	do {
		for (n = 0; n < AHEAD && (rc = scan_next(c, &rows[n].node, &bucket, rows[n].values)) > 0; n++) {
			if (rows[n].node >= tree->node_count || stack_tree_is_hole(tree, rows[n].node)) {
				rc = -EBADMSG;
				break;
			}
			if (to.first)
				__builtin_prefetch(&to.first[rows[n].node], 1);
			ret->first = bucket < ret->first ? bucket : ret->first;
			ret->end = bucket >= ret->end ? bucket + 1 : ret->end;
		}
		add_rows(&to, c->series, rows, n, ret);
	} while (rc > 0);
	return rc;
}

/* If these are the only samples of their column, they become the column without a copy. */
static void add_samples(struct day_values *v, struct weighed *w)
{
	if (!v->columns[w->samples]) {
		v->columns[w->samples] = w->values;
		w->values = NULL;
		return;
	}
	for (uint32_t i = 0; i < v->node_count; i++)
		add_to(v->columns[w->samples], i, w->values[i]);
}

/* --- Only the nodes that are needed --- */

static void mark_values(const int64_t *values, uint32_t count, bool *needed)
{
	for (uint32_t i = 0; values && i < count; i++)
		needed[i] |= values[i] != 0;
}

/* Marks nodes with values and their callers; the caller frees. */
static bool *mark_needed(const struct day_values *v, const struct stack_tree *t, uint32_t *ret_count)
{
	bool *needed = xcalloc(t->node_count, sizeof(*needed));

	for (uint32_t c = 0; c < PROFILE_COLUMNS; c++)
		mark_values(v->columns[c], t->node_count, needed);
	for (uint32_t n = 0; n < v->weighed_count; n++)
		mark_values(v->weighed[n].values, t->node_count, needed);
	*ret_count = 1;
	for (uint32_t i = t->node_count - 1; i > 0; i--) {
		assert(t->parents[i] < i);
		*ret_count += needed[i];
		needed[t->parents[i]] |= needed[i];
	}
	needed[0] = true;
	return needed;
}

static void keep_values(int64_t *values, const bool *needed, uint32_t count)
{
	for (uint32_t i = 0, to = 0; values && i < count; i++)
		if (needed[i])
			values[to++] = values[i];
}

static void keep_nodes(struct day_values *v, struct stack_tree *t, const bool *needed)
{
	for (uint32_t c = 0; c < PROFILE_COLUMNS; c++)
		keep_values(v->columns[c], needed, t->node_count);
	for (uint32_t n = 0; n < v->weighed_count; n++)
		keep_values(v->weighed[n].values, needed, t->node_count);
	stack_tree_keep(t, needed);
	v->node_count = t->node_count;
}

/* --- Time --- */

static void weigh(struct day_values *v)
{
	/* Times are computed first, while each array still has the samples of only one period. */
	for (uint32_t n = 0; n < v->weighed_count; n++) {
		const struct weighed *w = &v->weighed[n];
		int64_t *times = column_of(v, w->time);

		for (uint32_t i = 0; i < v->node_count; i++)
			if (w->values[i])
				add_to(times, i, saturating_product(w->values[i], w->period_ns));
	}
	for (uint32_t n = 0; n < v->weighed_count; n++)
		add_samples(v, &v->weighed[n]);
}

void day_values_finish(struct day_values *v, struct stack_tree *tree)
{
	uint32_t count;
	_cleanup_(freep) bool *needed = mark_needed(v, tree, &count);

	assert(!v->node_count || v->node_count == tree->node_count);	/* 0: nothing was added before the damage */
	if (count < tree->node_count)
		keep_nodes(v, tree, needed);
	weigh(v);
}

/* diff.c: unites two trees, one of them scaled to the other. */

#include "diff.h"

#include "buf.h"
#include "edges.h"
#include "mem.h"
#include "pair_frames.h"
#include "saturate.h"

#include <assert.h>
#include <string.h>

/* --- Stacks --- */

static void add_stacks(struct profile *into, uint32_t to, const struct profile *from, uint32_t column,
		       const uint32_t *frames)
{
	_cleanup_(freep) uint32_t *nodes = xmalloc(from->node_count * sizeof(*nodes));

	nodes[PROFILE_ROOT] = PROFILE_ROOT;
	for (uint32_t n = 0; n < from->node_count; n++) {
		if (n)
			nodes[n] = profile_child(into, nodes[from->parents[n]], frames[from->node_frames[n]]);
		profile_add(into, nodes[n], to, from->columns[column].self[n]);
	}
}

/* Unites edges, if either has some. */
static void unite_edges(struct profile *into, const struct profile *from, uint32_t column, uint32_t to,
			const uint32_t *frames)
{
	static const struct edges_options all = { .column = UINT32_MAX };
	struct edges *made = from->edges ? NULL : edges_of(from, &all);
	uint32_t columns[PROFILE_COLUMNS];
	const struct edges_places places = { .columns = columns, .frames = frames, .column_count = from->column_count };

	for (uint32_t c = 0; c < from->column_count; c++)
		columns[c] = c == column ? to : UINT32_MAX;
	edges_add(into->edges, made ? made : from->edges, &places);
	edges_free(made);
}

static bool have_edges(const struct profile *a, const struct profile *b)
{
	bool lost = (a->estimated && !a->edges) || (b->estimated && !b->edges);

	return !lost && (a->edges || b->edges);
}

/* --- Scaling --- */

/* Sorts nodes by the rank of their frames, so that rounding does not depend on the store they came from. */
static uint32_t *nodes_by_rank(const struct profile *p)
{
	_cleanup_(freep) uint32_t *ranks = profile_rank_frames(p), *ends = xcalloc((size_t)p->frame_count + 1, sizeof(*ends));
	uint32_t *list = xcalloc(p->node_count, sizeof(*list)), end = 0;

	for (uint32_t i = 1; i < p->node_count; i++)
		ends[ranks[p->node_frames[i]]]++;
	for (uint32_t f = 0; f < p->frame_count; f++)
		ends[f] = end += ends[f];
	for (uint32_t i = p->node_count - 1; i > 0; i--)
		list[--ends[ranks[p->node_frames[i]]]] = i;
	return list;
}

/* Visits nodes parents first, each subtree as a whole: the running sum is rounded, and a node gets its increase. So
 * the sum of a subtree is off by less than one, and so is the total. */
static void scale_column(struct profile *p, uint32_t to)
{
	const struct profile_scaling *scaling = &p->columns[to].scaling;
	_cleanup_(freep) uint32_t *first = xcalloc(p->node_count, sizeof(*first));
	_cleanup_(freep) uint32_t *next = xcalloc(p->node_count, sizeof(*next));
	_cleanup_(freep) uint32_t *ranked = nodes_by_rank(p);
	int64_t sum = 0, given = 0;
	uint32_t n = PROFILE_ROOT;

	for (uint32_t i = p->node_count - 1; i-- > 0;) {
		uint32_t child = ranked[i];

		next[child] = first[p->parents[child]];
		first[p->parents[child]] = child;
	}
	for (;;) {
		int64_t until;

		saturating_add(&sum, p->columns[scaling->from].self[n]);
		until = profile_scaled(scaling, sum);
		p->columns[to].self[n] = until - given;
		given = until;
		if (first[n]) {
			n = first[n];
			continue;
		}
		while (n != PROFILE_ROOT && !next[n])
			n = p->parents[n];
		if (n == PROFILE_ROOT)
			return;
		n = next[n];
	}
}

/* Like difffolded.pl -n, with the same order of operations. */
static void scale_truncating(struct profile *p, uint32_t to, uint32_t from, int64_t numerator, int64_t denominator)
{
	for (uint32_t n = 0; n < p->node_count; n++) {
		double v = (double)p->columns[from].self[n] * (double)numerator / (double)denominator;

		p->columns[to].self[n] = v > 9.2e18 ? INT64_MAX : v < -9.2e18 ? INT64_MIN : (int64_t)v;
	}
}

/* One side, and its total before its stacks were filtered. */
struct measure {
	const struct profile *p, *whole;
	uint32_t column, whole_column;
};

static struct measure measure(const struct profile *p, uint32_t column, const struct profile *whole)
{
	uint32_t found = whole ? profile_find_column(whole, p->columns[column].name) : UINT32_MAX;

	return found == UINT32_MAX ? (struct measure){ p, p, column, column } : (struct measure){ p, whole, column, found };
}

/* Converts to the current unit of the side. */
static double in_unit(const struct measure *m, double v)
{
	return v * (double)profile_scale(m->p, m->column) / (double)profile_scale(m->whole, m->whole_column);
}

static int64_t total_of(const struct measure *m)
{
	return saturating_product(edges_total(m->whole, m->whole_column), profile_scale(m->p, m->column) / profile_scale(m->whole, m->whole_column));
}

static double weight_of(const struct measure *m)
{
	return in_unit(m, diff_sample_weight(m->whole, m->whole_column));
}

/* Returns the number of requests in millionths: from a label, or from how often the outermost functions of a trace
 * were called. 0 if unknown. */
static int64_t requests_of(const struct profile *p)
{
	const char *label = labels_get(&p->labels, "requests");
	uint32_t calls = profile_find_column(p, "calls");
	int64_t sum = label ? strtoll(label, NULL, 10) : 0, scale = 1;

	if (sum <= 0 && calls != UINT32_MAX) {
		sum = 0;
		scale = profile_scale(p, calls);
		for (uint32_t n = 1; n < p->node_count; n++)
			if (p->parents[n] == PROFILE_ROOT)
				saturating_add(&sum, p->columns[calls].self[n]);
	}
	return sum > 0 ? saturating_product(sum, 1000000 / scale) : 0;
}

static int64_t duration_of(const struct profile *p)
{
	return p->end_ns > p->start_ns ? p->end_ns - p->start_ns : 0;
}

/* Computes the scale of `before` as a multiplier and a divisor; not above zero if it is unknown. */
static void find_fraction(const struct measure *a, const struct measure *b, enum diff_scale scale, int64_t *ret_numerator, int64_t *ret_denominator)
{
	*ret_numerator = *ret_denominator = 1;
	switch (scale) {
	case DIFF_AS_IT_IS:
		break;
	case DIFF_BY_TOTAL:
		*ret_numerator = total_of(b);
		*ret_denominator = total_of(a);
		break;
	case DIFF_BY_RATE:
		*ret_numerator = duration_of(b->whole);
		*ret_denominator = duration_of(a->whole);
		break;
	case DIFF_BY_REQUESTS:
		*ret_numerator = requests_of(b->whole);
		*ret_denominator = requests_of(a->whole);
		break;
	}
}

bool diff_can_scale(const struct profile *a, uint32_t column_a, const struct profile *b, uint32_t column_b, enum diff_scale scale)
{
	struct measure before = measure(a, column_a, NULL), after = measure(b, column_b, NULL);
	int64_t numerator, denominator;

	find_fraction(&before, &after, scale, &numerator, &denominator);
	return numerator > 0 && denominator > 0;
}

struct profile *diff_outline(const struct profile *p)
{
	static const struct str nameless = { "", 0 };
	struct profile *r = profile_new();
	uint32_t frame = profile_frame(r, nameless, nameless, 0);
	uint32_t outermost = profile_child(r, PROFILE_ROOT, frame), others = profile_child(r, outermost, frame);

	r->start_ns = p->start_ns;
	r->end_ns = p->end_ns;
	labels_copy(&r->labels, &p->labels);
	for (uint32_t c = 0; c < p->column_count; c++) {
		int64_t sum = 0;

		profile_column_like(r, &p->columns[c]);
		for (uint32_t n = 1; n < p->node_count; n++)
			if (p->parents[n] == PROFILE_ROOT)
				saturating_add(&sum, p->columns[c].self[n]);
		profile_add(r, outermost, c, sum);
		profile_add(r, others, c, edges_total(p, c) - sum);
	}
	return r;
}

static int fraction(const struct measure *a, const struct measure *b, const struct diff_options *o, int64_t *ret_numerator, int64_t *ret_denominator,
		    struct err *err)
{
	enum diff_scale scale = o->scale;

	find_fraction(a, b, scale, ret_numerator, ret_denominator);
	if (*ret_numerator > 0 && *ret_denominator > 0)
		return 0;
	return err_set(err, -EINVAL, "%s; try %s%s", scale == DIFF_BY_TOTAL ?
		       "a total is not above zero, so shares are undefined" :
		       scale == DIFF_BY_RATE ?
		       "the durations of both are unknown, so they have no rate" :
		       "the number of requests is unknown, since there are no labels \"requests\" or calls",
		       o->scale_key ? o->scale_key : "--normalize ", scale == DIFF_BY_TOTAL ? "none" : "total");
}

static void note_files_before(struct diff *d, const struct profile *a, const uint32_t *frames)
{
	struct profile *p = d->profile;

	d->files_before = xcalloc((size_t)p->frame_count + 1, sizeof(*d->files_before));
	for (uint32_t f = 0; f < p->frame_count; f++)
		d->files_before[f] = p->frames[f].file;
	for (uint32_t f = 0; f < a->frame_count; f++) {
		struct str file = profile_file(a, f);

		d->files_before[frames[f]] = intern_add(&p->strings, file.p, file.n);
	}
}

static void keep_measured(struct diff *d, const char *unit, int64_t numerator, int64_t denominator)
{
	d->measured = profile_column(d->profile, "before_measured", unit);
	d->scaling = (struct profile_scaling){ d->measured, numerator, denominator };
	if (!d->truncated)
		d->profile->columns[d->before].scaling = d->scaling;
}

int profile_diff(const struct profile *a, uint32_t column_a, const struct profile *b, uint32_t column_b,
		 const struct diff_options *o, struct diff *ret, struct err *err)
{
	_cleanup_(freep) uint32_t *frames_a = NULL, *frames_b = NULL;
	struct measure before = measure(a, column_a, o->whole_a), after = measure(b, column_b, o->whole_b);
	int64_t numerator, denominator;
	struct profile *p;
	const char *unit;
	int e;

	assert(column_a < a->column_count && column_b < b->column_count);
	e = fraction(&before, &after, o, &numerator, &denominator, err);
	if (e < 0)
		return e;

	p = profile_new();
	unit = b->columns[column_b].unit;
	*ret = (struct diff){ .profile = p, .shares = o->scale == DIFF_BY_TOTAL, .truncated = o->truncate };
	ret->before = ret->measured = profile_column(p, "before", unit);
	ret->after = profile_column(p, "after", unit);
	if (numerator != denominator)
		keep_measured(ret, a->columns[column_a].unit, numerator, denominator);
	for (uint32_t c = 0; c < p->column_count; c++)
		p->columns[c].counts_calls = a->columns[column_a].counts_calls && b->columns[column_b].counts_calls;
	ret->factor = (double)numerator / (double)denominator;
	ret->before_weight = weight_of(&before) * ret->factor;
	ret->after_weight = weight_of(&after);
	ret->unfiltered_after = after.whole == b ? 0 : (double)total_of(&after);

	frames_a = xcalloc((size_t)a->frame_count + 1, sizeof(*frames_a));
	frames_b = xcalloc((size_t)b->frame_count + 1, sizeof(*frames_b));
	pair_frames(p, a, b, o->as_written ? PAIR_AS_WRITTEN : PAIR_RELEASES, o->strip_hex, frames_a, frames_b);
	note_files_before(ret, a, frames_a);
	add_stacks(p, ret->after, b, column_b, frames_b);
	add_stacks(p, ret->measured, a, column_a, frames_a);
	p->estimated = a->estimated || b->estimated;
	if (have_edges(a, b)) {
		p->edges = edges_new();
		unite_edges(p, a, column_a, ret->measured, frames_a);
		unite_edges(p, b, column_b, ret->after, frames_b);
	}
	if (ret->measured == ret->before)
		return 0;
	if (p->edges)
		edges_scale(p->edges, ret->measured, ret->before, numerator, denominator);
	if (o->truncate)
		scale_truncating(p, ret->before, ret->measured, numerator, denominator);
	else
		scale_column(p, ret->before);
	return 0;
}

static void refine_like(struct profile *p, uint32_t i, const struct profile *other, uint32_t other_i)
{
	if (profile_scale(other, other_i) != 1 && !strcmp(p->columns[i].unit, "count"))
		profile_refine(p, i);
}

void diff_align(struct profile *a, uint32_t column_a, struct profile *b, uint32_t column_b)
{
	refine_like(b, column_b, a, column_a);
	refine_like(a, column_a, b, column_b);
}

void diff_done(struct diff *d)
{
	d->profile = profile_free(d->profile);
	free(d->files_before);
	d->files_before = NULL;
}

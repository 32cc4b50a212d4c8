/* live.c: keeps a ring of intervals, and a sum for each set of labels. */

#include "live.h"

#include "label_groups.h"
#include "mem.h"

#include <assert.h>
#include <string.h>

#define NODES_MAX	200000u		/* for all sums; beyond it the smallest stacks become [pruned] */
#define GROUPS_MAX	2000u		/* sets of labels; later ones are added up without labels */
#define INTERVALS_MAX	600u

struct part_list {
	struct profile **items;
	size_t count, capacity;
};

struct interval {
	struct part_list parts;
	int64_t begin_ns, end_ns;
	struct record_summary at_begin;
};

struct live {
	int64_t window_ns;
	struct interval *intervals;		/* oldest first */
	size_t count, capacity;
	struct part_list open;
	struct label_groups groups;
	struct part_list sums;			/* by group */
	struct profile *other;			/* without labels: sets for which there was no room */
	struct record_summary at_reset, now;
	int64_t reset_ns, now_ns;		/* 0: no interval has ended yet */
};

/* --- profiles */

static void append(struct part_list *l, struct profile *p)
{
	GROW(&l->items, &l->capacity, l->count + 1);
	l->items[l->count++] = p;
}

static void empty(struct part_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		profile_free(l->items[i]);
	free(l->items);
	*l = (struct part_list){ 0 };
}

static void copy_parts(struct part_list *to, const struct part_list *from)
{
	for (size_t i = 0; i < from->count; i++)
		append(to, profile_without_lines(from->items[i]));
}

/* Returns the profile without unused frames. */
static struct profile *only_used_frames(const struct profile *p)
{
	struct profile *r = profile_new();
	_cleanup_(freep) uint32_t *nodes = xcalloc(p->node_count, sizeof(*nodes));

	profile_describe(r, p->period_ns, p->mixed_periods, &p->labels);
	profile_cover(r, p->start_ns, p->end_ns);
	for (uint32_t c = 0; c < p->column_count; c++)
		profile_column(r, p->columns[c].name, p->columns[c].unit);
	profile_add_node(r, PROFILE_ROOT, p, PROFILE_ROOT);
	for (uint32_t n = 1; n < p->node_count; n++) {
		uint32_t f = p->node_frames[n];

		nodes[n] = profile_child(r, nodes[p->parents[n]],
					 profile_frame(r, profile_name(p, f), profile_file(p, f), p->frames[f].line));
		profile_add_node(r, nodes[n], p, n);
	}
	return r;
}

static void prune(struct profile **p, uint32_t most)
{
	uint32_t column = profile_pick_column(*p, NULL);
	struct profile *pruned;

	if ((*p)->node_count <= most || column == UINT32_MAX)
		return;
	pruned = profile_prune(*p, column, most);
	profile_free(*p);
	*p = only_used_frames(pruned);
	profile_free(pruned);
}

/* Prunes to half, so that it is rarely needed. */
static uint32_t share_of(const struct profile *p, uint64_t nodes)
{
	return 2 + (uint32_t)((uint64_t)p->node_count * NODES_MAX / nodes / 2);
}

static void keep_within_bound(struct live *l)
{
	struct part_list *sums = &l->sums;
	uint64_t nodes = l->other->node_count;

	for (size_t i = 0; i < sums->count; i++)
		nodes += sums->items[i]->node_count;
	if (nodes <= NODES_MAX)
		return;
	for (size_t i = 0; i < sums->count; i++)
		prune(&sums->items[i], share_of(sums->items[i], nodes));
	prune(&l->other, share_of(l->other, nodes));
}

static void add_to_sum(struct live *l, const struct profile *p)
{
	uint32_t group = l->groups.count < GROUPS_MAX ? label_groups_find(&l->groups, &p->labels) :
			 label_groups_get(&l->groups, &p->labels);

	if (group == UINT32_MAX) {
		profile_merge(l->other, p);
		labels_done(&l->other->labels);
		labels_init(&l->other->labels);
		return;
	}
	while (l->sums.count <= group)
		append(&l->sums, profile_new());
	profile_merge(l->sums.items[group], p);
}

/* --- totals */

static void subtract(u64 *a, u64 b)
{
	*a = *a > b ? *a - b : 0;
}

static void subtract_remote(struct remote_counts *a, const struct remote_counts *b)
{
	subtract(&a->ticks, b->ticks);
	subtract(&a->late, b->late);
	subtract(&a->observations, b->observations);
	subtract(&a->asleep, b->asleep);
	subtract(&a->kept, b->kept);
	subtract(&a->left_out, b->left_out);
	subtract(&a->slept, b->slept);
	subtract(&a->torn, b->torn);
	subtract(&a->ended, b->ended);
	subtract(&a->unreadable, b->unreadable);
	subtract(&a->torn_attempts, b->torn_attempts);
	subtract(&a->cpu_ns, b->cpu_ns);
	subtract(&a->sampled_ns, b->sampled_ns);
}

static void subtract_summary(struct record_summary *a, const struct record_summary *b)
{
	for (unsigned i = 0; i < COUNTERS; i++)
		subtract(&a->counters[i], b->counters[i]);
	for (unsigned i = 0; i < SAMPLE_KINDS; i++) {
		subtract(&a->kinds[i].samples, b->kinds[i].samples);
		subtract(&a->kinds[i].ns, b->kinds[i].ns);
	}
	a->seconds -= b->seconds;
	subtract_remote(&a->remote, &b->remote);
}

/* --- */

struct live *live_new(int64_t window_ns)
{
	struct live *l = xcalloc(1, sizeof(*l));

	l->window_ns = window_ns;
	l->now.refused = l->now.first_file = l->now.remote.closed_why = "";
	label_groups_init(&l->groups);
	l->other = profile_new();
	return l;
}

static void forget(struct live *l)
{
	for (size_t i = 0; i < l->count; i++)
		empty(&l->intervals[i].parts);
	l->count = 0;
	empty(&l->sums);
	l->other = profile_free(l->other);
	label_groups_done(&l->groups);
}

struct live *live_free(struct live *l)
{
	if (!l)
		return NULL;
	forget(l);
	empty(&l->open);
	free(l->intervals);
	free(l);
	return NULL;
}

/* Copies are only read, so labels need no numbers. */
struct live *live_copy(const struct live *l)
{
	struct live *r = live_new(l->window_ns);

	GROW(&r->intervals, &r->capacity, l->count + 1);
	for (size_t i = 0; i < l->count; i++) {
		r->intervals[i] = l->intervals[i];
		r->intervals[i].parts = (struct part_list){ 0 };
		copy_parts(&r->intervals[i].parts, &l->intervals[i].parts);
	}
	r->count = l->count;
	copy_parts(&r->sums, &l->sums);
	profile_merge(r->other, l->other);
	r->at_reset = l->at_reset;
	r->now = l->now;
	r->reset_ns = l->reset_ns;
	r->now_ns = l->now_ns;
	return r;
}

void live_add(struct live *l, struct profile *p)
{
	append(&l->open, p);
}

/* An interval is kept while any part of it is in the window. */
static void drop_old(struct live *l)
{
	size_t gone = 0;

	while (gone + 1 < l->count &&
	       (l->intervals[gone].end_ns <= l->now_ns - l->window_ns || l->count - gone > INTERVALS_MAX))
		empty(&l->intervals[gone++].parts);
	memmove(l->intervals, l->intervals + gone, (l->count - gone) * sizeof(*l->intervals));
	l->count -= gone;
}

void live_close(struct live *l, const struct record_summary *totals, int64_t now_ns)
{
	struct interval i = { .parts = l->open, .begin_ns = l->now_ns, .end_ns = now_ns, .at_begin = l->now };

	assert(now_ns >= l->now_ns);
	if (!l->now_ns) {
		l->reset_ns = now_ns - (int64_t)(totals->seconds * 1e9);
		i.begin_ns = l->reset_ns;
	}
	for (size_t n = 0; n < l->open.count; n++)
		add_to_sum(l, l->open.items[n]);
	keep_within_bound(l);
	l->open = (struct part_list){ 0 };
	l->now = *totals;
	l->now_ns = now_ns;
	GROW(&l->intervals, &l->capacity, l->count + 1);
	l->intervals[l->count++] = i;
	drop_old(l);
}

void live_reset(struct live *l)
{
	forget(l);
	label_groups_init(&l->groups);
	l->other = profile_new();
	l->at_reset = l->now;
	l->reset_ns = l->now_ns;
}

int64_t live_length_ns(const struct live *l, enum live_period period)
{
	if (period == LIVE_WINDOW)
		return l->count ? l->now_ns - l->intervals[0].begin_ns : 0;
	return l->now_ns - l->reset_ns;
}

void live_summary(const struct live *l, enum live_period period, struct record_summary *ret)
{
	*ret = l->now;
	subtract_summary(ret, period == LIVE_ALL || !l->count ? &l->at_reset : &l->intervals[0].at_begin);
}

void live_each(const struct live *l, enum live_period period, void *data, void (*each)(void *data, const struct profile *p))
{
	for (size_t i = 0; i < l->count && period == LIVE_WINDOW; i++)
		for (size_t n = 0; n < l->intervals[i].parts.count; n++)
			each(data, l->intervals[i].parts.items[n]);
	for (size_t i = 0; i < l->sums.count && period == LIVE_ALL; i++)
		each(data, l->sums.items[i]);
	if (period == LIVE_ALL && l->other->node_count > 1)
		each(data, l->other);
}

struct merging {
	const struct live_scope *scope;
	struct profile *into;
};

static void merge(void *data, const struct profile *p)
{
	const struct merging *m = data;
	const char *value = m->scope && m->scope->key ? labels_get(&p->labels, m->scope->key) : NULL;

	if (!m->scope || !m->scope->key || !strcmp(value ? value : "", m->scope->value))
		profile_merge(m->into, p);
}

struct profile *live_profile(const struct live *l, enum live_period period, const struct live_scope *scope)
{
	struct merging m = { scope, profile_new() };

	live_each(l, period, &m, merge);
	return m.into;
}

/* edges_sums.c: computes the self and total value of each function.
 *
 * If a function's outermost level is a node that occurs once per stack, its total is the value of the calls of that
 * node. Otherwise:
 *
 *   - The total of a function that cannot be reached again from its callees is its self value plus its callees.
 *   - The joint total of functions that call each other in a cycle is the sum of their self values and of calls out
 *     of the cycle. If only one of them is called from outside, this is also its total.
 *   - For any other function in a cycle this is an upper limit, and so is the value of its calls, which count some
 *     calls twice; its self value plus its calls out of the cycle is a lower limit. With negative values, as for
 *     freed memory, these are not limits, but the best estimates available.
 */
#include "edges.h"
#include "mem.h"
#include "saturate.h"
#include <assert.h>
#include <string.h>

struct cycle {
	uint32_t nodes, entries;	/* entries: how many of the nodes are called from outside */
	int64_t value[PROFILE_COLUMNS];
};

struct summing {
	const struct edges *e;
	uint32_t columns;
	const struct profile_column *column;
	struct edges_sums *sums;
	uint32_t *base;			/* by frame: node of its outermost level; UINT32_MAX: none */
	uint32_t *of;			/* by node: its cycle */
	bool *is_entry;			/* by node */
	struct cycle *cycles;
	bool below_zero[PROFILE_COLUMNS];	/* some value is negative */
	int64_t (*in)[PROFILE_COLUMNS], (*out)[PROFILE_COLUMNS];	/* by node: calls by other functions, and
									 * calls out of its cycle */
};

static void add(const struct summing *s, int64_t *sum, const int64_t *value)
{
	for (uint32_t c = 0; c < s->columns; c++)
		saturating_add(&sum[c], value[c]);
}

static void find_bases(struct summing *s, uint32_t frames)
{
	for (uint32_t f = 0; f < frames; f++)
		s->base[f] = UINT32_MAX;
	for (uint32_t n = 1; n < s->e->node_count; n++) {
		uint32_t *base = &s->base[s->e->nodes[n].frame];

		assert(s->e->nodes[n].frame < frames);
		if (*base == UINT32_MAX || s->e->nodes[n].level < s->e->nodes[*base].level)
			*base = n;
	}
}

static void add_self(struct summing *s)
{
	for (uint32_t n = 1; n < s->e->node_count; n++) {
		const struct edges_node *node = &s->e->nodes[n];

		add(s, s->sums->self[node->frame], node->self);
		for (uint32_t c = 0; c < s->columns; c++)
			s->below_zero[c] |= node->self[c] < 0;
		s->sums->known[node->frame] = true;
	}
}

static void add_pairs(struct summing *s)
{
	const struct edges *e = s->e;

	for (uint32_t i = 0; i < e->pair_count; i++) {
		const struct edges_pair *pair = &e->pairs[i];
		bool out = s->of[pair->caller] != s->of[pair->callee];

		if (pair->caller == EDGES_ROOT || e->nodes[pair->caller].frame != e->nodes[pair->callee].frame)
			add(s, s->in[pair->callee], pair->value);
		s->is_entry[pair->callee] |= out;
		if (out)
			add(s, s->out[pair->caller], pair->value);
	}
}

static void add_cycles(struct summing *s)
{
	for (uint32_t n = 0; n < s->e->node_count; n++) {
		struct cycle *c = &s->cycles[s->of[n]];

		assert(s->of[n] < s->e->node_count);
		c->nodes++;
		c->entries += s->is_entry[n];
		add(s, c->value, s->e->nodes[n].self);
		add(s, c->value, s->out[n]);
	}
}

/* Computes limits for a function in a cycle with several entries. */
static void bound(struct summing *s, uint32_t frame, uint32_t node)
{
	const struct cycle *cycle = &s->cycles[s->of[node]];
	int64_t *total = s->sums->total[frame];

	assert(cycle->nodes > 1 && !s->e->nodes[node].once);
	for (uint32_t c = 0; c < s->columns; c++) {
		int64_t least = saturating_sum(s->e->nodes[node].self[c], s->out[node][c]);

		total[c] = s->in[node][c] < cycle->value[c] ? s->in[node][c] : cycle->value[c];
		if (!s->column[c].counts_calls && (total[c] > least || s->below_zero[c]))
			s->sums->at_most[frame] = true;
		else
			total[c] = least;
	}
}

static void find_total(struct summing *s, uint32_t frame)
{
	uint32_t node = s->base[frame];
	int64_t *total = s->sums->total[frame];
	const struct cycle *cycle;

	if (node == UINT32_MAX)
		return;
	cycle = &s->cycles[s->of[node]];
	if (s->e->nodes[node].once)
		add(s, total, s->in[node]);
	else if (cycle->nodes == 1 || (cycle->entries == 1 && s->is_entry[node]))
		add(s, total, cycle->value);
	else
		bound(s, frame, node);
	/* Adding a function's calls to those of its callees would be meaningless. */
	for (uint32_t c = 0; c < s->columns; c++)
		if (s->column[c].counts_calls)
			total[c] = s->sums->self[frame][c];
}

void edges_sums(const struct profile *p, struct edges_sums *ret)
{
	const struct edges *e = p->edges;
	size_t frames = (size_t)p->frame_count + 1, nodes = e->node_count;
	_cleanup_(freep) uint32_t *base = xmalloc(frames * sizeof(*base)), *of = edges_cycles(e);
	_cleanup_(freep) bool *is_entry = xcalloc(nodes, sizeof(*is_entry));
	_cleanup_(freep) struct cycle *cycles = xcalloc(nodes, sizeof(*cycles));
	_cleanup_(freep) int64_t (*in)[PROFILE_COLUMNS] = xcalloc(nodes, sizeof(*in));
	_cleanup_(freep) int64_t (*out)[PROFILE_COLUMNS] = xcalloc(nodes, sizeof(*out));
	struct summing s = { .e = e, .columns = p->column_count, .column = p->columns, .sums = ret, .base = base, .of = of, .is_entry = is_entry, .cycles = cycles, .in = in, .out = out };

	assert(p->column_count <= PROFILE_COLUMNS);
	*ret = (struct edges_sums){ 0 };
	ret->self = xcalloc(frames, sizeof(*ret->self));
	ret->total = xcalloc(frames, sizeof(*ret->total));
	ret->at_most = xcalloc(frames, sizeof(*ret->at_most));
	ret->known = xcalloc(frames, sizeof(*ret->known));
	find_bases(&s, p->frame_count);
	add_self(&s);
	add_pairs(&s);
	add_cycles(&s);
	for (uint32_t f = 0; f < p->frame_count; f++)
		find_total(&s, f);
}

void edges_sums_done(struct edges_sums *s)
{
	free(s->self);
	free(s->total);
	free(s->at_most);
	free(s->known);
	*s = (struct edges_sums){ 0 };
}

int64_t edges_total(const struct profile *p, uint32_t column)
{
	__int128 sum = 0;

	if (!p->edges)
		return profile_sum(p, column);
	for (uint32_t n = 0; n < p->edges->node_count; n++)
		sum += p->edges->nodes[n].self[column];
	return sum > INT64_MAX ? INT64_MAX : sum < INT64_MIN ? INT64_MIN : (int64_t)sum;
}

/* wire_cut.c: computes totals first, then the smallest that still fits. */
#include "wire_cut.h"
#include "mem.h"
#include "saturate.h"

#include <assert.h>

static int64_t next_value(const struct strobe_wire_message *m, const uint8_t **at, uint32_t column)
{
	int64_t value = 0;

	for (uint32_t k = 0; k < m->columns; k++) {
		int64_t v = strobe_wire_unzigzag(strobe_wire_next(at));

		value = k == column ? v : value;
	}
	return value;
}

/* --- The tree --- */

/* Computes the totals of the nodes, and marks nodes of functions that are cut from the edges. */
static int64_t *node_totals(const struct strobe_wire_message *m, uint32_t column, const bool *cut_frames, bool *cut)
{
	int64_t *totals = xcalloc((size_t)m->nodes + 1, sizeof(*totals));
	_cleanup_(freep) uint32_t *distances = xmalloc(((size_t)m->nodes + 1) * sizeof(*distances));
	const uint8_t *at = m->at_nodes;

	for (uint32_t i = 1; i <= m->nodes; i++) {
		uint64_t frame;

		distances[i] = (uint32_t)strobe_wire_next(&at);
		frame = strobe_wire_next(&at);
		cut[i] = cut_frames && cut_frames[frame];
		if (m->info.flags & STROBE_WIRE_LINES)
			strobe_wire_next(&at);
		totals[i] = next_value(m, &at, column);
	}
	for (uint32_t i = m->nodes; i > 0; i--)
		saturating_add(&totals[i - distances[i]], totals[i]);
	return totals;
}

/* A kept node may get an additional child for everything cut below it, so only half of the space is used. */
static bool *cut_nodes(const struct strobe_wire_message *m, uint32_t column, const bool *cut_frames, uint32_t most)
{
	bool *cut = xcalloc((size_t)m->nodes + 1, sizeof(*cut));
	_cleanup_(freep) int64_t *totals = node_totals(m, column, cut_frames, cut);
	int64_t least = m->nodes > most ? profile_least_kept(totals, NULL, m->nodes + 1, most / 2) : INT64_MIN;

	for (uint32_t i = 1; i <= m->nodes; i++)
		cut[i] |= totals[i] < least;
	return cut;
}

/* --- The edges --- */

struct edge_values {
	uint32_t *frames;	/* by edge node: its frame + 1, 0 for the root */
	int64_t *nodes;		/* by edge node: first its self value, finally the largest value of any level of its function */
	int64_t *pairs;		/* the smaller value of its two ends */
};

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The value of a function is that of its calls, or at least its self value. */
static void weigh_nodes(struct edge_values *v, const struct strobe_wire_message *m, uint32_t column)
{
	_cleanup_(freep) int64_t *self = xcalloc((size_t)m->edge_nodes + 1, sizeof(*self));
	_cleanup_(freep) int64_t *of_frame = xcalloc((size_t)m->frames + 1, sizeof(*of_frame));
	const uint8_t *at = m->at_edge_nodes;

	for (uint32_t i = 0; i < m->edge_nodes; i++) {
		v->frames[i] = (uint32_t)strobe_wire_next(&at);
		strobe_wire_next(&at);
		self[i] = next_value(m, &at, column);
	}
	at = m->at_edge_pairs;
	for (uint32_t i = 0; i < m->edge_pairs; i++) {
		uint64_t callee;

		strobe_wire_next(&at);
		callee = strobe_wire_next(&at);
		saturating_add(&v->nodes[callee], next_value(m, &at, column));
	}
	for (uint32_t i = 0; i < m->edge_nodes; i++)
		of_frame[v->frames[i]] = larger(of_frame[v->frames[i]], larger(v->nodes[i], self[i]));
	for (uint32_t i = 0; i < m->edge_nodes; i++)
		v->nodes[i] = v->frames[i] ? of_frame[v->frames[i]] : INT64_MAX;
}

static void weigh_pairs(struct edge_values *v, const struct strobe_wire_message *m, uint32_t column)
{
	const uint8_t *at = m->at_edge_pairs;

	for (uint32_t i = 0; i < m->edge_pairs; i++) {
		int64_t caller = v->nodes[strobe_wire_next(&at)], callee = v->nodes[strobe_wire_next(&at)];

		v->pairs[i] = caller < callee ? caller : callee;
		next_value(m, &at, column);
	}
}

/* Each kept node gets up to two more pairs with the pruned function, as caller and as callee. */
static bool *cut_functions(const struct strobe_wire_message *m, uint32_t column, const struct wire_capacity *capacity)
{
	struct edge_values v = { .frames = xmalloc((size_t)m->edge_nodes * sizeof(*v.frames)),
				 .nodes = xcalloc(m->edge_nodes, sizeof(*v.nodes)),
				 .pairs = xmalloc(((size_t)m->edge_pairs + 1) * sizeof(*v.pairs)) };
	bool *cut = xcalloc(m->frames, sizeof(*cut));
	int64_t least;

	weigh_nodes(&v, m, column);
	weigh_pairs(&v, m, column);
	least = larger(profile_least_kept(v.nodes, NULL, m->edge_nodes, capacity->edge_nodes),
		       profile_least_kept(v.pairs, NULL, m->edge_pairs, capacity->edge_pairs));
	for (uint32_t i = 0; i < m->edge_nodes; i++)
		if (v.frames[i])
			cut[v.frames[i] - 1] = v.nodes[i] < least;
	free(v.frames);
	free(v.nodes);
	free(v.pairs);
	return cut;
}

void wire_cut_find(struct wire_cut *c, const struct strobe_wire_message *m, uint32_t column, const struct wire_capacity *capacity)
{
	assert(column <= m->columns);		/* the end: there is none */
	*c = (struct wire_cut){ 0 };
	if (m->edge_nodes > capacity->edge_nodes || m->edge_pairs > capacity->edge_pairs)
		c->frames = cut_functions(m, column, capacity);
	if (c->frames || m->nodes > capacity->nodes)
		c->nodes = cut_nodes(m, column, c->frames, capacity->nodes);
}

void wire_cut_done(struct wire_cut *c)
{
	free(c->nodes);
	free(c->frames);
}

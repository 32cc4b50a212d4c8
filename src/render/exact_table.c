/* exact_table.c: writes the edges for the scripts of pictures: {"whole": […], "functions": "…", "nodes": "…", "pairs": "…"}.
 *
 * Numbers are encoded as in table.c. A picture of a difference has two sides, before and after, others have one:
 *
 *	whole		= one number per side: the base of shares
 *	functions	= (known (self total)*)*: for each function, known 0: it is not in the edges, and nothing
 *			  follows; 1; 2: its totals are limits. Then its values on each side, signed
 *	nodes		= (function self)*: for each node of the edges but the root, 1 + its function, 0 one that has no
 *			  number; self signed
 *	pairs		= (caller callee value)*: nodes, 0 is the root; value signed
 *
 * The script uses nodes and pairs to compute the joint value of several functions, for its search. They are left out
 * of differences, and if there are too many: then only limits are known. */

#include "picture.h"

#include "mem.h"

#include <string.h>

#define PAIRS_MAX	100000u		/* about 8 bytes each */

static void put_sides(const struct exact *x, uint32_t frame, struct buf *digits)
{
	picture_put_unsigned(digits, exact_is_at_most(x, frame) ? 2 : 1);
	if (x->before != UINT32_MAX) {
		picture_put_signed(digits, profile_scaled(&x->scaling, x->sums.self[frame][x->before]));
		picture_put_signed(digits, profile_scaled(&x->scaling, x->sums.total[frame][x->before]));
	}
	picture_put_signed(digits, x->sums.self[frame][x->column]);
	picture_put_signed(digits, x->sums.total[frame][x->column]);
}

static void put_functions(struct json *j, const struct exact *x, const uint32_t *frames, uint32_t count)
{
	_cleanup_(buf_done) struct buf digits = { 0 };

	buf_init(&digits);
	for (uint32_t i = 0; i < count; i++)
		if (frames[i] != UINT32_MAX && x->sums.known[frames[i]])
			put_sides(x, frames[i], &digits);
		else
			picture_put_unsigned(&digits, 0);
	json_key(j, "functions");
	json_bytes(j, (struct str){ digits.data, digits.size });
}

static void put_nodes(struct json *j, const struct exact *x, const uint32_t *frames, uint32_t count)
{
	_cleanup_(freep) uint32_t *number = xcalloc((size_t)x->p->frame_count + 1, sizeof(*number));
	_cleanup_(buf_done) struct buf digits = { 0 };
	const struct edges *e = x->p->edges;

	buf_init(&digits);
	for (uint32_t i = 0; i < count; i++)
		if (frames[i] != UINT32_MAX)
			number[frames[i]] = i + 1;
	for (uint32_t n = 1; n < e->node_count; n++) {
		picture_put_unsigned(&digits, number[e->nodes[n].frame]);
		picture_put_signed(&digits, e->nodes[n].self[x->column]);
	}
	json_key(j, "nodes");
	json_bytes(j, (struct str){ digits.data, digits.size });
}

static void put_pairs(struct json *j, const struct exact *x)
{
	_cleanup_(buf_done) struct buf digits = { 0 };
	const struct edges *e = x->p->edges;

	buf_init(&digits);
	for (uint32_t i = 0; i < e->pair_count; i++) {
		picture_put_unsigned(&digits, e->pairs[i].caller);
		picture_put_unsigned(&digits, e->pairs[i].callee);
		picture_put_signed(&digits, e->pairs[i].value[x->column]);
	}
	json_key(j, "pairs");
	json_bytes(j, (struct str){ digits.data, digits.size });
}

void picture_put_exact(struct json *j, const struct picture *g, const uint32_t *frames, uint32_t count)
{
	const struct exact *x = g->exact;

	if (!x)
		return;
	json_key(j, "exact");
	json_open_object(j);
	json_key(j, "whole");
	json_open_array(j);
	if (x->before != UINT32_MAX)
		json_i64(j, profile_scaled(&x->scaling, x->whole_before));
	json_i64(j, x->whole);
	json_end(j);
	if (x->of_calls) {
		json_key(j, "ofCalls");
		json_bool(j, true);
	}
	put_functions(j, x, frames, count);
	if (x->before == UINT32_MAX && !x->of_calls && x->p->edges->pair_count <= PAIRS_MAX) {
		put_nodes(j, x, frames, count);
		put_pairs(j, x);
	}
	json_end(j);
}

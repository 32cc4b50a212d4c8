/* stack_values.c: converts profiles to values, and prunes values into a profile. */
#include "stack_values.h"

#include "map.h"
#include "mem.h"
#include "saturate.h"

#include <assert.h>
#include <string.h>

static void frame_of_profile(const void *owner, uint32_t frame, struct stack_frame *ret)
{
	const struct profile *p = owner;

	*ret = (struct stack_frame){ profile_name(p, frame), profile_file(p, frame), p->frames[frame].line };
}

static void release_profile(void *owner)
{
	profile_free(owner);
}

struct stack_values stack_values_of(const struct profile *p, uint32_t column)
{
	return (struct stack_values){
		.node_count = p->node_count,
		.parents = p->parents,
		.node_frames = p->node_frames,
		.node_lines = p->node_lines,
		.self = column == UINT32_MAX ? NULL : p->columns[column].self,
		.frame_count = p->frame_count,
		.facts = p,
		.frame = frame_of_profile,
		.owner = (void *)p,
	};
}

struct stack_values stack_values_take(struct profile *p, uint32_t column)
{
	struct stack_values v = stack_values_of(p, column);

	v.release = release_profile;
	return v;
}

void stack_values_done(struct stack_values *v)
{
	if (v->release)
		v->release(v->owner);
	*v = (struct stack_values){ 0 };
}

struct stack_frame stack_values_frame(const struct stack_values *v, uint32_t frame)
{
	struct stack_frame f;

	assert(frame < v->frame_count);
	v->frame(v->owner, frame, &f);
	return f;
}

/* --- Pruning --- */

static int64_t *totals_of(const struct stack_values *v)
{
	int64_t *totals = xmalloc(v->node_count * sizeof(*totals));

	memcpy(totals, v->self, v->node_count * sizeof(*totals));
	for (uint32_t n = v->node_count - 1; n > 0; n--)
		saturating_add(&totals[v->parents[n]], totals[n]);
	return totals;
}

static uint32_t child_like(struct profile *to, uint32_t parent, const struct stack_values *v, uint32_t node)
{
	struct stack_frame f = stack_values_frame(v, v->node_frames[node]);

	return profile_child_at(to, parent, profile_frame(to, f.name, f.file, f.line), v->node_lines ? v->node_lines[node] : 0);
}

/* Replaces the total of each node by that of its function below the same callers, whatever their lines. Returns the smallest
 * total that is kept. */
static int64_t add_up_lines(const struct stack_values *v, int64_t *totals, uint32_t max)
{
	_cleanup_(freep) uint32_t *functions = xmalloc(v->node_count * sizeof(*functions));
	_cleanup_(freep) int64_t *sums = xcalloc(v->node_count, sizeof(*sums));
	_cleanup_(map_done) struct map known = { 0 };
	uint32_t count = 1;

	map_init(&known);
	functions[PROFILE_ROOT] = PROFILE_ROOT;
	for (uint32_t n = 0; n < v->node_count; n++) {
		if (n != PROFILE_ROOT) {
			uint32_t *place = map_slot(&known, map_pair(functions[v->parents[n]], v->node_frames[n]));

			if (*place == MAP_NONE)
				*place = count++;
			functions[n] = *place;
		}
		saturating_add(&sums[functions[n]], totals[n]);
	}
	for (uint32_t n = 0; n < v->node_count; n++)
		totals[n] = sums[functions[n]];
	return count <= max ? INT64_MIN : profile_least_kept(sums, NULL, count, max / 2);
}

struct profile *stack_values_prune(const struct stack_values *v, uint32_t max)
{
	_cleanup_(freep) int64_t *totals = totals_of(v);
	_cleanup_(freep) uint32_t *nodes = xmalloc(v->node_count * sizeof(*nodes));
	_cleanup_(freep) bool *cut = xcalloc(v->node_count, sizeof(*cut));
	int64_t least = v->node_lines ? add_up_lines(v, totals, max) : profile_least_kept(totals, NULL, v->node_count, max / 2);
	struct profile *to = profile_new();
	uint32_t column = profile_column(to, "values", ""), pruned = profile_pruned_frame(to);

	profile_keep_lines(to, v->node_lines != NULL);
	nodes[PROFILE_ROOT] = PROFILE_ROOT;
	profile_add(to, PROFILE_ROOT, column, v->self[PROFILE_ROOT]);
	for (uint32_t n = 1; n < v->node_count; n++) {
		uint32_t parent = v->parents[n];

		assert(parent < n);
		cut[n] = cut[parent] || totals[n] < least;
		if (cut[parent])
			nodes[n] = nodes[parent];
		else
			nodes[n] = cut[n] ? profile_child(to, nodes[parent], pruned) : child_like(to, nodes[parent], v, n);
		profile_add(to, nodes[n], column, v->self[n]);
	}
	return to;
}

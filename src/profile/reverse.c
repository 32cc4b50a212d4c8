/* reverse.c: reverses a profile: every stack from its leaf to its root.
 *
 * Stacks with the same end are grouped: initially, all of them are one group, below the root. A group is divided by
 * the next frame on the way to the root; each part becomes a child, and a group again. So the children of a node are
 * found together, without lookups, and groups too small to be visible need not be divided.
 */
#include "profile.h"

#include "mem.h"

#include <assert.h>
#include <string.h>

struct stack {
	uint32_t source;	/* node that has the values */
	uint32_t at;		/* next node on the way to the root */
};

/* The stacks[first] to stacks[end - 1], which are below `node` of the reversed profile. */
struct group {
	uint32_t node;
	size_t first, end;
};

struct reverser {
	const struct profile *from;
	struct profile *to;
	uint32_t column;
	double least;

	struct stack *stacks, *scratch;
	size_t count;

	struct group *groups;		/* groups to be divided */
	size_t group_count, group_capacity;

	uint32_t *places;		/* by frame: number of stacks that continue with it, then the index for the next one */
	uint32_t *frames;		/* frames in use, in order of occurrence */
};

/* Lists the stacks that have any value; the root itself is not a stack. */
static void list_stacks(struct reverser *r)
{
	for (uint32_t n = 1; n < r->from->node_count; n++)
		r->count += profile_has_values(r->from, n);
	r->stacks = xmalloc((r->count + 1) * sizeof(*r->stacks));
	r->scratch = xmalloc((r->count + 1) * sizeof(*r->scratch));
	r->count = 0;
	for (uint32_t n = 1; n < r->from->node_count; n++)
		if (profile_has_values(r->from, n))
			r->stacks[r->count++] = (struct stack){ n, n };
}

static void add_group(struct reverser *r, uint32_t node, size_t first, size_t end)
{
	GROW(&r->groups, &r->group_capacity, r->group_count + 1);
	r->groups[r->group_count++] = (struct group){ node, first, end };
}

/* Adds the rest of a stack that has its path to itself. */
static void add_rest(struct reverser *r, uint32_t node, const struct stack *s)
{
	for (uint32_t at = s->at; at != PROFILE_ROOT; at = r->from->parents[at])
		node = profile_append(r->to, node, r->from->node_frames[at]);
	profile_add_node(r->to, node, r->from, s->source);
}

static bool is_wide(const struct reverser *r, const struct group *g)
{
	double sum = 0;

	if (r->least <= 0)
		return true;
	for (size_t i = g->first; i < g->end; i++)
		sum += (double)r->from->columns[r->column].self[r->stacks[i].source];
	return sum >= r->least;
}

/* Groups stacks with the same next frame, keeping their order, and removes those that have reached the root. Returns
 * the number of frames; their stacks begin at *first. */
static size_t sort_stacks(struct reverser *r, const struct group *g, size_t *first)
{
	size_t frames = 0, left = 0, at;

	for (size_t i = g->first; i < g->end; i++) {
		struct stack s = r->stacks[i];
		uint32_t frame;

		if (s.at == PROFILE_ROOT) {
			profile_add_node(r->to, g->node, r->from, s.source);
			continue;
		}
		frame = r->from->node_frames[s.at];
		if (r->places[frame]++ == 0)
			r->frames[frames++] = frame;
		r->scratch[left++] = s;
	}
	at = *first = g->end - left;
	assert(left <= g->end - g->first && *first >= g->first);
	for (size_t i = 0; i < frames; i++) {
		uint32_t n = r->places[r->frames[i]];

		r->places[r->frames[i]] = (uint32_t)at;
		at += n;
	}
	for (size_t i = 0; i < left; i++) {
		struct stack s = r->scratch[i];
		uint32_t frame = r->from->node_frames[s.at];

		s.at = r->from->parents[s.at];
		r->stacks[r->places[frame]++] = s;
	}
	return frames;
}

static void divide(struct reverser *r, const struct group *g)
{
	size_t first, frames = sort_stacks(r, g, &first);

	for (size_t i = 0; i < frames; i++) {
		size_t end = r->places[r->frames[i]];
		uint32_t node = profile_append(r->to, g->node, r->frames[i]);
		struct group part = { node, first, end };

		r->places[r->frames[i]] = 0;
		assert(first < end && end <= g->end);
		if (!is_wide(r, &part))
			for (size_t k = first; k < end; k++)
				profile_add_node(r->to, node, r->from, r->stacks[k].source);
		else if (end - first == 1)
			add_rest(r, node, &r->stacks[first]);
		else
			add_group(r, node, first, end);
		first = end;
	}
}

struct profile *profile_reverse_above(const struct profile *p, uint32_t column, double least)
{
	struct reverser r = { .from = p, .to = profile_new_like(p), .column = column, .least = least };

	assert(least <= 0 || column < p->column_count);
	if (least > 0 && profile_below_zero(p, column, NULL))
		r.least = 0;
	r.places = xcalloc((size_t)p->frame_count + 1, sizeof(*r.places));
	r.frames = xmalloc(((size_t)p->frame_count + 1) * sizeof(*r.frames));
	list_stacks(&r);
	profile_add_node(r.to, PROFILE_ROOT, p, PROFILE_ROOT);
	add_group(&r, PROFILE_ROOT, 0, r.count);
	while (r.group_count) {
		struct group g = r.groups[--r.group_count];

		divide(&r, &g);
	}
	free(r.frames);
	free(r.places);
	free(r.groups);
	free(r.scratch);
	free(r.stacks);
	return r.to;
}

struct profile *profile_reverse(const struct profile *p)
{
	return profile_reverse_above(p, UINT32_MAX, 0);
}

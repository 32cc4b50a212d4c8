/* chart.c: keeps charts consistent while they are built. */
#include "chart.h"
#include "mem.h"
#include <assert.h>
#include <string.h>

struct chart *chart_new(int64_t start_ns)
{
	struct chart *c = xcalloc(1, sizeof(*c));

	c->start_ns = start_ns;
	return c;
}

struct chart *chart_free(struct chart *c)
{
	if (!c)
		return NULL;
	free(c->calls);
	free(c->open);
	free(c);
	return NULL;
}

/* Ends the open calls above `depth`, by `at` at the latest. */
static void end_above(struct chart *c, uint32_t depth, int64_t at)
{
	for (; c->depth > depth; c->depth--) {
		struct chart_call *call = &c->calls[c->open[c->depth - 1]];

		call->end_ns = call->end_ns > at ? at : call->end_ns;
	}
}

/* Nesting is determined by nodes rather than by times, many of which are equal. */
static uint32_t depth_of(const struct chart *c, const struct profile *p, uint32_t node)
{
	uint32_t depth = c->depth, parent = p->parents[node];

	while (depth && c->calls[c->open[depth - 1]].node != parent)
		depth--;
	return depth;
}

bool chart_add(struct chart *c, const struct profile *p, uint32_t node, int64_t start_ns, int64_t duration_ns)
{
	int64_t last = c->count ? c->calls[c->count - 1].start_ns : 0, end_ns;
	uint32_t depth = depth_of(c, p, node);
	const struct chart_call *around;

	assert(node < p->node_count);
	if (node == PROFILE_ROOT || (!depth && p->parents[node] != PROFILE_ROOT) || c->count == UINT32_MAX)
		return false;
	around = depth ? &c->calls[c->open[depth - 1]] : NULL;
	start_ns = start_ns > last ? start_ns : last;
	if (around && start_ns > around->end_ns)
		return false;
	if (duration_ns < 0 || __builtin_add_overflow(start_ns, duration_ns, &end_ns))
		end_ns = duration_ns < 0 ? start_ns : INT64_MAX;
	if (around && end_ns > around->end_ns)
		end_ns = around->end_ns;
	assert(start_ns >= last && end_ns >= start_ns);
	end_above(c, depth, start_ns);
	assert(c->depth == depth);
	GROW(&c->calls, &c->capacity, (size_t)c->count + 1);
	GROW(&c->open, &c->open_capacity, (size_t)depth + 1);
	c->open[depth] = c->count;
	c->depth = depth + 1;
	c->calls[c->count++] = (struct chart_call){ node, depth, start_ns, end_ns };
	return true;
}

bool chart_shows(const struct profile *p, uint32_t column)
{
	return p->chart && p->chart->count && (column == UINT32_MAX || !strcmp(p->columns[column].name, "wall_ns"));
}

int64_t chart_end(const struct chart *c)
{
	int64_t end = 0;

	for (uint32_t i = 0; i < c->count; i++)
		end = c->calls[i].end_ns > end ? c->calls[i].end_ns : end;
	return end;
}

void chart_walk(const struct chart *c, void (*open)(void *data, uint32_t call), void (*close)(void *data, uint32_t call), void *data)
{
	_cleanup_(freep) uint32_t *stack = NULL;
	size_t capacity = 0;
	uint32_t depth = 0;

	for (uint32_t i = 0; i <= c->count; i++) {
		uint32_t left = i < c->count ? c->calls[i].depth : 0;

		assert(left <= depth);		/* a call is nested in an earlier one */
		while (depth > left)
			close(data, stack[--depth]);
		if (i == c->count)
			break;
		open(data, i);
		GROW(&stack, &capacity, (size_t)depth + 1);
		stack[depth++] = i;
	}
}

struct chart *chart_copy(const struct chart *c, const struct profile *to, const uint32_t *nodes)
{
	struct chart *copy = chart_new(c->start_ns);

	for (uint32_t i = 0; i < c->count; i++)
		chart_add(copy, to, nodes[c->calls[i].node], c->calls[i].start_ns, c->calls[i].end_ns - c->calls[i].start_ns);
	return copy;
}

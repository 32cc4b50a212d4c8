/* batch_rows.c: sorts and merges rows of nodes and values, and converts them to profiles. */
#include "batch_rows.h"
#include "mem.h"
#include "saturate.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MERGED_LEAST	256u		/* fewer rows are not merged before the end */

static bool is_in_order(const struct batch_rows *r)
{
	for (size_t i = 1; i < r->count; i++)
		if (r->nodes[i - 1] >= r->nodes[i])
			return false;
	return true;
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns the nodes with their row, in order. */
static uint64_t *sorted_keys(const struct batch_rows *r)
{
	uint64_t *keys = xmalloc(r->count * sizeof(*keys));

	for (size_t i = 0; i < r->count; i++)
		keys[i] = (uint64_t)r->nodes[i] << 32 | i;
	qsort(keys, r->count, sizeof(*keys), compare_keys);
	return keys;
}

void batch_rows_merge(struct batch_rows *r, uint32_t columns)
{
	_cleanup_(freep) uint64_t *keys = NULL;
	int64_t *values;
	size_t n = 0;

	if (!is_in_order(r)) {
		keys = sorted_keys(r);
		values = xmalloc(r->count * columns * sizeof(*values));
		for (size_t i = 0; i < r->count; i++) {
			const int64_t *from = r->values + (uint32_t)keys[i] * (size_t)columns;
			uint32_t node = (uint32_t)(keys[i] >> 32);

			if (n && r->nodes[n - 1] == node) {
				for (uint32_t c = 0; c < columns; c++)
					saturating_add(&values[(n - 1) * columns + c], from[c]);
				continue;
			}
			memcpy(values + n * columns, from, columns * sizeof(*values));
			r->nodes[n++] = node;
		}
		free(r->values);
		r->values = values;
		r->value_capacity = r->count * columns;
		r->count = n;
	}
	r->merged = r->count;
}

int64_t *batch_rows_add(struct batch_rows *r, uint32_t columns, uint32_t node)
{
	int64_t *values;

	assert(columns > 0 && columns <= PROFILE_COLUMNS);
	if (r->count && r->nodes[r->count - 1] == node)
		return r->values + (r->count - 1) * columns;
	if (r->count >= 2 * r->merged + MERGED_LEAST)
		batch_rows_merge(r, columns);
	GROW(&r->nodes, &r->node_capacity, r->count + 1);
	GROW(&r->values, &r->value_capacity, (r->count + 1) * columns);
	r->nodes[r->count] = node;
	values = r->values + r->count++ * columns;
	memset(values, 0, columns * sizeof(*values));
	return values;
}

void batch_rows_done(struct batch_rows *r)
{
	free(r->nodes);
	free(r->values);
	*r = (struct batch_rows){ 0 };
}

/* --- As profiles --- */

/* The nodes of the current profile, by shared node. */
struct places {
	const struct profile *stacks;
	uint64_t *nodes;			/* number of the entry, from 1, and node */
	uint32_t *path;
	size_t path_capacity;
};

static uint32_t add_frame(struct profile *to, const struct profile *stacks, uint32_t node)
{
	uint32_t frame = stacks->node_frames[node];

	return profile_frame(to, profile_name(stacks, frame), profile_file(stacks, frame), stacks->frames[frame].line);
}

static uint32_t place_of(struct places *s, struct profile *to, uint64_t entry, uint32_t node)
{
	size_t n = 0;
	uint32_t at;

	for (; node != PROFILE_ROOT && s->nodes[node] >> 32 != entry; node = s->stacks->parents[node]) {
		GROW(&s->path, &s->path_capacity, n + 1);
		s->path[n++] = node;
	}
	at = node == PROFILE_ROOT ? PROFILE_ROOT : (uint32_t)s->nodes[node];
	while (n--) {
		node = s->path[n];
		at = profile_child_at(to, at, add_frame(to, s->stacks, node), profile_line(s->stacks, node));
		s->nodes[node] = entry << 32 | at;
	}
	return at;
}

static struct profile *whole_profile(struct places *s, const struct batch_entry *e, uint64_t number)
{
	struct profile *p = profile_new();
	uint32_t columns = e->profile->column_count;

	profile_keep_lines(p, true);
	profile_merge(p, e->profile);
	assert(p->column_count == columns);
	for (size_t i = 0; i < e->rows.count; i++) {
		uint32_t node = place_of(s, p, number, e->rows.nodes[i]);

		for (uint32_t c = 0; c < columns; c++)
			profile_add(p, node, c, e->rows.values[i * columns + c]);
	}
	return p;
}

void batch_without_rows(const struct batch *b, struct batch *ret)
{
	struct batch_entry *entries;
	struct places s = { .stacks = b->stacks };

	*ret = *b;
	if (!b->stacks)
		return;
	assert(b->count < UINT32_MAX);
	entries = xmalloc(b->count * sizeof(*entries) + 1);
	s.nodes = xcalloc(b->stacks->node_count, sizeof(*s.nodes));
	for (size_t i = 0; i < b->count; i++) {
		entries[i] = b->entries[i];
		if (!b->entries[i].rows.count)
			continue;
		entries[i].profile = whole_profile(&s, &b->entries[i], i + 1);
		entries[i].rows = (struct batch_rows){ 0 };
	}
	ret->entries = entries;
	ret->stacks = NULL;
	free(s.nodes);
	free(s.path);
}

void batch_without_rows_done(const struct batch *b, struct batch *ret)
{
	if (!b->stacks)
		return;
	for (size_t i = 0; i < b->count; i++)
		if (b->entries[i].rows.count)
			profile_free((struct profile *)ret->entries[i].profile);
	free((struct batch_entry *)ret->entries);
}

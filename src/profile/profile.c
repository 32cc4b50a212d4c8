/* profile.c: the calling context tree. */

#include "profile.h"

#include "buf.h"
#include "chart.h"
#include "edges.h"
#include "mem.h"
#include "saturate.h"
#include "text.h"

#include <assert.h>
#include <string.h>

/* Frames are found by a hash of their content; on a collision, the next key is used. */
static uint64_t frame_key(uint32_t name, uint32_t file, uint32_t line)
{
	uint64_t h = map_pair(name, file) * 0x9e3779b97f4a7c15ull;

	h ^= h >> 32;
	h = (h + line) * 0xff51afd7ed558ccdull;
	return h ^ h >> 33;
}

struct profile *profile_new(void)
{
	struct profile *p = xcalloc(1, sizeof(*p));

	intern_init(&p->strings);
	map_init(&p->frame_map);
	map_init(&p->place_map);
	map_init(&p->child_map);
	labels_init(&p->labels);
	p->node_capacity = 64;
	p->parents = xcalloc(p->node_capacity, sizeof(*p->parents));
	p->node_frames = xcalloc(p->node_capacity, sizeof(*p->node_frames));
	p->first_children = xcalloc(p->node_capacity, sizeof(*p->first_children));
	p->node_frames[PROFILE_ROOT] = UINT32_MAX;
	p->node_count = p->indexed_count = 1;
	return p;
}

struct profile *profile_free(struct profile *p)
{
	if (!p)
		return NULL;
	intern_done(&p->strings);
	map_done(&p->frame_map);
	map_done(&p->place_map);
	map_done(&p->child_map);
	labels_done(&p->labels);
	for (uint32_t i = 0; i < p->column_count; i++)
		free(p->columns[i].self);
	free(p->frames);
	free(p->parents);
	free(p->node_frames);
	free(p->node_lines);
	free(p->first_children);
	edges_free(p->edges);
	chart_free(p->chart);
	free(p);
	return NULL;
}

void profile_freep(struct profile **p)
{
	*p = profile_free(*p);
}

uint32_t profile_frame_of(struct profile *p, uint32_t name, uint32_t file, uint32_t line)
{
	struct profile_frame f = { .name = name, .file = file, .line = line };

	assert(name < p->strings.count && file < p->strings.count);
	for (uint64_t key = frame_key(f.name, f.file, f.line);; key++) {
		uint32_t *slot = map_slot(&p->frame_map, key);

		if (*slot == MAP_NONE) {
			*slot = p->frame_count;
			break;
		}
		if (memcmp(&p->frames[*slot], &f, sizeof(f)) == 0)
			return *slot;
	}
	GROW(&p->frames, &p->frame_capacity, (size_t)p->frame_count + 1);
	p->frames[p->frame_count] = f;
	return p->frame_count++;
}

uint32_t profile_frame(struct profile *p, struct str name, struct str file, uint32_t line)
{
	uint32_t name_id = intern_add(&p->strings, name.p, name.n);

	return profile_frame_of(p, name_id, intern_add(&p->strings, file.p ? file.p : "", file.n), line);
}

uint32_t *profile_string_ids(const struct profile *from)
{
	size_t n = from->strings.count + 1;
	uint32_t *ids = xmalloc(n * sizeof(*ids));

	memset(ids, 0xff, n * sizeof(*ids));
	return ids;
}

uint32_t profile_copy_string(struct profile *into, const struct profile *from, uint32_t string, uint32_t *ids)
{
	assert(string < from->strings.count);
	if (ids[string] == UINT32_MAX) {
		struct str s = intern_get(&from->strings, string);

		ids[string] = intern_add(&into->strings, s.p, s.n);
	}
	return ids[string];
}

uint32_t profile_measured(const struct profile *p, uint32_t column)
{
	const struct profile_scaling *s = &p->columns[column].scaling;

	return s->denominator && s->from < p->column_count ? s->from : column;
}

/* Scaled values and their differences must fit. */
#define VALUE_MAX ((__int128)1 << 62)

int64_t profile_scaled(const struct profile_scaling *s, int64_t v)
{
	__int128 product = (__int128)v * s->numerator;
	__int128 half = product < 0 ? -(s->denominator / 2) : s->denominator / 2;
	__int128 quotient;

	if (!s->denominator)
		return v;
	quotient = (product + half) / s->denominator;
	return (int64_t)(quotient > VALUE_MAX ? VALUE_MAX : quotient < -VALUE_MAX ? -VALUE_MAX : quotient);
}

uint32_t profile_find_column(const struct profile *p, const char *name)
{
	for (uint32_t i = 0; i < p->column_count; i++)
		if (strcmp(p->columns[i].name, name) == 0)
			return i;
	return UINT32_MAX;
}

uint32_t profile_column(struct profile *p, const char *name, const char *unit)
{
	uint32_t i = profile_find_column(p, name);
	struct profile_column *c;

	if (i == UINT32_MAX && p->column_count == PROFILE_COLUMNS)
		return UINT32_MAX;
	if (i == UINT32_MAX) {
		i = p->column_count++;
		assert(p->column_count <= PROFILE_COLUMNS);
		c = &p->columns[i];
		snprintf(c->name, sizeof(c->name), "%s", name);
		snprintf(c->unit, sizeof(c->unit), "%s", unit);
		c->self = xcalloc(p->node_capacity, sizeof(*c->self));
		c->counts_calls = !strcmp(name, "calls");
	}
	p->named_columns |= 1u << i;
	return i;
}

uint32_t profile_column_like(struct profile *p, const struct profile_column *c)
{
	uint32_t i = profile_column(p, c->name, c->unit);

	if (i != UINT32_MAX)
		p->columns[i].counts_calls = c->counts_calls;
	return i;
}

bool profile_columns_fit(const struct profile *p, const struct profile *more)
{
	uint32_t added = 0;

	for (uint32_t c = 0; c < more->column_count; c++)
		added += profile_find_column(p, more->columns[c].name) == UINT32_MAX;
	return p->column_count + added <= PROFILE_COLUMNS;
}

int64_t profile_scale(const struct profile *p, uint32_t column)
{
	assert(column < p->column_count);
	return strcmp(p->columns[column].unit, PROFILE_MILLIONTHS) ? 1 : 1000000;
}

void profile_refine(struct profile *p, uint32_t column)
{
	struct profile_column *c = &p->columns[column];

	if (profile_scale(p, column) != 1)
		return;
	snprintf(c->unit, sizeof(c->unit), PROFILE_MILLIONTHS);
	for (uint32_t n = 0; n < p->node_count; n++)
		c->self[n] = saturating_product(c->self[n], profile_scale(p, column));
	if (p->edges)
		edges_scale(p->edges, column, column, profile_scale(p, column), 1);
}

/* Doubles the capacity of every array that has one entry per node. Unused capacity is not touched, so it takes no
 * memory. */
static __attribute__((noinline)) void set_capacity(struct profile *p, size_t n)
{
	assert(n >= p->node_count);
	p->parents = xrealloc(p->parents, n * sizeof(*p->parents));
	p->node_frames = xrealloc(p->node_frames, n * sizeof(*p->node_frames));
	p->first_children = xrealloc(p->first_children, n * sizeof(*p->first_children));
	if (p->node_lines)
		p->node_lines = xrealloc(p->node_lines, n * sizeof(*p->node_lines));
	for (uint32_t i = 0; i < p->column_count; i++)
		p->columns[i].self = xrealloc(p->columns[i].self, n * sizeof(int64_t));
	p->node_capacity = n;
}

/* Most profiles have no lines, and no memory for them. */
void profile_begin_lines(struct profile *p)
{
	assert(p->keeps_lines);
	if (p->node_lines)
		return;
	p->node_lines = xmalloc(p->node_capacity * sizeof(*p->node_lines));
	memset(p->node_lines, 0, p->node_count * sizeof(*p->node_lines));
}

static __attribute__((noinline)) void set_line(struct profile *p, uint32_t node, uint32_t line)
{
	assert(node < p->node_count && line);
	profile_begin_lines(p);
	p->node_lines[node] = line;
}

uint32_t profile_append(struct profile *p, uint32_t parent, uint32_t frame)
{
	assert(parent < p->node_count && frame < p->frame_count && p->node_count < UINT32_MAX);
	if (p->node_count == p->node_capacity)
		set_capacity(p, p->node_capacity * 2);
	p->parents[p->node_count] = parent;
	p->node_frames[p->node_count] = frame;
	if (p->node_lines)
		p->node_lines[p->node_count] = 0;
	for (uint32_t i = 0; i < p->column_count; i++)
		p->columns[i].self[p->node_count] = 0;
	return p->node_count++;
}

uint32_t profile_append_at(struct profile *p, uint32_t parent, uint32_t frame, uint32_t line)
{
	uint32_t node = profile_append(p, parent, frame);

	if (line && p->keeps_lines)
		set_line(p, node, line);
	return node;
}

static void take_values(struct profile_column *c, uint32_t count, int64_t *self)
{
	if (!self)
		self = xcalloc(count, sizeof(*self));
	saturating_add(&self[PROFILE_ROOT], c->self[PROFILE_ROOT]);
	free(c->self);
	c->self = self;
}

void profile_take_nodes(struct profile *p, uint32_t count, uint32_t *parents, uint32_t *frames, uint32_t *lines, int64_t *const *self)
{
	assert(p->node_count == 1 && p->indexed_count == 1 && !p->first_children[PROFILE_ROOT].node && !p->node_lines);
	assert(!lines || p->keeps_lines);
	free(p->parents);
	free(p->node_frames);
	p->parents = parents;
	p->node_frames = frames;
	p->node_lines = lines;
	p->parents[PROFILE_ROOT] = PROFILE_ROOT;
	p->node_frames[PROFILE_ROOT] = UINT32_MAX;
	p->first_children = xrealloc(p->first_children, count * sizeof(*p->first_children));
	for (uint32_t i = 0; i < p->column_count; i++)
		take_values(&p->columns[i], count, self[i]);
	p->node_count = count;
	p->node_capacity = count;
}

/* Returns the number of a frame and a line, by which children are found; without a line, it is the frame's. */
#define PLACE_WITH_LINE	0x80000000u

static uint32_t place_of(struct profile *p, uint32_t frame, uint32_t line)
{
	uint32_t *slot;

	assert(frame < PLACE_WITH_LINE);
	if (!line)
		return frame;
	slot = map_slot(&p->place_map, map_pair(frame, line));
	if (*slot == MAP_NONE)
		*slot = PLACE_WITH_LINE | (uint32_t)(p->place_map.count - 1);
	return *slot;
}

/* Indexes children that were only appended. */
static void index_children(struct profile *p)
{
	assert(p->indexed_count >= 1 && p->indexed_count <= p->node_count);
	memset(p->first_children + p->indexed_count, 0,
	       (p->node_count - p->indexed_count) * sizeof(*p->first_children));
	for (uint32_t n = p->indexed_count; n < p->node_count; n++) {
		struct profile_child *first = &p->first_children[p->parents[n]];
		uint32_t place = place_of(p, p->node_frames[n], profile_line(p, n));

		assert(p->parents[n] < n);
		if (first->node)
			map_set(&p->child_map, map_pair(p->parents[n], place), n);
		else
			*first = (struct profile_child){ n, place };
	}
	p->indexed_count = p->node_count;
}

static uint32_t child_at(struct profile *p, uint32_t parent, uint32_t frame, uint32_t line, uint32_t place)
{
	struct profile_child *first;
	uint32_t node;

	assert(parent < p->node_count && frame < p->frame_count);
	if (p->indexed_count < p->node_count)
		index_children(p);
	first = &p->first_children[parent];
	node = p->node_count;
	if (!first->node) {
		*first = (struct profile_child){ node, place };
	} else if (first->place == place) {
		return first->node;
	} else {
		uint32_t *slot = map_slot(&p->child_map, map_pair(parent, place));

		if (*slot != MAP_NONE)
			return *slot;
		*slot = node;
	}
	profile_append_at(p, parent, frame, line);
	assert(p->node_count == node + 1);
	p->first_children[node] = (struct profile_child){ 0 };
	p->indexed_count = p->node_count;
	return node;
}

uint32_t profile_child(struct profile *p, uint32_t parent, uint32_t frame)
{
	return child_at(p, parent, frame, 0, frame);
}

uint32_t profile_child_at(struct profile *p, uint32_t parent, uint32_t frame, uint32_t line)
{
	if (!p->keeps_lines)
		line = 0;
	return child_at(p, parent, frame, line, place_of(p, frame, line));
}

void profile_keep_lines(struct profile *p, bool keep)
{
	p->keeps_lines = keep;
}

void profile_keep_chart(struct profile *p, bool keep)
{
	p->keeps_chart = keep;
}

void profile_add(struct profile *p, uint32_t node, uint32_t column, int64_t value)
{
	assert(node < p->node_count && column < p->column_count);
	saturating_add(&p->columns[column].self[node], value);
}

uint32_t profile_stack(struct profile *p, const uint32_t *frames, size_t depth)
{
	uint32_t node = PROFILE_ROOT;

	for (size_t i = 0; i < depth; i++)
		node = profile_child(p, node, frames[i]);
	return node;
}

struct str profile_name(const struct profile *p, uint32_t frame)
{
	return intern_get(&p->strings, p->frames[frame].name);
}

struct str profile_file(const struct profile *p, uint32_t frame)
{
	return intern_get(&p->strings, p->frames[frame].file);
}

int profile_compare_frames(const struct profile *p, uint32_t a, uint32_t b)
{
	const struct profile_frame *x = &p->frames[a], *y = &p->frames[b];
	int order = x->name == y->name ? 0 : text_compare(profile_name(p, a), profile_name(p, b));

	if (!order && x->file != y->file)
		order = text_compare(profile_file(p, a), profile_file(p, b));
	if (!order && x->line != y->line)
		order = x->line < y->line ? -1 : 1;
	return order ? order : a < b ? -1 : a > b;
}

static int compare_frames(const void *a, const void *b, void *profile)
{
	return profile_compare_frames(profile, *(const uint32_t *)a, *(const uint32_t *)b);
}

uint32_t *profile_rank_frames(const struct profile *p)
{
	_cleanup_(freep) uint32_t *order = xcalloc((size_t)p->frame_count + 1, sizeof(*order));
	uint32_t *ranks = xcalloc((size_t)p->frame_count + 1, sizeof(*ranks));

	for (uint32_t f = 0; f < p->frame_count; f++)
		order[f] = f;
	qsort_r(order, p->frame_count, sizeof(*order), compare_frames, (void *)p);
	for (uint32_t i = 0; i < p->frame_count; i++)
		ranks[order[i]] = i;
	return ranks;
}

uint32_t profile_pick_column(const struct profile *p, const char *wanted)
{
	static const char *const of_a_trace[] = { "wall_ns", "cpu_ns", "samples" };

	if (wanted)
		return profile_find_column(p, wanted);
	if (p->column_count && !strcmp(p->columns[0].name, "before") && profile_find_column(p, "after") != UINT32_MAX)
		return profile_find_column(p, "after");
	for (size_t i = 0; p->column_count && !strcmp(p->columns[0].name, "calls") && i < ARRAY_SIZE(of_a_trace); i++) {
		uint32_t column = profile_find_column(p, of_a_trace[i]);

		if (column != UINT32_MAX)
			return column;
	}
	return p->column_count ? 0 : UINT32_MAX;
}

int64_t *profile_totals(const struct profile *p, uint32_t column)
{
	int64_t *totals = xmalloc(p->node_count * sizeof(*totals));

	assert(column < p->column_count);
	memcpy(totals, p->columns[column].self, p->node_count * sizeof(*totals));
	for (uint32_t n = p->node_count - 1; n > 0; n--)
		saturating_add(&totals[p->parents[n]], totals[n]);
	return totals;
}

int64_t profile_sum(const struct profile *p, uint32_t column)
{
	__int128 sum = 0;

	assert(column < p->column_count);
	for (uint32_t n = 0; n < p->node_count; n++)
		sum += p->columns[column].self[n];
	return sum > INT64_MAX ? INT64_MAX : sum < INT64_MIN ? INT64_MIN : (int64_t)sum;
}

int64_t profile_below_zero(const struct profile *p, uint32_t column, uint32_t *ret_nodes)
{
	uint32_t nodes = 0;
	int64_t sum = 0;

	assert(column < p->column_count);
	for (uint32_t n = 0; n < p->node_count; n++)
		if (p->columns[column].self[n] < 0) {
			saturating_add(&sum, p->columns[column].self[n]);
			nodes++;
		}
	if (ret_nodes)
		*ret_nodes = nodes;
	return sum;
}

uint32_t profile_stacks(const struct profile *p)
{
	_cleanup_(freep) bool *inner = xcalloc(p->node_count, sizeof(*inner));
	uint32_t stacks = 0;

	for (uint32_t n = p->node_count - 1; n > 0; n--) {
		stacks += !inner[n];
		inner[p->parents[n]] = true;
	}
	return stacks;
}

uint32_t profile_depth(const struct profile *p)
{
	_cleanup_(freep) uint32_t *depths = xcalloc(p->node_count, sizeof(*depths));
	uint32_t deepest = 0;

	for (uint32_t n = 1; n < p->node_count; n++) {
		depths[n] = depths[p->parents[n]] + 1;
		if (depths[n] > deepest)
			deepest = depths[n];
	}
	return deepest;
}

void profile_add_time(struct profile *p)
{
	const char *clock = labels_get(&p->labels, "clock");
	uint32_t samples = profile_find_column(p, "samples");
	const char *name;
	int64_t scale;
	uint32_t time;

	if (!clock || samples == UINT32_MAX || p->period_ns <= 0 || p->mixed_periods)
		return;
	if (strcmp(clock, "wall") == 0)
		name = "wall_ns";
	else if (strcmp(clock, "cpu") == 0)
		name = "cpu_ns";
	else
		return;
	if (profile_find_column(p, name) != UINT32_MAX)
		return;
	scale = profile_scale(p, samples);
	time = profile_column(p, name, "nanoseconds");
	if (time == UINT32_MAX)
		return;
	for (uint32_t n = 0; n < p->node_count; n++)
		p->columns[time].self[n] = saturating_product(p->columns[samples].self[n], p->period_ns) / scale;
	if (p->edges)
		edges_scale(p->edges, samples, time, p->period_ns, scale);
}

void profile_add_off_cpu(struct profile *p)
{
	uint32_t wall = profile_find_column(p, "wall_ns"), cpu = profile_find_column(p, "cpu_ns"), off;

	if (wall == UINT32_MAX || cpu == UINT32_MAX || profile_find_column(p, "off_cpu_ns") != UINT32_MAX)
		return;
	off = profile_column(p, "off_cpu_ns", "nanoseconds");
	for (uint32_t n = 0; off != UINT32_MAX && n < p->node_count; n++)
		if (p->columns[wall].self[n] > p->columns[cpu].self[n])
			profile_add(p, n, off, p->columns[wall].self[n] - p->columns[cpu].self[n]);
	if (p->edges && off != UINT32_MAX)
		edges_subtract(p->edges, wall, cpu, off);
}

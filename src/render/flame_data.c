/* flame_data.c: from the tree to boxes. Every step is one pass over arrays; nothing recurses, at any depth. */

#include "flame_data.h"

#include "mem.h"
#include "saturate.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

struct layout {
	const struct profile *p;
	int64_t *totals;
	int64_t *before, *after;	/* of a difference: totals of both sides; else NULL */
	int64_t least;			/* boxes narrower than this are left out */
	uint32_t left_out;
	uint32_t *first_child;		/* by node, into `children`; node_count + 1 of them */
	uint32_t *children;		/* nodes, by parent and then by name */
	uint32_t *order;		/* nodes, by depth and then by start: what is written */
	uint32_t count;
	int64_t *starts;		/* by node */
	uint32_t *depths;		/* first place in `order` of each depth */
	size_t depth_count, depth_capacity;
};

static void layout_done(struct layout *l)
{
	free(l->totals);
	free(l->before);
	free(l->after);
	free(l->first_child);
	free(l->children);
	free(l->order);
	free(l->starts);
	free(l->depths);
}

/* --- Which boxes --- */

static uint32_t count_boxes(const struct layout *l, int64_t least)
{
	uint32_t n = 1;

	for (uint32_t i = 1; i < l->p->node_count; i++)
		n += l->totals[i] >= least;
	return n;
}

static void choose_boxes(struct layout *l, uint32_t max_boxes)
{
	uint32_t all = count_boxes(l, 1), n = all;

	for (l->least = 1; n > max_boxes && l->least < INT64_MAX / 2; n = count_boxes(l, l->least))
		l->least *= 2;
	l->left_out = all - n;
}

static bool is_box(const struct layout *l, uint32_t node)
{
	return node == PROFILE_ROOT || l->totals[node] >= l->least;
}

/* --- In which order --- */

struct named {
	struct str name;
	uint32_t frame;
};

static int compare_names(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;
	size_t n = a->name.n < b->name.n ? a->name.n : b->name.n;
	int r = memcmp(a->name.p, b->name.p, n);

	if (r)
		return r;
	if (a->name.n != b->name.n)
		return a->name.n < b->name.n ? -1 : 1;
	return a->frame < b->frame ? -1 : a->frame > b->frame;
}

/* The rank of each frame by name. The caller frees. */
static uint32_t *rank_frames(const struct profile *p)
{
	struct named *names = xcalloc((size_t)p->frame_count + 1, sizeof(*names));
	uint32_t *ranks = xcalloc((size_t)p->frame_count + 1, sizeof(*ranks));

	for (uint32_t f = 0; f < p->frame_count; f++)
		names[f] = (struct named){ profile_name(p, f), f };
	qsort(names, p->frame_count, sizeof(*names), compare_names);
	for (uint32_t i = 0; i < p->frame_count; i++)
		ranks[names[i].frame] = i;
	free(names);
	return ranks;
}

/* Nodes sorted by the rank of their frame: a counting sort. The caller frees. */
static uint32_t *nodes_by_name(const struct layout *l)
{
	const struct profile *p = l->p;
	_cleanup_(freep) uint32_t *ranks = rank_frames(p);
	_cleanup_(freep) uint32_t *at = xcalloc((size_t)p->frame_count + 1, sizeof(*at));
	uint32_t *sorted = xcalloc(p->node_count, sizeof(*sorted));

	for (uint32_t i = 1; i < p->node_count; i++)
		at[ranks[p->node_frames[i]] + 1]++;
	for (uint32_t f = 0; f < p->frame_count; f++)
		at[f + 1] += at[f];
	for (uint32_t i = 1; i < p->node_count; i++)
		sorted[at[ranks[p->node_frames[i]]]++] = i;
	return sorted;
}

/* A second, stable counting sort by parent keeps the names in order among siblings. */
static void sort_children(struct layout *l)
{
	const struct profile *p = l->p;
	_cleanup_(freep) uint32_t *by_name = nodes_by_name(l);
	_cleanup_(freep) uint32_t *at = NULL;

	l->first_child = xcalloc((size_t)p->node_count + 1, sizeof(*l->first_child));
	l->children = xcalloc(p->node_count, sizeof(*l->children));
	for (uint32_t i = 1; i < p->node_count; i++)
		if (is_box(l, i))
			l->first_child[p->parents[i] + 1]++;
	for (uint32_t i = 0; i < p->node_count; i++)
		l->first_child[i + 1] += l->first_child[i];

	at = xcalloc((size_t)p->node_count + 1, sizeof(*at));
	memcpy(at, l->first_child, ((size_t)p->node_count + 1) * sizeof(*at));
	for (uint32_t i = 0; i + 1 < p->node_count; i++)
		if (is_box(l, by_name[i]))
			l->children[at[p->parents[by_name[i]]]++] = by_name[i];
}

/* --- Where they are --- */

static void begin_depth(struct layout *l, uint32_t at)
{
	GROW(&l->depths, &l->depth_capacity, l->depth_count + 1);
	l->depths[l->depth_count++] = at;
}

/* Depth by depth: walking a depth from left to right and appending the children makes the next one, in order. */
static void place_boxes(struct layout *l)
{
	uint32_t depth_end = 1;

	l->order = xcalloc(l->p->node_count, sizeof(*l->order));
	l->starts = xcalloc(l->p->node_count, sizeof(*l->starts));
	l->order[0] = PROFILE_ROOT;
	l->count = 1;
	begin_depth(l, 0);

	for (uint32_t i = 0; i < l->count; i++) {
		uint32_t node = l->order[i];
		int64_t start = l->starts[node];

		if (i == depth_end) {
			begin_depth(l, i);
			depth_end = l->count;
		}
		for (uint32_t c = l->first_child[node]; c < l->first_child[node + 1]; c++) {
			uint32_t child = l->children[c];

			l->starts[child] = start;
			saturating_add(&start, l->totals[child]);
			l->order[l->count++] = child;
		}
	}
	begin_depth(l, l->count);
}

/* --- The bytes --- */

static void put_u32(struct buf *out, uint32_t v)
{
	v = htole32(v);
	buf_put(out, &v, sizeof(v));
}

static void put_double(struct buf *out, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	bits = htole64(bits);
	buf_put(out, &bits, sizeof(bits));
}

static void fill_up(struct buf *out, size_t begin)
{
	while ((out->size - begin) % 8 && !out->overflow)
		buf_putc(out, '\0');
}

static void put_values(const struct layout *l, const int64_t *values, bool wide, struct buf *out)
{
	for (uint32_t i = 0; i < l->count; i++) {
		int64_t v = values[l->order[i]];

		if (wide)
			put_double(out, (double)v);
		else
			put_u32(out, (uint32_t)v);
	}
}

/* Strings of the profile that frames use, in the order of first use; `of_frame` says which is whose. */
static void put_strings(const struct profile *p, struct json *j, const char *list, const char *index,
			struct str (*of)(const struct profile *, uint32_t))
{
	struct intern used;

	intern_init(&used);
	json_key(j, index);
	json_open_array(j);
	for (uint32_t f = 0; f < p->frame_count; f++)
		json_u64(j, intern_add(&used, of(p, f).p, of(p, f).n));
	json_u64(j, intern_add(&used, list[0] == 'n' ? "all" : "", list[0] == 'n' ? 3 : 0));
	json_end(j);

	json_key(j, list);
	json_open_array(j);
	for (size_t i = 0; i < used.count; i++)
		json_bytes(j, intern_get(&used, (uint32_t)i));
	json_end(j);
	intern_done(&used);
}

/* One more frame than the profile has: the last one is the root's. */
static void put_text(const struct profile *p, struct buf *out, void (*about)(struct json *j, void *data), void *data)
{
	struct json j;

	json_init(&j, out);
	json_open_object(&j);
	put_strings(p, &j, "names", "frame_name", profile_name);
	put_strings(p, &j, "files", "frame_file", profile_file);
	json_key(&j, "frame_line");
	json_open_array(&j);
	for (uint32_t f = 0; f < p->frame_count; f++)
		json_u64(&j, p->frames[f].line);
	json_u64(&j, 0);
	json_end(&j);
	if (about)
		about(&j, data);
	json_end(&j);
}

struct header {
	uint32_t count, depths, left_out;
	int64_t total;
	bool wide, is_difference;
};

static void put_header(const struct header *h, size_t text_size, struct buf *out)
{
	buf_puts(out, "SFLM");
	put_u32(out, 1);
	put_u32(out, h->count);
	put_u32(out, h->depths);
	put_u32(out, h->wide ? 8 : 4);
	put_u32(out, (uint32_t)text_size);
	put_double(out, (double)h->total);
	put_u32(out, h->left_out);
	put_u32(out, h->is_difference);
	for (unsigned i = 0; i < 6; i++)
		put_u32(out, 0);
}

static void put_boxes(const struct layout *l, bool wide, struct buf *out, size_t begin)
{
	const struct profile *p = l->p;

	for (size_t d = 0; d < l->depth_count; d++)
		put_u32(out, l->depths[d]);
	fill_up(out, begin);
	put_values(l, l->starts, wide, out);
	fill_up(out, begin);
	put_values(l, l->totals, wide, out);
	fill_up(out, begin);
	for (uint32_t i = 0; i < l->count; i++)
		put_u32(out, l->order[i] == PROFILE_ROOT ? p->frame_count : p->node_frames[l->order[i]]);
	fill_up(out, begin);
	if (l->before) {
		put_values(l, l->before, wide, out);
		fill_up(out, begin);
		put_values(l, l->after, wide, out);
		fill_up(out, begin);
	}
}

static void put_layout(struct layout *l, uint32_t max_boxes, struct buf *out,
		       void (*about)(struct json *j, void *data), void *data)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	size_t begin = out->size;
	bool wide;

	assert(max_boxes > 0);

	choose_boxes(l, max_boxes);
	sort_children(l);
	place_boxes(l);
	assert(l->depths[l->depth_count - 1] == l->count);

	buf_init(&text);
	put_text(l->p, &text, about, data);
	wide = l->totals[PROFILE_ROOT] > UINT32_MAX;
	put_header(&(struct header){ l->count, (uint32_t)(l->depth_count - 1), l->left_out, l->totals[PROFILE_ROOT], wide,
				     l->before != NULL }, text.size, out);
	assert(out->overflow || out->size - begin == FLAME_DATA_HEADER);
	put_boxes(l, wide, out, begin);
	buf_put(out, text.data, text.size);
}

static void put_plain(const int64_t *values, uint32_t count, bool wide, struct buf *out)
{
	for (uint32_t i = 0; i < count; i++) {
		if (wide)
			put_double(out, (double)values[i]);
		else
			put_u32(out, (uint32_t)values[i]);
	}
}

void flame_data_put_boxes(const struct profile *p, const struct flame_boxes *b, struct buf *out,
			  void (*about)(struct json *j, void *data), void *data)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	size_t begin = out->size;
	bool wide = b->widths[0] > UINT32_MAX;

	buf_init(&text);
	put_text(p, &text, about, data);
	put_header(&(struct header){ b->count, b->depths, 0, b->widths[0], wide, false }, text.size, out);
	for (uint32_t d = 0; d <= b->depths; d++)
		put_u32(out, b->offsets[d]);
	fill_up(out, begin);
	put_plain(b->starts, b->count, wide, out);
	fill_up(out, begin);
	put_plain(b->widths, b->count, wide, out);
	fill_up(out, begin);
	for (uint32_t i = 0; i < b->count; i++)
		put_u32(out, b->frames[i]);
	fill_up(out, begin);
	buf_put(out, text.data, text.size);
}

static int64_t larger(int64_t a, int64_t b)
{
	a = a > b ? a : b;
	return a > 0 ? a : 0;
}

/* Totals of the larger own value of both sides. What is below zero, as of memory that was given back, is nothing: else
 * callees would be wider than their caller. */
static int64_t *totals_of_larger(const struct profile *p, uint32_t column, uint32_t before_column)
{
	const int64_t *after = p->columns[column].self, *before = p->columns[before_column].self;
	int64_t *totals = xcalloc(p->node_count, sizeof(*totals));

	for (uint32_t i = p->node_count; i-- > 0;) {
		int64_t own = larger(after[i], before[i]);

		if (__builtin_add_overflow(totals[i], own, &totals[i]))
			totals[i] = INT64_MAX;
		if (i > 0 && __builtin_add_overflow(totals[p->parents[i]], totals[i], &totals[p->parents[i]]))
			totals[p->parents[i]] = INT64_MAX;
	}
	return totals;
}

static void find_sides(struct layout *l, uint32_t column, uint32_t before_column)
{
	const struct profile *p = l->p;

	l->totals = totals_of_larger(p, column, before_column);
	l->before = profile_totals(p, before_column);
	l->after = profile_totals(p, column);
	for (uint32_t i = 0; i < p->node_count; i++) {
		l->before[i] = larger(l->before[i], 0);
		l->after[i] = larger(l->after[i], 0);
	}
}

static void find_totals(struct layout *l, uint32_t column, uint32_t before_column)
{
	const struct profile *p = l->p;

	if (column >= p->column_count)
		l->totals = xcalloc(p->node_count, sizeof(*l->totals));
	else if (before_column == UINT32_MAX)
		l->totals = totals_of_larger(p, column, column);
	else
		find_sides(l, column, before_column);
}

void flame_data_put(const struct profile *p, uint32_t column, uint32_t before_column, uint32_t max_boxes, struct buf *out,
		    void (*about)(struct json *j, void *data), void *data)
{
	_cleanup_(layout_done) struct layout l = { .p = p };

	find_totals(&l, column, before_column);
	put_layout(&l, max_boxes, out, about, data);
}

/* --- The tree with all values --- */

/* Decides whether a node stays: its total in one column, and whether there is anything at all. */
static int64_t *totals_of_any(const struct profile *p, const uint32_t *columns, uint32_t column_count, uint32_t shown)
{
	int64_t *totals = xcalloc(p->node_count, sizeof(*totals));

	for (uint32_t i = p->node_count; i-- > 0;) {
		int64_t own = 0;

		for (uint32_t c = 0; c < column_count; c++)
			own = own ? own : p->columns[columns[c]].self[i] != 0;
		if (p->columns[columns[shown]].self[i] > own)
			own = p->columns[columns[shown]].self[i];
		saturating_add(&totals[i], own);
		if (i > 0)
			saturating_add(&totals[p->parents[i]], totals[i]);
	}
	return totals;
}

static bool is_wide(const struct layout *l, uint32_t column)
{
	const int64_t *own = l->p->columns[column].self;

	for (uint32_t i = 0; i < l->count; i++)
		if (own[l->order[i]] != (int32_t)own[l->order[i]])
			return true;
	return false;
}

static void put_nodes(const struct layout *l, const uint32_t *columns, const bool *wide, uint32_t column_count, struct buf *out,
		      size_t begin)
{
	const struct profile *p = l->p;

	for (uint32_t c = 0; c < column_count; c++)
		put_u32(out, wide[c] ? 8 : 4);
	fill_up(out, begin);
	for (size_t d = 0; d < l->depth_count; d++)
		put_u32(out, l->depths[d]);
	fill_up(out, begin);
	for (uint32_t i = 0; i < l->count; i++)
		put_u32(out, l->first_child[l->order[i] + 1] - l->first_child[l->order[i]]);
	fill_up(out, begin);
	for (uint32_t i = 0; i < l->count; i++)
		put_u32(out, l->order[i] == PROFILE_ROOT ? p->frame_count : p->node_frames[l->order[i]]);
	fill_up(out, begin);
	for (uint32_t c = 0; c < column_count; c++) {
		put_values(l, p->columns[columns[c]].self, wide[c], out);
		fill_up(out, begin);
	}
}

void flame_data_put_tree(const struct profile *p, const uint32_t *columns, uint32_t column_count, uint32_t shown, uint32_t max_nodes,
			 struct buf *out)
{
	_cleanup_(layout_done) struct layout l = { .p = p, .totals = totals_of_any(p, columns, column_count, shown) };
	_cleanup_(buf_done) struct buf text = { 0 };
	size_t begin = out->size;
	bool wide[PROFILE_COLUMNS];

	assert(shown < column_count && column_count <= PROFILE_COLUMNS);
	choose_boxes(&l, max_nodes);
	sort_children(&l);
	place_boxes(&l);
	for (uint32_t c = 0; c < column_count; c++)
		wide[c] = is_wide(&l, columns[c]);
	buf_init(&text);
	put_text(p, &text, NULL, NULL);
	buf_puts(out, "STRE");
	put_u32(out, 1);
	put_u32(out, l.count);
	put_u32(out, (uint32_t)(l.depth_count - 1));
	put_u32(out, column_count);
	put_u32(out, (uint32_t)text.size);
	put_u32(out, l.left_out);
	for (unsigned i = 0; i < 9; i++)
		put_u32(out, 0);
	put_nodes(&l, columns, wide, column_count, out, begin);
	buf_put(out, text.data, text.size);
}

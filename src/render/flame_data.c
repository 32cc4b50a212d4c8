/* flame_data.c: converts the tree to boxes. Every step is one pass over arrays, without recursion. */

#include "flame_data.h"

#include "flame_layout.h"
#include "mem.h"
#include "saturate.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

/* --- The choice of boxes --- */

static uint32_t count_boxes(const struct flame_layout *l, int64_t least)
{
	uint32_t n = 1;

	for (uint32_t i = 1; i < l->p->node_count; i++)
		n += l->totals[i] >= least;
	return n;
}

static void choose_boxes(struct flame_layout *l, uint32_t max_boxes)
{
	uint32_t all = count_boxes(l, 1), n = all;

	for (l->least = 1; n > max_boxes && l->least < INT64_MAX / 2; n = count_boxes(l, l->least))
		l->least *= 2;
	l->left_out = all - n;
}

/* --- Positions --- */

static void begin_depth(struct flame_layout *l, uint32_t at)
{
	GROW(&l->depths, &l->depth_capacity, l->depth_count + 1);
	l->depths[l->depth_count++] = at;
}

/* Places boxes depth by depth: walking a depth from left to right and appending the children gives the next one, in
 * order. */
static void place_boxes(struct flame_layout *l)
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

static void put_values(const struct flame_layout *l, const int64_t *values, bool wide, struct buf *out)
{
	for (uint32_t i = 0; i < l->count; i++) {
		int64_t v = values[l->order[i]];

		if (wide)
			put_double(out, (double)v);
		else
			put_u32(out, (uint32_t)v);
	}
}

/* The frames listed in the text: those of the profile, or some of them, then the root's, and that of gray boxes if
 * they have a name. */
struct words {
	const struct profile *p;
	const uint32_t *frames;		/* NULL: all frames */
	uint32_t count;			/* not including the root's */
	const char *gray;
};

static void put_index(struct json *j, struct intern *used, struct str s)
{
	json_u64(j, intern_add(used, s.p, s.n));
}

static struct str str_of(const char *text)
{
	return (struct str){ text, strlen(text) };
}

/* Puts the strings used by frames, in order of first use; `index` maps frames to strings. */
static void put_strings(const struct words *w, struct json *j, const char *list, const char *index,
			struct str (*of)(const struct profile *, uint32_t), const char *root, const char *gray)
{
	struct intern used;

	intern_init(&used);
	json_key(j, index);
	json_open_array(j);
	for (uint32_t f = 0; f < w->count; f++)
		put_index(j, &used, of(w->p, w->frames ? w->frames[f] : f));
	put_index(j, &used, str_of(root));
	if (w->gray)
		put_index(j, &used, str_of(gray));
	json_end(j);

	json_key(j, list);
	json_open_array(j);
	for (size_t i = 0; i < used.count; i++)
		json_bytes(j, intern_get(&used, (uint32_t)i));
	json_end(j);
	intern_done(&used);
}

static void put_text(const struct words *w, struct buf *out, void (*about)(struct json *j, void *data), void *data)
{
	struct json j;

	json_init(&j, out);
	json_open_object(&j);
	put_strings(w, &j, "names", "frame_name", profile_name, "all", w->gray);
	put_strings(w, &j, "files", "frame_file", profile_file, "", "");
	json_key(&j, "frame_line");
	json_open_array(&j);
	for (uint32_t f = 0; f < w->count; f++)
		json_u64(&j, w->p->frames[w->frames ? w->frames[f] : f].line);
	for (uint32_t more = 0; more < 1 + (w->gray != NULL); more++)
		json_u64(&j, 0);
	json_end(&j);
	if (about)
		about(&j, data);
	json_end(&j);
}

struct header {
	uint32_t count, depths, left_out, joined;
	int64_t total;
	bool wide, is_difference, is_scaled;
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
	put_u32(out, h->joined);
	put_u32(out, h->is_scaled);
	for (unsigned i = 0; i < 4; i++)
		put_u32(out, 0);
}

static void put_boxes(const struct flame_layout *l, bool wide, struct buf *out, size_t begin)
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
	if (l->measured) {
		put_values(l, l->measured, wide, out);
		fill_up(out, begin);
	}
}

static void put_layout(struct flame_layout *l, uint32_t max_boxes, struct buf *out,
		       void (*about)(struct json *j, void *data), void *data)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	size_t begin = out->size;
	bool wide;

	assert(max_boxes > 0);

	choose_boxes(l, max_boxes);
	flame_layout_children(l);
	place_boxes(l);
	assert(l->depths[l->depth_count - 1] == l->count);

	buf_init(&text);
	put_text(&(struct words){ l->p, NULL, l->p->frame_count, NULL }, &text, about, data);
	wide = l->totals[PROFILE_ROOT] > UINT32_MAX || (l->measured && l->measured[PROFILE_ROOT] > UINT32_MAX);
	put_header(&(struct header){ l->count, (uint32_t)(l->depth_count - 1), l->left_out, 0, l->totals[PROFILE_ROOT], wide,
				     l->before != NULL, l->measured != NULL }, text.size, out);
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

/* Numbers the frames used by boxes from 0 in `ret_numbers`, by frame, and returns them in this order. */
static uint32_t *used_frames(const struct profile *p, const struct flame_boxes *b, uint32_t **ret_numbers, uint32_t *ret_count)
{
	uint32_t *frames = xcalloc((size_t)p->frame_count + 1, sizeof(*frames)), count = 0;
	uint32_t *numbers = xcalloc((size_t)p->frame_count + 2, sizeof(*numbers));

	for (uint32_t i = 0; i < b->count; i++)
		numbers[b->frames[i]] = 1;
	for (uint32_t f = 0; f < p->frame_count; f++)
		if (numbers[f]) {
			numbers[f] = count;
			frames[count++] = f;
		}
	numbers[p->frame_count] = count;
	numbers[p->frame_count + 1] = count + 1;
	*ret_numbers = numbers;
	*ret_count = count;
	return frames;
}

static void put_frames(const struct flame_boxes *b, const uint32_t *numbers, struct buf *out)
{
	for (uint32_t i = 0; i < b->count; i++)
		put_u32(out, numbers ? numbers[b->frames[i]] : b->frames[i]);
}

void flame_data_put_boxes(const struct profile *p, const struct flame_boxes *b, struct buf *out,
			  void (*about)(struct json *j, void *data), void *data)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	_cleanup_(freep) uint32_t *numbers = NULL, *frames = NULL;
	const int64_t *values[] = { b->starts, b->widths }, *sides[] = { b->before, b->after, b->measured };
	struct words w = { p, NULL, p->frame_count, b->gray };
	size_t begin = out->size;
	bool wide = b->widths[0] > UINT32_MAX || (b->measured && b->measured[0] > UINT32_MAX);

	if (b->gray)
		w.frames = frames = used_frames(p, b, &numbers, &w.count);
	buf_init(&text);
	put_text(&w, &text, about, data);
	put_header(&(struct header){ b->count, b->depths, 0, b->joined, b->widths[0], wide, b->before != NULL, b->measured != NULL }, text.size, out);
	for (uint32_t d = 0; d <= b->depths; d++)
		put_u32(out, b->offsets[d]);
	fill_up(out, begin);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		put_plain(values[i], b->count, wide, out);
		fill_up(out, begin);
	}
	put_frames(b, numbers, out);
	fill_up(out, begin);
	for (size_t i = 0; i < ARRAY_SIZE(sides) && sides[i]; i++) {
		put_plain(sides[i], b->count, wide, out);
		fill_up(out, begin);
	}
	buf_put(out, text.data, text.size);
}

void flame_data_put(const struct profile *p, uint32_t column, uint32_t before_column, enum flamegraph_width_of width_of, uint32_t max_boxes,
		    struct buf *out, void (*about)(struct json *j, void *data), void *data)
{
	_cleanup_(flame_layout_done) struct flame_layout l = { .p = p, .width_of = width_of };

	flame_layout_totals(&l, column, before_column);
	put_layout(&l, max_boxes, out, about, data);
}

/* --- The tree with all values --- */

/* Computes values that decide whether a node stays: its total in one column, and whether it has any value at all. */
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

static bool is_wide(const struct flame_layout *l, uint32_t column)
{
	const int64_t *own = l->p->columns[column].self;

	for (uint32_t i = 0; i < l->count; i++)
		if (own[l->order[i]] != (int32_t)own[l->order[i]])
			return true;
	return false;
}

static void put_nodes(const struct flame_layout *l, const uint32_t *columns, const bool *wide, uint32_t column_count, struct buf *out,
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
	_cleanup_(flame_layout_done) struct flame_layout l = { .p = p, .totals = totals_of_any(p, columns, column_count, shown) };
	_cleanup_(buf_done) struct buf text = { 0 };
	size_t begin = out->size;
	bool wide[PROFILE_COLUMNS];

	assert(shown < column_count && column_count <= PROFILE_COLUMNS);
	choose_boxes(&l, max_nodes);
	flame_layout_children(&l);
	place_boxes(&l);
	for (uint32_t c = 0; c < column_count; c++)
		wide[c] = is_wide(&l, columns[c]);
	buf_init(&text);
	put_text(&(struct words){ p, NULL, p->frame_count, NULL }, &text, NULL, NULL);
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

/* flame_part.c: one pass over the nodes finds the visible ones; only their children are sorted and placed. */
#include "flame_part.h"

#include "flame_data.h"
#include "flame_layout.h"
#include "mem.h"
#include "saturate.h"
#include "text.h"

#include <assert.h>
#include <string.h>

/* --- The zoomed box --- */

/* Compares with "name" or "name@FILE:LINE", the form that the page sends. */
static bool is_called(const struct profile *p, uint32_t frame, struct str wanted)
{
	struct str name = profile_name(p, frame), file = profile_file(p, frame);
	char place[32] = "";

	if (wanted.n < name.n || memcmp(wanted.p, name.p, name.n) != 0)
		return false;
	if (wanted.n == name.n)
		return true;
	if (file.n && p->frames[frame].line)
		snprintf(place, sizeof(place), ":%u", p->frames[frame].line);
	wanted.p += name.n;
	wanted.n -= name.n;
	return wanted.n == 1 + file.n + strlen(place) && wanted.p[0] == '@' && memcmp(wanted.p + 1, file.p, file.n) == 0 &&
	       memcmp(wanted.p + 1 + file.n, place, strlen(place)) == 0;
}

/* Returns the widest of those children, or `parent` if there is none. */
static uint32_t find_child(const struct flame_layout *l, uint32_t parent, struct str wanted)
{
	uint32_t best = parent;

	for (uint32_t i = parent + 1; i < l->p->node_count; i++)
		if (l->p->parents[i] == parent && l->totals[i] > 0 && is_called(l->p, l->p->node_frames[i], wanted) &&
		    (best == parent || l->totals[i] > l->totals[best]))
			best = i;
	return best;
}

static uint32_t find_zoomed(const struct flame_layout *l, const char *zoom)
{
	_cleanup_(freep) char *path = xstrdup(zoom ? zoom : "");
	uint32_t node = PROFILE_ROOT;
	char *rest = *path ? path : NULL, *name;

	while ((name = strsep(&rest, ";"))) {
		size_t n = strlen(name);
		uint32_t child;

		if (text_unescape_url(name, n, &n) < 0 || (child = find_child(l, node, (struct str){ name, n })) == node)
			break;
		node = child;
	}
	return node;
}

/* --- Visible boxes --- */

static int64_t half_pixel(int64_t width, uint32_t pixels)
{
	int64_t least = width / (2 * (int64_t)pixels);

	return least > 1 ? least : 1;
}

/* Marks, by node, whether it is a box of its own. Counts those, and all. The caller frees. */
static bool *find_seen(const struct flame_layout *l, const struct flame_part *part, uint32_t *ret_seen, uint32_t *ret_all)
{
	const struct profile *p = l->p;
	uint32_t zoomed = find_zoomed(l, part->zoom), seen_count = 1, all = 1;
	int64_t least = half_pixel(l->totals[PROFILE_ROOT], part->pixels), least_zoomed = half_pixel(l->totals[zoomed], part->pixels);
	_cleanup_(freep) bool *within = xcalloc(p->node_count, sizeof(*within));
	bool *seen = xcalloc(p->node_count, sizeof(*seen));

	seen[PROFILE_ROOT] = true;
	within[PROFILE_ROOT] = zoomed == PROFILE_ROOT;
	for (uint32_t i = zoomed; i != PROFILE_ROOT; i = p->parents[i])
		seen[i] = true;
	for (uint32_t i = 1; i < p->node_count; i++) {
		uint32_t parent = p->parents[i];

		within[i] = i == zoomed || within[parent];
		seen[i] = seen[i] || (seen[parent] && l->totals[i] >= (within[i] ? least_zoomed : least));
		seen_count += seen[i];
		all += l->totals[i] >= 1;
	}
	*ret_seen = seen_count;
	*ret_all = all;
	return seen;
}

/* --- Positions --- */

#define NO_NODE UINT32_MAX

struct placed {
	uint32_t *nodes;			/* by box; NO_NODE: gray */
	uint32_t *frames, *offsets;
	int64_t *starts, *widths, *before, *after, *measured;
	uint32_t count;
	size_t offset_count, offset_capacity;
};

static void placed_done(struct placed *b)
{
	free(b->nodes);
	free(b->frames);
	free(b->offsets);
	free(b->starts);
	free(b->widths);
	free(b->before);
	free(b->after);
	free(b->measured);
}

static void placed_init(struct placed *b, uint32_t most, const struct flame_layout *l)
{
	*b = (struct placed){ .nodes = xcalloc(most, sizeof(*b->nodes)), .frames = xcalloc(most, sizeof(*b->frames)),
			      .starts = xcalloc(most, sizeof(*b->starts)), .widths = xcalloc(most, sizeof(*b->widths)) };
	if (l->before) {
		b->before = xcalloc(most, sizeof(*b->before));
		b->after = xcalloc(most, sizeof(*b->after));
	}
	if (l->measured)
		b->measured = xcalloc(most, sizeof(*b->measured));
}

static void widen(struct placed *b, uint32_t box, const struct flame_layout *l, uint32_t node)
{
	saturating_add(&b->widths[box], l->totals[node]);
	if (b->before) {
		saturating_add(&b->before[box], l->before[node]);
		saturating_add(&b->after[box], l->after[node]);
	}
	if (b->measured)
		saturating_add(&b->measured[box], l->measured[node]);
}

static void place(struct placed *b, const struct flame_layout *l, uint32_t node, int64_t start, bool is_seen)
{
	const struct profile *p = l->p;
	uint32_t box = b->count++;

	b->nodes[box] = is_seen ? node : NO_NODE;
	b->frames[box] = !is_seen ? p->frame_count + 1 : node == PROFILE_ROOT ? p->frame_count : p->node_frames[node];
	b->starts[box] = start;
	widen(b, box, l, node);
}

static void place_children(struct placed *b, const struct flame_layout *l, const bool *seen, uint32_t box)
{
	uint32_t node = b->nodes[box], first = b->count;
	int64_t start = b->starts[box];

	for (uint32_t c = l->first_child[node]; c < l->first_child[node + 1]; c++) {
		uint32_t child = l->children[c];

		if (!seen[child] && b->count > first && b->nodes[b->count - 1] == NO_NODE)
			widen(b, b->count - 1, l, child);
		else
			place(b, l, child, start, seen[child]);
		saturating_add(&start, l->totals[child]);
	}
}

static void begin_depth(struct placed *b, uint32_t at)
{
	GROW(&b->offsets, &b->offset_capacity, b->offset_count + 1);
	b->offsets[b->offset_count++] = at;
}

/* Places boxes depth by depth: walking a depth from left to right and appending the children gives the next one, in
 * order. */
static void place_all(struct placed *b, const struct flame_layout *l, const bool *seen)
{
	uint32_t depth_end = 1;

	place(b, l, PROFILE_ROOT, 0, true);
	begin_depth(b, 0);
	for (uint32_t i = 0; i < b->count; i++) {
		if (i == depth_end) {
			begin_depth(b, i);
			depth_end = b->count;
		}
		if (b->nodes[i] != NO_NODE)
			place_children(b, l, seen, i);
	}
	begin_depth(b, b->count);
}

/* Every box but the root is a child, and every gray one represents at least one child. */
static uint32_t most_boxes(const struct flame_layout *l)
{
	return l->first_child[l->p->node_count] + 1;
}

void flame_part_put(const struct profile *p, uint32_t column, uint32_t before_column, const struct flame_part *part, struct buf *out,
		    void (*about)(struct json *j, void *data), void *data)
{
	_cleanup_(flame_layout_done) struct flame_layout l = { .p = p, .width_of = part->width_of, .least = 1 };
	_cleanup_(placed_done) struct placed b = { 0 };
	_cleanup_(freep) bool *seen = NULL;
	uint32_t seen_count, all;
	struct flame_boxes boxes;

	assert(part->pixels > 0);
	flame_layout_totals(&l, column, before_column);
	seen = find_seen(&l, part, &seen_count, &all);
	if (all <= part->all || seen_count == all) {
		flame_data_put(p, column, before_column, part->width_of, FLAME_DATA_BOXES, out, about, data);
		return;
	}
	l.open = seen;
	flame_layout_children(&l);
	placed_init(&b, most_boxes(&l), &l);
	place_all(&b, &l, seen);
	boxes = (struct flame_boxes){
		.count = b.count,
		.depths = (uint32_t)(b.offset_count - 1),
		.joined = all - seen_count,
		.offsets = b.offsets,
		.frames = b.frames,
		.starts = b.starts,
		.widths = b.widths,
		.before = b.before,
		.after = b.after,
		.measured = b.measured,
		.gray = FLAME_PART_NAME,
	};
	flame_data_put_boxes(p, &boxes, out, about, data);
}

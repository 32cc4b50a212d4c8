/* chart_data.c: converts calls to boxes, in one pass over the calls and one over the boxes by depth. */
#include "chart_data.h"

#include "chart.h"
#include "flame_data.h"
#include "mem.h"

#include <assert.h>
#include <string.h>

struct box {
	uint32_t depth, frame;
	int64_t start, end;
	uint32_t matches;		/* matching calls among those that it represents */
};

/* A depth while calls are walked: its last box, and the call around it within which boxes may be joined. */
struct row {
	size_t last;			/* index of the box + 1; 0: none */
	uint32_t around;		/* index of the call + 1; 0: none */
	bool is_short;
};

struct boxes {
	const struct profile *p;
	struct box *list;
	size_t count, capacity;
	struct row *rows;		/* by depth of the call */
	uint32_t *calls;		/* by depth: index of the open call + 1, 0 if it has no box of its own */
	size_t *boxes_of;		/* by depth: index of the box that represents this call + 1, 0 if it is outside */
	size_t row_capacity, call_capacity, box_capacity;
	const bool *matches;		/* by frame; NULL: no search */
	uint32_t depths;		/* maximum depth of the calls, plus one */
	int64_t least;
	uint32_t short_frame;
};

static void boxes_done(struct boxes *b)
{
	free(b->list);
	free(b->rows);
	free(b->calls);
	free(b->boxes_of);
}

/* Returns the index of the box + 1. */
static size_t add_box(struct boxes *b, const struct chart_call *call, uint32_t around, bool is_short)
{
	struct row *row = &b->rows[call->depth];

	if (is_short && row->last && row->is_short && row->around == around &&
	    call->start_ns - b->list[row->last - 1].end < b->least) {
		b->list[row->last - 1].end = call->end_ns;
		b->list[row->last - 1].frame = b->short_frame;
		return row->last;
	}
	GROW(&b->list, &b->capacity, b->count + 1);
	b->list[b->count++] = (struct box){ call->depth + 1, b->p->node_frames[call->node], call->start_ns, call->end_ns, 0 };
	*row = (struct row){ b->count, around, is_short };
	return b->count;
}

/* Counts a call without its own box for the box of the surrounding call, or the one it is joined in. */
static void count_match(struct boxes *b, const struct chart_call *call)
{
	size_t box = b->boxes_of[call->depth];

	if (box && b->matches && b->matches[b->p->node_frames[call->node]])
		b->list[box - 1].matches++;
}

/* Returns false if there are more than `most`. */
static bool make_boxes(struct boxes *b, const struct chart_window *w, size_t most)
{
	const struct chart *c = b->p->chart;

	b->count = 0;
	b->depths = 0;
	for (uint32_t i = 0; i < c->count && c->calls[i].start_ns < w->to_ns; i++) {
		const struct chart_call *call = &c->calls[i];
		bool is_short = call->end_ns - call->start_ns < b->least;
		uint32_t around = call->depth ? b->calls[call->depth - 1] : UINT32_MAX;

		GROW(&b->calls, &b->call_capacity, (size_t)call->depth + 1);
		GROW(&b->rows, &b->row_capacity, (size_t)call->depth + 1);
		GROW(&b->boxes_of, &b->box_capacity, (size_t)call->depth + 1);
		b->calls[call->depth] = 0;
		b->boxes_of[call->depth] = call->depth && call->end_ns >= w->from_ns ? b->boxes_of[call->depth - 1] : 0;
		for (; b->depths <= call->depth; b->depths++)
			b->rows[b->depths] = (struct row){ 0 };
		/* Calls inside a short one have no box. */
		if (around && call->end_ns >= w->from_ns) {
			b->calls[call->depth] = is_short ? 0 : i + 1;
			b->boxes_of[call->depth] = add_box(b, call, around, is_short);
		}
		count_match(b, call);
		if (b->count > most)
			return false;
	}
	return true;
}

static void choose_boxes(struct boxes *b, const struct chart_window *w)
{
	b->least = w->pixels ? (w->to_ns - w->from_ns) / w->pixels : 1;
	b->least = b->least > 0 ? b->least : 1;
	while (!make_boxes(b, w, w->max_boxes) && b->least < INT64_MAX / 4)
		b->least *= 2;
}

/* --- The search --- */

static bool is_match(const struct chart_search *s, const struct profile *p, uint32_t call)
{
	return s->frames[p->node_frames[p->chart->calls[call].node]];
}

/* Returns the index of the nth match, from 0. */
static uint32_t nth_match(const struct chart_search *s, const struct profile *p, uint32_t nth)
{
	for (uint32_t i = 0; i < p->chart->count; i++)
		if (is_match(s, p, i) && !nth--)
			return i;
	assert(!"there are as many");
	return 0;
}

static void find_matches(struct chart_search *s, const struct profile *p, int64_t from_ns)
{
	uint32_t before = 0;

	s->calls = s->number = s->call = 0;
	for (uint32_t i = 0; i < p->chart->count; i++) {
		bool hit = is_match(s, p, i);

		s->calls += hit;
		before += hit && p->chart->calls[i].start_ns < from_ns;
	}
	if (!s->wants_call || !s->calls)
		return;
	s->number = 1 + (uint32_t)(((uint64_t)before + (uint64_t)s->nth % s->calls + s->calls - 1) % s->calls);
	s->call = nth_match(s, p, s->number - 1);
}

void chart_data_json_search(struct json *j, const struct profile *p, const struct chart_search *s)
{
	json_open_object(j);
	json_key(j, "calls");
	json_u64(j, s->calls);
	json_key(j, "boxes");
	json_open_array(j);
	for (uint32_t i = 0; i < s->box_count; i++)
		json_u64(j, s->boxes[i]);
	json_end(j);
	if (s->number) {
		const struct chart_call *call = &p->chart->calls[s->call];

		json_key(j, "call");
		json_open_object(j);
		json_key(j, "number");
		json_u64(j, s->number);
		json_key(j, "from_ns");
		json_i64(j, call->start_ns);
		json_key(j, "to_ns");
		json_i64(j, call->end_ns);
		json_key(j, "depth");
		json_u64(j, call->depth + 1);
		json_end(j);
	}
	json_end(j);
}

/* The page shows a call in a window of the same width, or, if it would be narrower than one part in SEEN, in WIDTHS times
 * its length, as showCall() in web/src/flame/time.ts says. */
static void move_to_call(struct chart_window *w, const struct chart_call *call, int64_t end)
{
	enum {
		SEEN = 200,
		WIDTHS = 30,
		LEAST_NS = 100,
		ROUNDING = 2,
	};
	int64_t width = w->to_ns - w->from_ns, length = call->end_ns - call->start_ns, middle;

	if (length < (width + SEEN - 1) / SEEN)
		width = length * WIDTHS;
	width = width > LEAST_NS ? width : LEAST_NS;
	middle = call->start_ns + (length < width ? length : width) / 2;
	w->from_ns = middle > width + ROUNDING ? middle - width - ROUNDING : 0;
	w->to_ns = middle < end - width - ROUNDING ? middle + width + ROUNDING : end;
}

/* --- The bytes --- */

/* Puts boxes depth by depth; within one they are already sorted. */
static void put(const struct boxes *b, int64_t length, struct chart_search *search, struct buf *out, void (*about)(struct json *j, void *data), void *data)
{
	size_t n = b->count + 1;
	uint32_t depths = b->depths + 1;
	_cleanup_(freep) int64_t *starts = xcalloc(n, sizeof(*starts)), *widths = xcalloc(n, sizeof(*widths));
	_cleanup_(freep) uint32_t *frames = xcalloc(n, sizeof(*frames)), *offsets = xcalloc((size_t)depths + 2, sizeof(*offsets));
	_cleanup_(freep) uint32_t *next = NULL, *matches = xcalloc(n, sizeof(*matches));

	offsets[1] = 1;
	for (size_t i = 0; i < b->count; i++)
		offsets[b->list[i].depth + 1]++;
	for (uint32_t d = 0; d < depths; d++)
		offsets[d + 1] += offsets[d];
	/* The deepest ones may be empty. */
	while (depths > 1 && offsets[depths] == offsets[depths - 1])
		depths--;
	next = xmalloc(((size_t)depths + 1) * sizeof(*next));
	memcpy(next, offsets, ((size_t)depths + 1) * sizeof(*next));
	widths[0] = length;
	frames[0] = b->p->frame_count;
	for (size_t i = 0; i < b->count; i++) {
		uint32_t at = next[b->list[i].depth]++;

		starts[at] = b->list[i].start;
		widths[at] = b->list[i].end - b->list[i].start;
		frames[at] = b->list[i].frame;
		matches[at] = b->list[i].matches;
	}
	if (search) {
		search->boxes = matches;
		search->box_count = (uint32_t)n;
	}
	flame_data_put_boxes(b->p, &(struct flame_boxes){ .count = (uint32_t)n, .depths = depths, .offsets = offsets, .starts = starts,
			     .widths = widths, .frames = frames }, out, about, data);
	if (search)
		search->boxes = NULL;
}

int64_t chart_data_put(struct profile *p, struct chart_window *w, struct buf *out,
		       void (*about)(struct json *j, void *data), void *data)
{
	_cleanup_(boxes_done) struct boxes b = { .p = p };
	int64_t length = chart_end(p->chart);

	assert(w->pixels > 0 && w->pixels <= CHART_DATA_PIXELS);
	w->to_ns = w->to_ns ? w->to_ns : length;
	w->to_ns = w->to_ns > w->from_ns ? w->to_ns : w->from_ns + 1;
	b.short_frame = profile_frame(p, (struct str){ CHART_DATA_SHORT, strlen(CHART_DATA_SHORT) }, (struct str){ "", 0 }, 0);
	if (w->search) {
		find_matches(w->search, p, w->from_ns);
		b.matches = w->search->frames;
		if (w->search->number)
			move_to_call(w, &p->chart->calls[w->search->call], length > 0 ? length : 1);
	}
	choose_boxes(&b, w);
	put(&b, length, w->search, out, about, data);
	return b.least;
}

void chart_data_put_calls(const struct profile *p, uint32_t max_boxes, struct buf *out)
{
	_cleanup_(boxes_done) struct boxes b = { .p = p, .short_frame = p->frame_count + 1 };
	int64_t length = chart_end(p->chart);
	const struct chart_window all = { .to_ns = length > 0 ? length : 1, .max_boxes = max_boxes };

	choose_boxes(&b, &all);
	put(&b, length, NULL, out, NULL, NULL);
}

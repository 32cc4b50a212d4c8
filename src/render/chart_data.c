/* chart_data.c: from calls to boxes, in one pass over the calls and one over the boxes by depth. */
#include "chart_data.h"

#include "chart.h"
#include "flame_data.h"
#include "mem.h"

#include <assert.h>
#include <string.h>

struct box {
	uint32_t depth, frame;
	int64_t start, end;
};

/* A depth, while calls are walked: its last box, and the call around it that boxes may be joined in. */
struct row {
	size_t last;			/* number of the box + 1; 0: none */
	uint32_t around;		/* number of the call + 1; 0: none */
	bool is_short;
};

struct boxes {
	const struct profile *p;
	struct box *list;
	size_t count, capacity;
	struct row *rows;		/* by depth of the call */
	uint32_t *calls;		/* by depth: number of the call that is open there + 1, 0 if it has no box of its own */
	size_t row_capacity, call_capacity;
	uint32_t depths;		/* depth of the calls, plus one */
	int64_t least;
	uint32_t short_frame;
};

static void boxes_done(struct boxes *b)
{
	free(b->list);
	free(b->rows);
	free(b->calls);
}

static void add_box(struct boxes *b, const struct chart_call *call, uint32_t around, bool is_short)
{
	struct row *row = &b->rows[call->depth];

	if (is_short && row->last && row->is_short && row->around == around &&
	    call->start_ns - b->list[row->last - 1].end < b->least) {
		b->list[row->last - 1].end = call->end_ns;
		b->list[row->last - 1].frame = b->short_frame;
		return;
	}
	GROW(&b->list, &b->capacity, b->count + 1);
	b->list[b->count++] = (struct box){ call->depth + 1, b->p->node_frames[call->node], call->start_ns, call->end_ns };
	*row = (struct row){ b->count, around, is_short };
}

/* False if there are more than `most`. */
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
		b->calls[call->depth] = 0;
		for (; b->depths <= call->depth; b->depths++)
			b->rows[b->depths] = (struct row){ 0 };
		/* The one around it is too short, or outside. */
		if (!around || call->end_ns < w->from_ns)
			continue;
		b->calls[call->depth] = is_short ? 0 : i + 1;
		add_box(b, call, around, is_short);
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

/* Depth by depth; within one they are in order already. */
static void put(const struct boxes *b, int64_t length, struct buf *out, void (*about)(struct json *j, void *data), void *data)
{
	size_t n = b->count + 1;
	uint32_t depths = b->depths + 1;
	_cleanup_(freep) int64_t *starts = xcalloc(n, sizeof(*starts)), *widths = xcalloc(n, sizeof(*widths));
	_cleanup_(freep) uint32_t *frames = xcalloc(n, sizeof(*frames)), *offsets = xcalloc((size_t)depths + 2, sizeof(*offsets));
	_cleanup_(freep) uint32_t *next = NULL;

	offsets[1] = 1;
	for (size_t i = 0; i < b->count; i++)
		offsets[b->list[i].depth + 1]++;
	for (uint32_t d = 0; d < depths; d++)
		offsets[d + 1] += offsets[d];
	/* Depths at the end may have none. */
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
	}
	flame_data_put_boxes(b->p, &(struct flame_boxes){ .count = (uint32_t)n, .depths = depths, .offsets = offsets, .starts = starts,
			     .widths = widths, .frames = frames }, out, about, data);
}

int64_t chart_data_put(struct profile *p, const struct chart_window *wanted, struct buf *out,
		       void (*about)(struct json *j, void *data), void *data)
{
	_cleanup_(boxes_done) struct boxes b = { .p = p };
	struct chart_window w = *wanted;
	int64_t length = chart_end(p->chart);

	assert(w.pixels > 0 && w.pixels <= CHART_DATA_PIXELS);
	w.to_ns = w.to_ns ? w.to_ns : length;
	w.to_ns = w.to_ns > w.from_ns ? w.to_ns : w.from_ns + 1;
	b.short_frame = profile_frame(p, (struct str){ CHART_DATA_SHORT, strlen(CHART_DATA_SHORT) }, (struct str){ "", 0 }, 0);
	choose_boxes(&b, &w);
	put(&b, length, out, about, data);
	return b.least;
}

void chart_data_put_calls(const struct profile *p, uint32_t max_boxes, struct buf *out)
{
	_cleanup_(boxes_done) struct boxes b = { .p = p, .short_frame = p->frame_count + 1 };
	int64_t length = chart_end(p->chart);
	const struct chart_window all = { .to_ns = length > 0 ? length : 1, .max_boxes = max_boxes };

	choose_boxes(&b, &all);
	put(&b, length, out, NULL, NULL);
}

/* chart_data.h: a window of a flame chart laid out for the canvas of the page, in the bytes of flame_data.h.
 *
 * Values are nanoseconds since the chart's start. Below the root, which is as wide as the chart, are the calls of the
 * window, including complete calls that begin before it or end after it. Adjacent calls that are too short to be
 * visible, with equally short gaps, become one box CHART_DATA_SHORT; calls within them are left out. So the number of
 * boxes depends on the window's pixels and depth, not on the number of calls.
 *
 * A search counts the matching calls that each box represents, so that those in joined boxes can be marked.
 */
#ifndef RENDER_CHART_DATA_H
#define RENDER_CHART_DATA_H

#include "json.h"
#include "profile.h"

#define CHART_DATA_SHORT	"[short calls]"
#define CHART_DATA_PIXELS	20000u		/* limit for a window */

struct chart_search {
	const bool *frames;		/* by frame of the profile: whether its calls match */
	bool wants_call;
	int64_t nth;			/* nth match from the start of the window on, cyclically; 0: the one before */

	/* filled in before `about` is called */
	uint32_t calls;			/* matching calls in the whole chart */
	uint32_t number;		/* position of the selected match, from 1; 0: none selected, or no call matches */
	uint32_t call;			/* its index in the chart */
	uint32_t box_count;
	const uint32_t *boxes;		/* by box: matching calls that it represents; valid while `about` is called */
};

struct chart_window {
	int64_t from_ns, to_ns;		/* since the chart's start; to_ns 0: its end. Set to those of the boxes */
	uint32_t pixels;		/* 1 to CHART_DATA_PIXELS */
	uint32_t max_boxes;		/* if there would be more, the minimum length of shown calls is increased */
	struct chart_search *search;	/* NULL: none */
};

/* Appends the window of the chart of `p`, which must have one, and adds a frame to `p`. If a search selects a call, the
 * window moves there, and has as much time before the call as after it: any window as wide as `w` that has the call in
 * it, or narrower if the call could not be seen otherwise. `about` is as in flame_data_put, and is called when `w` is
 * final. Returns the minimum length of calls with their own box. */
int64_t chart_data_put(struct profile *p, struct chart_window *w, struct buf *out,
		       void (*about)(struct json *j, void *data), void *data);

/* Puts the result of a search as an object: "calls", "boxes", and "call" if one is selected. */
void chart_data_json_search(struct json *j, const struct profile *p, const struct chart_search *s);

/* Appends the whole chart with a box for each call, unless there are more than `max_boxes`; the frame of joined calls
 * has the number after the root's, and `p` is not changed. */
void chart_data_put_calls(const struct profile *p, uint32_t max_boxes, struct buf *out);

#endif

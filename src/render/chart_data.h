/* chart_data.h: a window of a flame chart laid out for the canvas of the page, in the bytes of flame_data.h.
 *
 * Values are nanoseconds since the chart's start. Below the root, which is as wide as the chart is long, are the calls of the
 * window, those that begin before it or end behind it as a whole. Neighboring calls that are too short to be seen,
 * with gaps as short, become one box CHART_DATA_SHORT; calls within them are left out. So the number of boxes depends
 * on the window's pixels and on its depth, not on the number of calls.
 *
 * A search counts the matching calls that each box stands for, so that those in joined boxes can be marked.
 */
#ifndef RENDER_CHART_DATA_H
#define RENDER_CHART_DATA_H

#include "json.h"
#include "profile.h"

#define CHART_DATA_SHORT	"[short calls]"
#define CHART_DATA_PIXELS	20000u		/* at most, of a window */

struct chart_search {
	const bool *frames;		/* by frame of the profile: whether its calls match */
	bool wants_call;
	int64_t nth;			/* with it: of those that begin in the window or after it; 0 is the one before. The first follows the last */

	/* filled in before `about` is called */
	uint32_t calls;			/* that match, of the whole chart */
	uint32_t number;		/* place of the wanted one among them, from 1; 0: not wanted, or no call matches */
	uint32_t call;			/* its number in the chart */
	uint32_t box_count;
	const uint32_t *boxes;		/* by box: the matching calls that it stands for; valid while `about` is called */
};

struct chart_window {
	int64_t from_ns, to_ns;		/* since the chart's start; to_ns 0: its end */
	uint32_t pixels;		/* 1 to CHART_DATA_PIXELS */
	uint32_t max_boxes;		/* if they are more, the minimum length of a shown call grows */
	struct chart_search *search;	/* NULL: none */
};

/* Appends the window of the chart of `p`, which has one, and gets one more frame. `about` as in flame_data_put. Returns how long
 * calls are at least that have a box of their own. */
int64_t chart_data_put(struct profile *p, const struct chart_window *w, struct buf *out,
		       void (*about)(struct json *j, void *data), void *data);

/* Puts what a search found, as an object: "calls", "boxes", and "call" if one is wanted. */
void chart_data_json_search(struct json *j, const struct profile *p, const struct chart_search *s);

/* Appends all of the chart with a box for each call, unless they are more than `max_boxes`; of joined calls the frame has the number
 * behind the root's, and nothing is added to `p`. */
void chart_data_put_calls(const struct profile *p, uint32_t max_boxes, struct buf *out);

#endif

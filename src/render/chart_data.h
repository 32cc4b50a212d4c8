/* chart_data.h: a window of a flame chart laid out for the canvas of the page, in the bytes of flame_data.h.
 *
 * Values are nanoseconds since the chart's start. Below the root, which is as wide as the chart is long, are the calls of the
 * window, those that begin before it or end behind it as a whole. Neighbouring calls that are too short to be seen,
 * with gaps as short, become one box CHART_DATA_SHORT; calls within them are left out. So the number of boxes depends
 * on the window's pixels and on its depth, not on the number of calls.
 */
#ifndef RENDER_CHART_DATA_H
#define RENDER_CHART_DATA_H

#include "json.h"
#include "profile.h"

#define CHART_DATA_SHORT	"[short calls]"
#define CHART_DATA_PIXELS	20000u		/* at most, of a window */

struct chart_window {
	int64_t from_ns, to_ns;		/* since the chart's start; to_ns 0: its end */
	uint32_t pixels;		/* 1 to CHART_DATA_PIXELS */
	uint32_t max_boxes;		/* if they are more, the minimum length of a shown call grows */
};

/* Appends the window of the chart of `p`, which has one, and gets one more frame. `about` as in flame_data_put. Returns how long
 * calls are at least that have a box of their own. */
int64_t chart_data_put(struct profile *p, const struct chart_window *w, struct buf *out,
		       void (*about)(struct json *j, void *data), void *data);

/* Appends all of the chart with a box for each call, unless they are more than `max_boxes`; of joined calls the frame has the number
 * behind the root's, and nothing is added to `p`. */
void chart_data_put_calls(const struct profile *p, uint32_t max_boxes, struct buf *out);

#endif

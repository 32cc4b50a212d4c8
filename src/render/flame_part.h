/* flame_part.h: selects the visible boxes of a profile for the page's canvas: a day of a busy site has a hundred
 * times as many nodes.
 *
 * Neighbors narrower than half a pixel become one gray box, without the boxes on top of them, so that a box is still
 * as wide as its self value and all boxes on it. Inside the zoomed box, a pixel is its width divided by the number of
 * pixels. The result has the format of flame_data.h; the frame of gray boxes has the number after the root's.
 */
#ifndef RENDER_FLAME_PART_H
#define RENDER_FLAME_PART_H

#include "json.h"
#include "profile.h"
#include "render.h"

#define FLAME_PART_NAME	"[too narrow]"	/* name of the gray boxes */
#define FLAME_PART_ALL	16384u		/* with at most this many boxes, all are included */

struct flame_part {
	uint32_t pixels;		/* width of the whole window; not 0 */
	uint32_t all;			/* FLAME_PART_ALL, or less */
	enum flamegraph_width_of width_of;	/* for a difference */
	const char *zoom;		/* names of frames, percent-encoded and separated by ';'; NULL or "": the
					 * root. An ambiguous name is followed by "@FILE:LINE" */
};

/* Zooms as far as such frames exist; other arguments are those of flame_data_put. */
void flame_part_put(const struct profile *p, uint32_t column, uint32_t before_column, const struct flame_part *part, struct buf *out,
		    void (*about)(struct json *j, void *data), void *data);

#endif

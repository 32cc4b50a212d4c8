/* flame_part.h: selects the visible boxes of a profile for the page's canvas: a day of a busy site has a hundred times as many.
 *
 * Neighbors narrower than half a pixel become one grey box, without what stands on them, so that a box is still as wide as
 * its own value and all boxes on it. Below the box that is zoomed, pixels are as wide as that box is divided by them.
 * The result is that of flame_data.h, and the number of grey boxes' frame is one above the root's.
 */
#ifndef RENDER_FLAME_PART_H
#define RENDER_FLAME_PART_H

#include "json.h"
#include "profile.h"
#include "render.h"

#define FLAME_PART_NAME	"[too narrow]"	/* name of the grey boxes */
#define FLAME_PART_ALL	16384u		/* up to so many boxes are all of them */

struct flame_part {
	uint32_t pixels;		/* width of the whole window; not 0 */
	uint32_t all;			/* FLAME_PART_ALL, or less */
	enum flamegraph_width_of width_of;	/* for a difference */
	const char *zoom;		/* names of frames, percent-encoded, with ';' between them; NULL or "": the root. Where a name
					 * is not enough it has "@FILE:LINE" behind it */
};

/* The zoom leads as far as there are such frames; arguments else are those of flame_data_put. */
void flame_part_put(const struct profile *p, uint32_t column, uint32_t before_column, const struct flame_part *part, struct buf *out,
		    void (*about)(struct json *j, void *data), void *data);

#endif

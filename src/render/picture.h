/* picture.h: what the parts of a flame graph's SVG share while it is written: sizes, layout, names.
 *
 *	flamegraph.c	checks the options, writes head and foot
 *	frames.c	the frames as elements, for eyes and for programs that read the file
 *	table.c		the same frames as numbers, for the script
 */
#ifndef RENDER_PICTURE_H
#define RENDER_PICTURE_H

#include "amount.h"
#include "layout.h"
#include "palette.h"
#include "render.h"

#define PICTURE_MARGIN		10	/* px on the left and on the right */
#define PICTURE_FRAME_GAP	1	/* px between two rows */

struct picture {
	const struct profile *p;
	const struct flamegraph_options *o;
	const struct palette *palette;
	struct layout layout;
	double scale;			/* px per unit of value */
	double top, bottom, height;	/* px above and below the frames, and of all */
	enum amount_unit unit;
	const char *count_name;		/* NULL if the unit says it all: "1.24 s" */
	int64_t element_min;		/* boxes of at least this value are elements, others part of a path */
};

/* The name as it is shown: without the suffix that only says how it is to be coloured. "all" for the root. */
struct str picture_name(const struct picture *g, const struct layout_box *box);
struct rgb picture_color(const struct picture *g, const struct layout_box *box);

/* "name (1,234 samples, 12.34%)", any bytes made fit for XML. */
void picture_put_title(const struct picture *g, const struct layout_box *box, struct buf *out);

/* A length in px with as many decimals as it has. */
void picture_put_number(struct buf *out, double v);

void picture_put_frames(const struct picture *g, struct buf *out);
void picture_put_table(const struct picture *g, const char *note, struct buf *out);

/* Which boxes are elements: all, unless there are so many that a browser would take long to open the file. */
int64_t picture_element_min(const struct layout *l);

#endif

/* picture.h: shared by the parts that write a flame graph's SVG: sizes, layout, names.
 *
 *	flamegraph.c	checks the options, writes head and foot
 *	frames.c	the frames as elements, for viewers and for programs that read the file
 *	table.c		the same frames as numbers, for the script; sums.c: values of functions if frames are left out
 *	difference.c	widths, colors and words for values before and after
 *	exact.c		values of functions if the tree is an estimate; exact_table.c: the same for the script
 *	line_picture.c	a whole picture from lines, whose frames are line_frames.c's and whose layout is lines.c's
 */
#ifndef RENDER_PICTURE_H
#define RENDER_PICTURE_H

#include "amount.h"
#include "difference.h"
#include "exact.h"
#include "groups.h"
#include "json.h"
#include "layout.h"
#include "lines.h"
#include "nameattr.h"
#include "palette.h"
#include "render.h"

#define PICTURE_MARGIN		10	/* px on the left and on the right */
#define PICTURE_FRAME_GAP	1	/* px between rows */

struct picture {
	const struct profile *p;
	const struct profile *unreversed;	/* the source of `p` */
	const struct flamegraph_options *o;
	const struct palette *palette;
	struct picture_difference *difference;	/* NULL: the picture is of one profile */
	struct exact *exact;		/* NULL: the tree is exact */
	struct layout layout;
	double scale;			/* px per unit of value */
	double top, bottom, height;	/* px above and below the frames, and in total */
	enum amount_unit unit;
	const char *count_name;		/* NULL if the unit is enough: "1.24 s" */
	bool is_pruned;			/* `p` lacks the callees of frames that are too narrow */
	bool is_still;			/* part of a page: without the script and the text before <svg> */
	int64_t element_min;		/* boxes of at least this value are elements, others are part of a path */
	double factor;			/* factor of displayed values */
	const struct line_layout *lines;	/* drawn from lines; NULL: from `p` */
	enum group_layer scripts;	/* layer of scripts whose path does not reveal their language */
	const struct rgb *fills;	/* colors of the root and of each frame after it; NULL: by name */
};

/* flamegraph.c's part of every picture. picture_check returns -EINVAL for invalid options. */
int picture_check(struct picture *g, struct err *err);
void picture_put_head(const struct picture *g, struct buf *out);
void picture_put_foot(const struct picture *g, const char *note, struct buf *out);
void picture_put_empty(const struct picture *g, const char *why, struct buf *out);

/* Converts everything appended since `start` to a document in the requested encoding. Returns -EFBIG if it became too
 * large. */
int picture_finish(const struct flamegraph_options *o, struct buf *out, size_t start, struct err *err);

/* Returns the name as shown: without the suffix that only determines the color. "all" for the root. */
struct str picture_name(const struct picture *g, const struct layout_box *box);
struct rgb picture_color(const struct picture *g, const struct layout_box *box);
struct str picture_without_suffix(struct str name);
struct rgb picture_color_of(const struct picture *g, struct str name);

/* Returns the color of frames narrower than a pixel, which are merged. */
struct rgb picture_narrow_color(const struct picture *g);

/* The same for a frame and a coloring, regardless of the options; UINT32_MAX is the root. */
struct rgb picture_color_by(const struct picture *g, uint32_t frame, enum flamegraph_color_by by);

/* Puts "name (1,234 samples, 12.34%)", escaped for XML. If the tree is an estimate, the exact value of the function
 * precedes the width of its box: "name (total 406 ms, 99.98%; all of it self; estimated here 176 ms, 43.4%)". */
void picture_put_title(const struct picture *g, const struct layout_box *box, struct buf *out);

/* Puts a length in px with as many decimals as needed. */
void picture_put_number(struct buf *out, double v);

/* Returns the heading: that of the options, or the default. */
const char *picture_title(const struct flamegraph_options *o);

/* Puts the line below it: the subtitle of the options, and whether the tree is an estimate. Appends nothing if there
 * is neither. */
void picture_put_subtitle(const struct picture *g, struct buf *out);

/* Checks the options of a picture with `p` and `o`, and finds its palette and its unit. */
int picture_prepare(struct picture *g, struct err *err);

/* Appends the picture as an <svg> element for an HTML page, without its script. */
int picture_put_still(const struct profile *p, const struct flamegraph_options *o, struct buf *out, struct err *err);

/* Puts the tags around a frame, with its attributes and as a link if it has any; `extra` may be NULL. */
void picture_open_frame(const struct nameattr_frame *extra, struct buf *out);
void picture_close_frame(const struct nameattr_frame *extra, struct buf *out);

/* Puts the difference of two positions on the x axis, each rounded to the one decimal that is printed. */
void picture_put_tenths(struct buf *out, double to, double from);

/* Puts the text of a label with `put`. Bidirectional control characters are shown as text, without effect: U+202A to
 * U+202E, U+2066 to U+2069. */
void picture_put_drawn(struct buf *out, struct str s, void (*put)(struct buf *out, struct str s));

/* Returns the upper and lower edge of a row, px. */
void picture_edges(const struct picture *g, uint32_t depth, double *ret_y1, double *ret_y2);

/* Appends the frames of `g->lines`; `fills` gets the color of each. */
void picture_put_line_frames(const struct picture *g, struct rgb *fills, struct buf *out);

void picture_put_frames(const struct picture *g, struct buf *out);
void picture_put_table(const struct picture *g, const char *note, struct buf *out);

/* Puts digits as described in table.c. */
void picture_put_unsigned(struct buf *out, uint64_t v);
void picture_put_signed(struct buf *out, int64_t v);

/* Puts the data for the scripts of both kinds of pictures: words, units, colors of `count` frames, of which the
 * first `drawn` are visible in the document. */
void picture_put_words(struct json *j, const struct picture *g, const char *note);
void picture_put_attributes(struct json *j, const struct picture *g, uint32_t number, struct str name);
void picture_put_fills(struct json *j, const struct picture *g, const uint32_t *frames, uint32_t drawn, uint32_t count);

/* Puts the key "exact" with the edges' values of the functions `frames` (UINT32_MAX is the root); nothing without
 * edges. */
void picture_put_exact(struct json *j, const struct picture *g, const uint32_t *frames, uint32_t count);

/* Selects the boxes that are elements: all, unless there are so many that a browser would take long to open the file.
 * Then those with at least the value `labeled`, which have room for a label, are preferred. */
int64_t picture_element_min(const struct layout *l, double labeled);

bool picture_is_element(const struct picture *g, const struct layout_box *box);

/* Returns the minimum width of a box with a label, px. */
double picture_least_label(const struct picture *g);

#endif

/* difference.h: widths, colors and words of a change, for profiles with values before and after.
 *
 * Every frame of both sides is drawn: removed frames have a width, too, unless widths are those of one side. Blue is
 * a decrease and orange an increase, which color-blind people can distinguish; white is no change.
 */
#ifndef RENDER_DIFFERENCE_H
#define RENDER_DIFFERENCE_H

#include "layout.h"
#include "palette.h"
#include "render.h"

struct picture_difference {
	const struct profile *p;
	const struct flamegraph_options *o;
	int64_t *before, *after;	/* totals by node */
	int64_t *measured;		/* `before`, unscaled */
	int64_t *widths;		/* by node: self values that determine the widths of frames */
	double most;			/* the largest change above the noise: it has the strongest color */
	double sigma, whole_after;	/* for o->compared */
};

/* Returns NULL if the options have no difference. Free it with difference_free, which returns NULL. */
struct picture_difference *difference_new(const struct profile *p, const struct flamegraph_options *o);
struct picture_difference *difference_free(struct picture_difference *d);

/* The same for pictures without frames, whose totals stay NULL: `p` and `o` must be set. */
void difference_init(struct picture_difference *d);

/* Includes a change in the search for the largest one. */
void difference_note(struct picture_difference *d, double before, double after);

/* Finds the largest change among the boxes that are drawn, which has the strongest color. */
void difference_scale(struct picture_difference *d, const struct layout *l);

/* Values before and after, with their shares of the total. */
struct picture_change {
	int64_t before, after, self_before, self_after, whole_before, whole_after;
	double share_before, self_share_before;	/* exact: shares of the measured total */
	bool at_most;			/* before and after are limits */
};

double difference_share(int64_t part, int64_t whole);
struct picture_change difference_of(const struct picture_difference *d, uint32_t node);

struct rgb difference_color(const struct picture_difference *d, const struct layout_box *box);

/* Appends "chance", by which a script recognizes changes that may be noise: standard errors, the values of one sample
 * before and after, and the base of shares after; nothing if both sides were measured exactly. */
void difference_put_chance(const struct diff *d, struct json *j);

/* Returns a color from a gray of this level, no change, to orange or blue, the largest change. Changes that may be
 * noise are pale. */
struct rgb difference_shade(const struct picture_difference *d, double before, double after, int gray);

/* Puts "before 495 samples, 30.00%; after 900 samples, 54.55%; +405, +81.82%, +24.55 points; self …": shares are
 * relative to their own side, points are percentages of the total before. `count_name` is NULL if the unit is enough. */
void difference_put_words(const struct picture_difference *d, const struct picture_change *c, const char *count_name,
			  struct buf *out);

/* Puts the legend of colors and widths, for display below the picture. */
void difference_put_note(const struct picture_difference *d, struct buf *out);

#endif

/* palette.h: the color of a frame follows from its name alone, so that a function looks the same in every picture.
 *
 * Palettes and the two ways to derive a color from a name are those of flamegraph.pl: by default the sum of the
 * name's code points seeds a 48-bit linear congruential generator; with `hash` its first three characters are used.
 */
#ifndef RENDER_PALETTE_H
#define RENDER_PALETTE_H

#include "buf.h"
#include "intern.h"
#include <stdbool.h>

struct rgb {
	int r, g, b;
};

struct palette;

const struct palette *palette_find(const char *name);		/* NULL if unknown */
extern const char *const palette_names[];			/* ends with NULL */

struct rgb palette_color(const struct palette *p, struct str name, bool hash);

/* Returns a random color, which is the same for one name as long as the seed is the same. */
struct rgb palette_random(const struct palette *p, struct str name, uint64_t seed);

bool palette_is_separator(struct str name);		/* "-" and "--", which are always gray */

/* Parses a color as written by palette_put and by people: rgb(1,2,3) or #rrggbb; returns `otherwise` if it is
 * invalid. */
struct rgb palette_parse(struct str text, struct rgb otherwise);

/* Returns the color of frames too narrow for one of their own: the palette's middle. */
struct rgb palette_middle(const struct palette *p);

void palette_put(struct buf *b, struct rgb c);			/* rgb(205,0,0) */

/* Returns the upper and lower end of the background's gradient. `name` is yellow, blue, green, grey, #rgb, #rrggbb,
 * or NULL for the one that suits the palette. Returns false if it is unknown. */
bool palette_background(const struct palette *p, const char *name, char ret_top[8], char ret_bottom[8]);

#endif

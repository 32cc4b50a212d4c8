/* palette_map.h: keeps the colors of functions from picture to picture: flamegraph.pl's --cp and its file palette.map.
 *
 * A line is "name->rgb(1,2,3)". The map is read before a picture is drawn, queried for every frame, where
 * unknown functions are added with the color they are drawn in, and written afterwards.
 */
#ifndef RENDER_PALETTE_MAP_H
#define RENDER_PALETTE_MAP_H

#include "buf.h"
#include "intern.h"

struct palette_map;

struct palette_map *palette_map_new(void);
struct palette_map *palette_map_free(struct palette_map *m);	/* NULL is fine; returns NULL */

/* Adds the lines of a file; later ones win. A name may contain "->", as in PHP's methods, so a line is split at the
 * last one, and lines without a color are left out. With `first`, like flamegraph.pl, a name ends at the first "->"
 * and its color is everything before the second. Returns the number of lines left out. */
size_t palette_map_read(struct palette_map *m, const char *bytes, size_t n, bool first);

/* Returns the color, or NULL if the name is unknown. It lives as long as the map. */
const struct str *palette_map_find(const struct palette_map *m, struct str name);
void palette_map_set(struct palette_map *m, struct str name, struct str color);

/* Appends the whole file, sorted by the bytes of the names. */
void palette_map_write(const struct palette_map *m, struct buf *out);

#endif

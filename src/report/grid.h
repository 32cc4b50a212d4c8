/* grid.h: a table for people: right-aligned cells, columns as wide as needed, and a name with its place. */
#ifndef REPORT_GRID_H
#define REPORT_GRID_H

#include "buf.h"
#include "profile.h"
#include "report.h"

#define GRID_COLUMNS (2 * PROFILE_COLUMNS + 4)
#define GRID_NAME_MIN 20	/* code points of a name that a narrow terminal still shows */

struct grid {
	size_t columns, cells;
	struct buf text;		/* all cells, one after another */
	size_t *ends, capacity;		/* end offset of each in `text` */
	size_t widths[GRID_COLUMNS];
};

/* Cells are added row by row, the headings first. */
void grid_init(struct grid *g, size_t columns);
void grid_done(struct grid *g);
void grid_text(struct grid *g, const char *text);
void grid_value(struct grid *g, int64_t v, const char *unit);
void grid_share(struct grid *g, int64_t part, int64_t whole);	/* percent with one decimal */

void grid_at_most(struct grid *g, bool at_most);	/* marks the next cell as an upper limit: "≤12.3" */

/* Appends the cells of a row, each followed by two spaces. */
void grid_put(const struct grid *g, size_t row, struct buf *out);

/* Returns the room for the name on a terminal of `width` columns; 0: no limit. */
size_t grid_room(const struct grid *g, size_t width);

/* Appends a function and its file:line, if there is room. */
void grid_put_name(struct buf *out, const struct profile *p, uint32_t frame, size_t width, bool color);

#endif

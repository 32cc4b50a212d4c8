/* cells.h: makes text safe for cells of a terminal.
 *
 * Names may be any bytes from other people's programs. The output never moves the cursor, and has the stated width:
 * wide characters take two columns, combining ones none.
 */
#ifndef TOP_CELLS_H
#define TOP_CELLS_H

#include "buf.h"
#include "intern.h"

/* Returns the width of the text in columns, after making it safe. */
size_t cells_width(struct str s);

/* Appends as much as fits into `width` columns, and returns the columns used. A text that does not fit is truncated,
 * at its start with `end`, and marked with "…". */
size_t cells_put(struct buf *out, struct str s, size_t width, bool end);

void cells_fill(struct buf *out, size_t spaces);
void cells_put_right(struct buf *out, const char *text, size_t width);	/* aligned to the right */

#endif
